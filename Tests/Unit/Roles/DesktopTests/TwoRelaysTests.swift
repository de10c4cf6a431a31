import Hosting
import JSON
import TestSupport
import Testing
import Transport

@testable import Desktop

/// A desktop at two relays, its own and another: a device is absent only where no relay has it.
@Suite(.timeLimit(.minutes(1)))
struct TwoRelaysTests {
    private func push(_ title: String, _ desktop: Desktop) async throws -> JSONValue {
        let notice = try Desktop.Notice(JSONObject(#"{"title":"\#(title)"}"#))
        return try await desktop.value(.notify(notice, 10_000))
    }

    /// The next push with that title: a relay may have kept one that was sent again.
    private func receive(_ title: JSONValue, _ device: SealedPeer) async throws {
        while try await device.body("chainlesschain:event")["payload"]?["title"] != title {}
    }

    @Test("a device that moves between two relays gets every push where it is, and is absent only at both")
    func moves() async throws {
        let relay = await BenchRelay()
        let url = await relay.url
        let host = RecordingHost()
        let desktop = try Bench.open(["relay": ["listen": "127.0.0.1:0"]], relay: url, host)
        _ = try await desktop.value(.start)
        _ = try await host.event(.connectionChanged) {
            $0["routes"]?.array?.allSatisfy { $0["state"] == "online" } == true
        }
        let port = try #require(try await desktop.value(.state)["relay"]?["port"]?.integer)
        let offer = try await desktop.value(.offer(10_000))
        let code = try JSONValue(parsing: try #require(offer["payload"]?.string))
        let id = try #require(code["pcPeerId"]?.string)

        let away = try await SealedPeer.register(at: url)
        await away.acknowledge(code)
        _ = try await away.body("pairing:confirmation")
        #expect(try await push("1", desktop)["deliveredCount"] == 1)
        try await receive("1", away)

        // It comes home without a word to the relay that it has left.
        let home = try await SealedPeer.register(at: "ws://127.0.0.1:\(port)", key: away.key, epoch: 2)
        await away.stop()
        try await home.say("bellwire:hello", ["v": 1, "lastPushSeq": 1], to: id)
        try await home.command("notification.getUnreadCount", id: "a", to: id)
        _ = try await home.answer("a")
        #expect(try await push("2", desktop)["deliveredCount"] == 1)
        try await receive("2", home)
        #expect(await away.allBodies.allSatisfy { $0["type"] != "chainlesschain:event" })

        // Now it is at none of them.
        await home.stop()
        #expect(try await push("3", desktop)["failedCount"] == 1)

        let again = try await SealedPeer.register(at: url, key: away.key, epoch: 3)
        try await again.say("bellwire:hello", ["v": 1, "lastPushSeq": 2], to: id)
        try await receive("3", again)
        #expect(try await push("4", desktop)["deliveredCount"] == 1)
        try await receive("4", again)
        await desktop.close()
        await relay.stop()
    }
}
