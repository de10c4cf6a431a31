import Foundation
import Hosting
import JSON
import Pairing
import Peering
import Signalling
import TestSupport
import Testing
import Transport
import Wire

@testable import Device

/// The relay of a desktop's local network, while the desktop is reached another way (issue: "tried again when the network
/// changes or every 10 min").
@Suite(.timeLimit(.minutes(1)))
struct RestingRoutesTests {
    private func desktop(_ name: String, lan: String?, relay: String?) -> PairedDesktop {
        PairedDesktop(
            address: PeerID(name), pcPeerID: PeerID(name), name: name, platform: "linux", lanSignalingURL: lan,
            relayURL: relay, pairedAt: 0, lastSeenAt: 0)
    }

    @Test("a local relay rests while each of its desktops is at its other relay, and only then")
    func rules() {
        let both = desktop("a", lan: "lan", relay: "relay")
        func resting(_ desktops: [PairedDesktop], absent: String? = nil, online: Set<RouteID>) -> Set<RouteID> {
            restingRoutes(of: desktops.map { RoutedPeer($0, ownRelay: nil) }) { desktop, route in
                online.contains(route) && desktop.text != absent
            }
        }
        #expect(resting([both], online: ["relay"]) == ["lan"])
        #expect(resting([both], online: ["relay", "lan"]) == ["lan"], "it changes nothing of a session that stands")
        #expect(resting([both], online: []).isEmpty)
        #expect(resting([both], online: ["lan"]).isEmpty)
        #expect(resting([both], absent: "a", online: ["relay"]).isEmpty, "it may be at home alone")
        #expect(resting([desktop("b", lan: "lan", relay: nil)], online: ["relay"]).isEmpty)
        #expect(resting([both, desktop("b", lan: "lan", relay: nil)], online: ["relay"]).isEmpty)
        #expect(resting([both, desktop("b", lan: nil, relay: "lan")], online: ["relay"]).isEmpty)
        #expect(resting([desktop("b", lan: "x", relay: "x")], online: ["x"]).isEmpty)
    }

    @EventLoop
    private func isResting(_ url: String, of device: Device) -> Bool? {
        device.core.routes.link(RouteID(url))?.rests
    }

    @Test("a local relay that has failed waits for a change of the network, which finds it")
    func networkChange() async throws {
        let bench = try await Bench()
        let probe = try await LoopbackRelay()
        let (port, lan) = (await probe.port, await probe.url)
        await probe.stop()
        let desktop = try await RawPeer.register("desktop-1", at: bench.url)
        let code: JSONValue = [
            "type": "desktop-pairing", "code": "004217", "pcPeerId": "desktop-1",
            "deviceInfo": ["name": "PC", "platform": "linux", "version": "1"],
            "timestamp": .integer(Int64(Date().timeIntervalSince1970 * 1_000)), "signalingUrl": .string(lan),
            "relayUrl": .string(bench.url),
        ]
        async let paired = bench.device.value(.scan(code.serialized(), 15_000))
        let ack = try await desktop.payload("pair-ack")
        await desktop.message(try #require(ack["mobileDid"]?.string), ["type": "hello"])
        _ = try await paired
        _ = try await bench.host.event(.connectionChanged) { $0["online"] == true }
        // It is there now; nobody looks for it before the network changes.
        let relay = try await LoopbackRelay(port: port)
        @Sendable func isUp(_ connection: JSONObject) -> Bool {
            connection["routes"]?.array?.contains { $0["url"] == .string(lan) && $0["state"] == "online" } == true
        }
        #expect(await isResting(lan, of: bench.device) == true)
        #expect(await isResting(bench.url, of: bench.device) == false)
        await bench.device.core.networkChanged()
        _ = try await bench.host.event(.connectionChanged) { isUp($0) }
        await bench.device.close()
        await bench.relay.stop()
        await relay.stop()
    }
}
