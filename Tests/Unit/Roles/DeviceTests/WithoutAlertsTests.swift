import Alerts
import DeviceAlerts
import Foundation
import Hosting
import JSON
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Device

/// A device that was opened with `"alerts":"none"`.
@Suite(.timeLimit(.minutes(1)))
struct WithoutAlertsTests {
    @Test("with \"alerts\":\"none\" neither pushes nor an unpair make the alerts; a host that asks for them gets them")
    func unpair() async throws {
        let relays = MemoryRelays()
        let host = RecordingHost()
        let relay = await relays.relay("ws://relay.test")
        let options = #"{"state_dir":":memory:","name":"Phone","follow_system":false,"alerts":"none"}"#
        let device = try Device.open(options, host.channel, links: relays.maker).0
        let desktop = await relay.peer("desk")
        let did = try await device.value(.state)["id"]?.string ?? ""
        let code: JSONValue = [
            "type": "desktop-pairing", "code": "004217", "pcPeerId": "desk",
            "deviceInfo": ["name": "PC", "platform": "linux", "version": "1"],
            "timestamp": .integer(Int64(Date().timeIntervalSince1970 * 1_000)),
            "signalingUrl": .string(relay.url),
        ]
        async let paired = device.value(.scan(code.serialized(), 10_000))
        _ = try await desktop.payload("pair-ack")
        await desktop.message(did, ["type": "hello"])
        _ = try await paired
        await desktop.message(did, event("n-1"))
        #expect(try await host.push(from: device)["id"] == "n-1")
        _ = try await device.value(.unpair("desk"))
        #expect(await device.core.alerts.made == nil)
        let state = try await device.value(.alerts(.state))
        #expect(state["authorization"] != nil)
        await device.close()
    }

    @Test("unpairing removes a desktop's stored alerts, and makes nothing that shows any")
    func unpaired() async throws {
        let bench = try await SealedBench()
        let (device, core) = (bench.device, bench.device.core)
        let desktop = PeerID(try await bench.desktopState["id"]?.string ?? "")
        // As an earlier run with alerts may have left it.
        try await store(core) { (connection) throws(StoreError) in
            let key = AlertKey(desktop: desktop, id: "n-1")
            _ = try AlertTable(connection).add(NewAlert(key, AlertContent(title: "Hello"), dueAt: 1))
        }
        let isMade: @Sendable () async -> Bool = {
            await withCheckedContinuation { continuation in
                EventLoop.post { continuation.resume(returning: core.alerts.made != nil) }
            }
        }
        #expect(await !isMade())
        _ = try await device.value(.unpairAll)
        #expect(await !isMade())
        let left = try await store(core) { (connection) throws(StoreError) in
            try AlertTable(connection).ofDesktops().count
        }
        #expect(left == 0)
        await bench.end()
    }

    private func store<T: Sendable>(
        _ core: DeviceSwitchboard, _ work: @escaping @Sendable (Connection) throws(StoreError) -> T
    ) async throws -> T {
        try await withCheckedContinuation { continuation in
            EventLoop.post { core.context.database.submit(work) { continuation.resume(returning: $0) } }
        }.get()
    }
}
