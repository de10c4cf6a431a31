import DeviceAlerts
import Foundation
import Hosting
import JSON
import TestSupport
import Testing
import Transport

@testable import Device

/// A device that shows no alerts.
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
        let did = try await value { (then: @escaping Then) in device.state(then: then) }["id"]?.string ?? ""
        let code: JSONValue = [
            "type": "desktop-pairing", "code": "004217", "pcPeerId": "desk",
            "deviceInfo": ["name": "PC", "platform": "linux", "version": "1"],
            "timestamp": .integer(Int64(Date().timeIntervalSince1970 * 1_000)),
            "signalingUrl": .string(relay.url),
        ]
        async let paired = value { (then: @escaping Then) in
            device.scan(code.serialized(), timeout: 10_000, then: then)
        }
        _ = try await desktop.payload("pair-ack")
        await desktop.message(did, ["type": "hello"])
        _ = try await paired
        await desktop.message(did, event("n-1"))
        #expect(try await host.push(from: device)["id"] == "n-1")
        _ = try await value { (then: @escaping Then) in device.unpair("desk", then: then) }
        #expect(await device.core.alerts.made == nil)
        let state = try await value { (then: @escaping Then) in device.alerts(.state, timeout: 1_000, then: then) }
        #expect(state["authorization"] != nil)
        await device.close()
    }
}
