import Foundation
import Hosting
import JSON
import Pairing
import Sealing
import Signalling
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop
@testable import Peering

/// What sealed devices say after they were paired, and others in their name; and how a pairing ends.
@Suite(.timeLimit(.minutes(1)))
struct SealedFrameTests {
    private let send: JSONValue = ["title": "Once", "body": ""]

    @Test("a sealed frame has an effect once, also when it is played back after a restart")
    func replay() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await Bench(["state_dir": .string(directory)])
        let (device, id) = try await bench.device()
        let sent = try await device.command("notification.send", send, id: "a", to: id)
        _ = try await device.answer("a")
        await device.send(sent, to: id)
        let odd = try await device.seal(["type": "some:thing", "payload": ["n": 1]], to: id)
        #expect(try await bench.host.event(.command)["type"] == "some:thing")
        await device.send(odd, to: id)
        try await device.command("notification.getUnreadCount", id: "b", to: id)
        #expect(try await device.answer("b")["result"]?["count"] == 1)
        #expect(try await bench.counter("replayed") == 2)
        await bench.desktop.close()

        let host = RecordingHost()
        let desktop = try Bench.open(["state_dir": .string(directory)], relay: bench.url, host)
        _ = try await desktop.value(.start)
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
        await device.send(sent, to: id)
        await device.send(odd, to: id)
        try await device.command("notification.getUnreadCount", id: "c", to: id)
        #expect(try await device.answer("c")["result"]?["count"] == 1)
        #expect(try await desktop.value(.state)["counters"]?["replayed"] == 2)
        try await device.seal(["type": "last:one"], to: id)
        #expect(try await host.event(.command)["type"] == "last:one")
        await desktop.close()
        await bench.relay.stop()
    }

    @Test("the seal that has paired a device is recorded with the pairing, and stays when it is unpaired")
    func recorded() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await Bench(["state_dir": .string(directory)])
        let (device, _) = try await bench.device()
        await bench.desktop.close()
        for _ in 1...2 {
            let desktop = try Bench.open(["state_dir": .string(directory)], relay: bench.url, RecordingHost())
            #expect(await desktop.core.knownPeers == 1)
            _ = await desktop.outcome(.unpair(device.id))
            await desktop.close()
        }
        await bench.relay.stop()
    }

    @Test("what is reflected, redirected, forged or no seal at all has no effect, and each is counted")
    func refused() async throws {
        let bench = try await Bench()
        let (device, id) = try await bench.device()
        let (other, _) = try await bench.device()
        // Our own confirmation, sent back.
        await device.send(try await device.envelope(), to: id)
        // Another device's, in this one's name.
        let others = try await other.command("notification.send", send, id: "x", to: id)
        _ = try await other.answer("x")
        await device.send(others, to: id)
        await device.send(["type": "bellwire:sealed", "payload": ["v": 1, "nonce": "AA", "box": "AA"]], to: id)
        try await device.command("notification.getUnreadCount", id: "b", to: id)
        #expect(try await device.answer("b")["result"]?["count"] == 1)
        #expect(try await bench.counter("misaddressed") == 1)
        #expect(try await bench.counter("forged") == 1)
        #expect(try await bench.counter("malformed") == 1)
        await bench.end()
    }

    @Test("what is sealed to the one who is away waits at the relay, and comes to nobody else")
    func away() async throws {
        let bench = try await Bench()
        let (device, id) = try await bench.device()
        bench.desktop.perform(.stop)
        _ = try await bench.host.event(.connectionChanged) { $0["online"] == false }
        try await device.command("notification.send", send, id: "away", to: id)
        await #expect(throws: (any Error).self) { try await RawPeer.claim(id, at: bench.url) }
        _ = try await bench.desktop.value(.start)
        #expect(try await device.answer("away")["result"]?["success"] == true)
        #expect(try await bench.state["unread"] == 1)
        _ = try await device.body("chainlesschain:event")

        await device.stop()
        async let notified = bench.notify(#"{"title":"Tea"}"#)
        _ = try await notified.get()
        await device.start()
        #expect(try await device.body("chainlesschain:event")["payload"]?["title"] == "Tea")
        await bench.end()
    }

    @Test("a stranger's seal is not even opened while nothing can be paired")
    func strangers() async throws {
        let bench = try await Bench()
        let (_, id) = try await bench.device()
        let stranger = try await SealedPeer.register(at: bench.url)
        try await stranger.command("notification.send", send, id: "x", to: id)
        // Its next frame is behind it on the same way.
        await stranger.sendPlain(stranger.request("notification.getUnreadCount", id: "y"), to: id)
        _ = try await stranger.plain("chainlesschain:command:response")
        #expect(await bench.desktop.core.knownPeers == 1)
        #expect(try await bench.counter("unknownSenders") == 2)
        #expect(try await bench.state["unread"] == 0)
        await bench.end()
    }

    @Test("a command that is refused before it is carried out is answered in a seal too")
    func refusals() async throws {
        let bench = try await Bench()
        let (device, id) = try await bench.device()
        try await device.seal(
            [
                "type": "chainlesschain:command:request",
                "payload": [
                    "id": "odd", "method": "notification.getHistory", "params": [:], "auth": ["did": "did:key:zOther"],
                ],
            ], to: id)
        #expect(try await device.answer("odd")["error"]?["code"] == -32001)
        try await device.seal(
            ["type": "chainlesschain:command:request", "payload": ["id": "bad", "method": "x", "params": []]], to: id)
        #expect(try await device.answer("bad")["error"]?["code"] == -32600)
        #expect(await device.allPlain.isEmpty)
        await bench.end()
    }

    // MARK: The end of a pairing

    @Test("unpairing tells the device in a seal, and takes its rights at once, also from a command under way")
    func unpair() async throws {
        let bench = try await Bench()
        let (device, id) = try await bench.device()
        let core = bench.desktop.core
        let done = try await value { then in
            EventLoop.post { core.unpair(device.id, whileUnderWay: "under-way", over: bench.url, then) }
        }
        #expect(done == [:])
        _ = try await device.body("bellwire:unpair")
        #expect(try await device.answer("under-way")["error"]?["code"] == -32001)
        #expect(try await bench.devices.isEmpty)
        #expect(try await bench.state["unread"] == 0)
        _ = try await bench.host.event(.peersChanged) { $0["devices"]?.array?.isEmpty == true }

        try await device.command("notification.send", send, id: "sealed", to: id)
        let asText = #"{"id":"plain","method":"notification.getHistory","params":{}}"#
        await device.sendPlain(["type": "chainlesschain:command:request", "payload": .string(asText)], to: id)
        let answer = try await device.plain("chainlesschain:command:response")["payload"]?.string
        #expect(try JSONValue(parsing: try #require(answer))["error"]?["code"] == -32001)
        #expect(try await bench.state["unread"] == 0)
        #expect(await bench.desktop.outcome(.unpair(device.id)).error?.code == .notFound)
        let notified = try await bench.notify(#"{"title":"Tea"}"#).get()
        #expect(notified["deliveredCount"] == 0)
        await bench.end()
    }

    @Test("what a device has sealed before it was unpaired is not taken when it is paired again")
    func replayAfterUnpairing() async throws {
        let bench = try await Bench()
        let (device, id) = try await bench.device()
        let sent = try await device.command("notification.send", send, id: "a", to: id)
        _ = try await device.answer("a")
        _ = try await bench.desktop.value(.unpair(device.id))
        await device.acknowledge(try await bench.offer())
        _ = try await device.body("pairing:confirmation")
        await device.send(sent, to: id)
        try await device.command("notification.getUnreadCount", id: "b", to: id)
        #expect(try await device.answer("b")["result"]?["count"] == 1)
        #expect(try await bench.counter("replayed") == 1)
        await bench.end()
    }

    @Test("a device ends its pairing in a seal; all are ended by clear")
    func endings() async throws {
        let bench = try await Bench()
        let (first, id) = try await bench.device()
        let (second, _) = try await bench.device()
        let phone = try await bench.phone(iOS, platform: "ios")
        let unpair = try await first.seal(["type": "bellwire:unpair", "payload": [:]], to: id)
        _ = try await bench.host.event(.peersChanged) {
            $0["devices"]?.array?.map { $0["id"] } == [.string(second.id), .string(iOS)]
        }
        #expect(try await bench.devices.map { $0["id"] } == [.string(second.id), .string(iOS)])
        // In plain text it is none.
        await phone.peer.message(id, ["type": "bellwire:unpair", "payload": [:]])
        _ = try await phone.askAsIOS("notification.getUnreadCount")
        #expect(try await bench.devices.count == 2)
        // Nor when it is played back after another pairing.
        await first.acknowledge(try await bench.offer())
        _ = try await first.body("pairing:confirmation")
        await first.send(unpair, to: id)
        try await first.command("notification.getUnreadCount", id: "c", to: id)
        _ = try await first.answer("c")
        #expect(try await bench.devices.count == 3)

        _ = try await bench.desktop.value(.unpairAll)
        _ = try await first.body("bellwire:unpair")
        _ = try await second.body("bellwire:unpair")
        #expect(try await bench.devices.isEmpty)
        #expect(try await phone.askAsIOS("notification.getUnreadCount")["error"]?.string != nil)
        await bench.end()
    }

    @Test("a device's name can be changed here, and stays so over a restart")
    func rename() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await Bench(["state_dir": .string(directory)])
        let (device, _) = try await bench.device()
        func rename(_ id: String, _ name: String) async -> HostError? {
            await bench.desktop.outcome(.rename(id, to: name)).error
        }
        #expect(await rename(device.id, "Kitchen") == nil)
        _ = try await bench.host.event(.peersChanged) { $0["devices"]?.array?.first?["name"] == "Kitchen" }
        #expect(await rename(device.id, "")?.code == .invalid)
        #expect(await rename(device.id, String(repeating: "x", count: 257))?.code == .invalid)
        #expect(await rename("nobody", "x")?.code == .notFound)
        await bench.desktop.close()
        let again = try Bench.open(["state_dir": .string(directory)], relay: bench.url, RecordingHost())
        #expect(try await again.value(.devices).array?.map { $0["name"] } == ["Kitchen"])
        await again.close()
        await bench.relay.stop()
    }
}

extension DesktopSwitchboard {
    fileprivate var knownPeers: Int { channel.sealer.held.peers }

    /// A command comes, and its device is unpaired before the store has come to it.
    fileprivate func unpair(_ device: String, whileUnderWay id: String, over url: String, _ then: @escaping Then) {
        guard let device = devices[PeerID(device)], let session = devices.session(device.did) else { return }
        let gate = DispatchSemaphore(value: 0)
        store.database.submit { _ in
            gate.wait()
        } then: { _ in
        }
        commands.received(
            CommandRequest(id: RequestID(id), method: "notification.send", params: ["title": "Late", "body": ""]),
            from: device, session, over: RouteID(url), mark: nil, roster: devices.roster, at: .now)
        unpairing.unpair(device.did, then: then)
        gate.signal()
    }
}
