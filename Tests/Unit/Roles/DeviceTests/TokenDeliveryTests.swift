import Desktop
import Foundation
import Hosting
import JSON
import Pairing
import Sealing
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Device

/// Push tokens and receipts, from our device to our desktop (WireSealing, "Push tokens" and "Receipts").
@Suite(.timeLimit(.minutes(1)))
struct TokenDeliveryTests {
    private func give(_ hex: String, _ service: String = "fcm", to device: Device) async throws {
        let (token, service) = (try #require(PushToken(hex: hex)), try #require(PushService(service)))
        _ = try await device.value(.give(service, token))
    }

    private func takeBack(_ service: String?, of device: Device) async throws {
        let service = service.flatMap { PushService($0) }
        _ = try await device.value(.takeBackToken(service))
    }

    /// The tokens that the desktop has, as "service token", once they are as they should be; at most 10 s.
    private func tokens(_ desktop: Desktop, _ wanted: [String], _ location: SourceLocation = #_sourceLocation)
        async throws
    {
        var seen: [String] = []
        do {
            try await until("the tokens \(wanted)", sourceLocation: location) {
                let all = try await desktop.value(.tokens).array ?? []
                seen = all.map { "\($0["service"]?.string ?? "") \($0["token"]?.string ?? "")" }
                return seen == wanted
            }
        } catch {
            #expect(seen == wanted, sourceLocation: location)
            throw error
        }
    }

    @Test("a token reaches the desktop at once, replaces the one before, and is taken back")
    func live() async throws {
        let bench = try await SealedBench()
        try await give("0a0b", to: bench.device)
        try await tokens(bench.desktop, ["fcm 0a0b"])
        let all = try await bench.desktop.value(.tokens)
        #expect(all.array?.first?["device"]?.string == bench.deviceID)
        #expect(all.array?.first?["deviceId"]?.string == "bw-" + bench.deviceID.suffix(16))
        try await give("0c", to: bench.device)
        try await give("0d", "apns", to: bench.device)
        try await tokens(bench.desktop, ["apns 0d", "fcm 0c"])
        try await takeBack("fcm", of: bench.device)
        try await tokens(bench.desktop, ["apns 0d"])
        try await takeBack(nil, of: bench.device)
        try await tokens(bench.desktop, [])
        await bench.end()
    }

    @Test("one that was given while the desktop was away reaches it when it comes; so does what was taken back")
    func away() async throws {
        let bench = try await SealedBench()
        try await give("01", to: bench.device)
        try await tokens(bench.desktop, ["fcm 01"])
        try await bench.leaveDesktop()
        try await give("02", to: bench.device)
        try await give("03", "apns", to: bench.device)
        try await takeBack("fcm", of: bench.device)
        try await bench.returnDesktop()
        try await tokens(bench.desktop, ["apns 03"])
        await bench.end()
    }

    @Test("a token of an earlier run is never sent; what was taken back then is said in the next run")
    func runs() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-device-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await SealedBench(deviceDirectory: directory)
        try await give("01", to: bench.device)
        try await give("02", "apns", to: bench.device)
        try await tokens(bench.desktop, ["apns 02", "fcm 01"])
        bench.device.perform(.stop)
        try await takeBack("fcm", of: bench.device)
        // Given while it is stopped, and never said.
        try await give("07", "web", to: bench.device)
        await bench.device.close()
        try await tokens(bench.desktop, ["apns 02", "fcm 01"])

        let host = RecordingHost()
        let device = try SealedBench.openDevice(directory, host)
        device.perform(.start)
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
        try await tokens(bench.desktop, ["apns 02"])
        // The run has not given its own: nothing of "web" or "apns" was said.
        try await give("05", to: device)
        try await tokens(bench.desktop, ["apns 02", "fcm 05"])
        await device.close()
        await bench.end()
    }

    @Test("unpairing takes the tokens with it, by either side; pairing anew brings them back")
    func unpairing() async throws {
        let bench = try await SealedBench()
        try await give("01", to: bench.device)
        try await tokens(bench.desktop, ["fcm 01"])
        let (device, desktop) = (bench.device, bench.desktop)
        _ = try await desktop.value(.unpair(bench.deviceID))
        try await tokens(desktop, [])
        _ = try await bench.host.event(.peersChanged) { $0["desktops"]?.array?.isEmpty == true }
        let offer = try await desktop.value(.offer(10_000))
        _ = try await device.value(.scan(offer["payload"]?.string ?? "", 10_000))
        try await tokens(desktop, ["fcm 01"])
        _ = try await device.value(.unpairAll)
        try await tokens(desktop, [])
        await bench.end()
    }

    @Test("a receipt is an event of the desktop; to a desktop that is away, or a stranger, nothing is said")
    func receipts() async throws {
        let bench = try await SealedBench()
        let core = bench.device.core
        let desktopID = try await bench.desktopState["id"]?.string ?? ""
        let send: @Sendable (NotificationID, Bool, PeerID) async -> Void = { id, presented, desktop in
            await withCheckedContinuation { continuation in
                EventLoop.post {
                    core.sender.sendReceipt(id: id, presented: presented, to: desktop)
                    continuation.resume()
                }
            }
        }
        await send("n-1", true, PeerID(desktopID))
        let shown = try await bench.desktopHost.event(.notificationPresented)
        #expect(shown["id"] == "n-1" && shown["presented"] == true && shown["device"]?.string == bench.deviceID)
        #expect((shown["at"]?.integer ?? 0) > 1_700_000_000_000)
        await send("n-2", true, "did:key:zStranger")
        try await bench.leaveDesktop()
        await send("n-3", true, PeerID(desktopID))
        try await bench.returnDesktop()
        try await until("the desktop is online") {
            try await bench.deviceState["connection"]?.array?.first?["online"] == true
        }
        await send("n-4", false, PeerID(desktopID))
        let next = try await bench.desktopHost.event(.notificationPresented)
        #expect(next["id"] == "n-4" && next["presented"] == false)
        await bench.end()
    }

    @Test("a device whose store has kept events says so at opening, each under its own name")
    func keptEvents() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-device-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        await (try SealedBench.openDevice(directory, RecordingHost())).close()
        let store = try Database.open(
            path: directory + "/device.db", migrations: SealStates.migrations + DeviceSwitchboard.migrations
        ).database
        try store.run { (connection) throws(StoreError) in
            for name in KeptEvents.names { try KeptEvents(connection).add(HostEvent(name, data: ["name": "x"])) }
        }
        #expect(try KeptEventSource(.notificationResponse, store).take(limit: 5).count == 1)
        store.close()

        let waits = EventNames()
        let channel = HostChannel(
            post: { _ in }, waits: { waits.add($0) }, ask: { $0.answer(nil) }, log: { _, _ in })
        let options: JSONValue = ["state_dir": .string(directory), "follow_system": false]
        let second = try Device.open(options.serialized(), channel).0
        #expect(waits.all == [.notificationResponse, .notificationSilent])
        let response = try #require(second.sources.first { $0.name == .notificationResponse }).take(limit: 5).first
        #expect(response?.event.data["redelivered"] == true)
        let silent = try #require(second.sources.first { $0.name == .notificationSilent }).take(limit: 5).first
        #expect(silent?.event.data["redelivered"] == nil && silent?.event.data["name"] == "x")
        await second.close()
    }
}

private final class EventNames: @unchecked Sendable {
    private let lock = NSLock()
    private var names: [HostEvent.Name] = []

    func add(_ name: HostEvent.Name) { lock.withLock { names.append(name) } }
    var all: [HostEvent.Name] { lock.withLock { names } }
}
