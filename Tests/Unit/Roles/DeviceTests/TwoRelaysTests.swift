import Foundation
import Hosting
import JSON
import Notifications
import Signalling
import TestSupport
import Testing
import Transport
import Wire

@testable import Device

/// A desktop that is reached over two relays, each with a word of its own on whether it is there.
@Suite(.timeLimit(.minutes(1)))
struct TwoRelaysTests {
    /// A device with a deployed desktop at two relays in memory.
    private struct Bench {
        let host = RecordingHost()
        let device: Device
        let home: MemoryRelay
        let away: MemoryRelay
        let atHome: MemoryPeer
        let atAway: MemoryPeer
        let did: String

        init() async throws {
            let relays = MemoryRelays()
            (home, away) = (await relays.relay("ws://home.test"), await relays.relay("ws://away.test"))
            let options = #"{"state_dir":":memory:","name":"Phone","follow_system":false}"#
            device = try Device.open(options, host.channel, links: relays.maker).0
            (atHome, atAway) = (await home.peer("desk"), await away.peer("desk"))
            let code: JSONValue = [
                "type": "desktop-pairing", "code": "004217", "pcPeerId": "desk",
                "deviceInfo": ["name": "PC", "platform": "linux", "version": "1"],
                "timestamp": .integer(Int64(Date().timeIntervalSince1970 * 1_000)),
                "signalingUrl": .string(home.url), "relayUrl": .string(away.url),
            ]
            let device = device
            async let paired = device.value(.scan(code.serialized(), 10_000))
            // The device says it at whichever relay is up first.
            did = try await device.value(.state)["id"]?.string ?? ""
            _ = try await atHome.payload("pair-ack")
            await atHome.message(did, ["type": "hello"])
            _ = try await paired
            _ = try await host.event(.connectionChanged) { connection in
                connection["online"] == true
                    && connection["routes"]?.array?.allSatisfy { $0["state"] == "online" } == true
            }
        }

        /// A relay's word on the desktop, heard before this returns.
        func say(_ isOnline: Bool, at relay: MemoryRelay) async throws {
            await relay.say(
                ["type": "peer-status", "peerId": "desk", "status": isOnline ? "online" : "offline"], to: PeerID(did))
            try await settle()
        }

        /// Whatever was said to the device has come.
        private func settle() async throws {
            for relay in [home, away] {
                let peer = await relay.peer("settler")
                try await peer.settle()
                await peer.close()
            }
            await withCheckedContinuation { continuation in EventLoop.post { continuation.resume() } }
        }

        var isOnline: Bool? {
            get async throws {
                try await device.value(.state)["connection"]?.array?.first?[
                    "online"]?.bool
            }
        }

        /// Asks for something, and answers it where it is asked.
        func ask(at peer: MemoryPeer) async throws -> JSONValue {
            let command = try Device.Command("test.where", [:])
            async let asked = device.value(.ask(.invoke(command), of: nil, 10_000))
            try await answer("test.where", at: peer, ["result": ["from": .string(peer.name)]])
            return try await asked
        }

        func answer(_ method: String, at peer: MemoryPeer, _ answer: JSONObject) async throws {
            let frame = try await peer.frame { $0["payload"]?["payload"]?["method"] == .string(method) }
            var payload = answer
            payload["id"] = frame["payload"]?["payload"]?["id"]
            await peer.message(did, ["type": "chainlesschain:command:response", "payload": .object(payload)])
        }
    }

    @Test("a desktop is absent only while both relays call it so; commands take the one that has not")
    func absence() async throws {
        let bench = try await Bench()
        _ = try await bench.ask(at: bench.atHome)
        // One of two: it is reached over the other.
        try await bench.say(false, at: bench.home)
        #expect(try await bench.isOnline == true)
        _ = try await bench.ask(at: bench.atAway)
        // Both.
        try await bench.say(false, at: bench.away)
        #expect(try await bench.isOnline == false)
        let clear = try Device.Command(.delete, ["notificationId": "n"])
        let queued = try await bench.device.value(.ask(.invoke(clear), of: nil, 10_000))
        #expect(queued["queued"] == true)
        // The other one has it back: what waits goes there.
        try await bench.say(true, at: bench.away)
        #expect(try await bench.isOnline == true)
        try await bench.answer(
            "notification.delete", at: bench.atAway, ["result": ["success": true, "deletedCount": 0]])
        #expect(try await bench.host.event(.queueEnded)["outcome"] == "done")
        _ = try await bench.ask(at: bench.atAway)
        // And home, which is preferred; then it is away's word that does not count.
        try await bench.say(true, at: bench.home)
        _ = try await bench.ask(at: bench.atHome)
        try await bench.say(false, at: bench.away)
        #expect(try await bench.isOnline == true)
        _ = try await bench.ask(at: bench.atHome)
        await bench.device.close()
    }

    @Test("a command that a relay could not deliver takes the other one, and ends when neither can")
    func rerouted() async throws {
        let bench = try await Bench()
        // The desktop is at home no more, and its relay says so to the first frame.
        await bench.atHome.close()
        _ = try await bench.ask(at: bench.atAway)
        #expect(try await bench.isOnline == true)
        await bench.atAway.close()
        let command = try Device.Command("test.where", [:])
        let lost = await bench.device.outcome(.ask(.invoke(command), of: nil, 10_000))
        #expect(lost.error?.code == .offline)
        #expect(try await bench.isOnline == false)
        await bench.device.close()
    }

    @Test("what desktops say at either relay is heard, and is a sign that they are there")
    func heard() async throws {
        let bench = try await Bench()
        try await bench.say(false, at: bench.home)
        try await bench.say(false, at: bench.away)
        #expect(try await bench.isOnline == false)
        await bench.atAway.message(bench.did, event("n-1"))
        #expect(try await bench.host.push(from: bench.device)["id"] == "n-1")
        #expect(try await bench.isOnline == true)
        _ = try await bench.ask(at: bench.atAway)
        await bench.device.close()
    }
}
