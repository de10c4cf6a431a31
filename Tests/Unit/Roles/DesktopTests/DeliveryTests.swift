import Foundation
import Hosting
import JSON
import TestSupport
import Testing
import Transport

@testable import Desktop

/// The outbox over loopback: unacknowledged pushes are sent again (WireSealing, "Delivery of pushes").
@Suite(.timeLimit(.minutes(1)))
struct DeliveryTests {
    /// A device that was paired sealed.
    private func pair(_ bench: Bench) async throws -> (SealedPeer, desktop: String) {
        let offer = try await bench.offer()
        let device = try await SealedPeer.register(at: bench.url)
        await device.acknowledge(offer)
        _ = try await device.body("pairing:confirmation")
        return (device, try #require(offer["pcPeerId"]?.string))
    }

    private func seq(_ device: SealedPeer, _ location: SourceLocation = #_sourceLocation) async throws -> Int64? {
        try await device.body("chainlesschain:event", location)["payload"]?["pushSeq"]?.integer
    }

    private func hello(_ device: SealedPeer, _ last: Int64, to desktop: String) async throws {
        _ = try await device.say("bellwire:hello", ["v": 1, "lastPushSeq": .integer(last)], to: desktop)
    }

    /// Waits until the device's words are in the desktop's store: a command comes after them.
    private func settle(_ device: SealedPeer, _ desktop: String) async throws {
        let id = UUID().uuidString
        try await device.command("notification.getUnreadCount", id: id, to: desktop)
        _ = try await device.answer(id)
    }

    @Test("delivered is who has acknowledged; who has not gets it again after the next hello")
    func acknowledged() async throws {
        let bench = try await Bench()
        let (device, desktop) = try await pair(bench)
        #expect(try await bench.notify(#"{"title":"A"}"#).get()["deliveredCount"] == 1)
        #expect(try await seq(device) == 1)
        await device.stopAcknowledging()
        let result = try await bench.notify(#"{"title":"B"}"#).get()
        #expect(result["deliveredCount"] == 0 && result["failedCount"] == 1)
        #expect(try await seq(device) == 2)
        try await hello(device, 1, to: desktop)
        #expect(try await seq(device) == 2)
        _ = try await device.say("bellwire:ack", ["pushSeq": 2], to: desktop)
        try await settle(device, desktop)
        try await hello(device, 2, to: desktop)
        try await settle(device, desktop)
        #expect(await device.allBodies.allSatisfy { $0["type"] != "chainlesschain:event" })
        await bench.end()
    }

    @Test("what is pushed while the device is away comes in order when it says hello")
    func away() async throws {
        let bench = try await Bench()
        let (device, desktop) = try await pair(bench)
        await device.stop()
        await device.stopAcknowledging()
        for number in 1...70 {
            let result = try await bench.notify(#"{"title":"T\#(number)"}"#).get()
            #expect(result["failedCount"] == 1)
        }
        await device.start()
        try await device.online()
        try await hello(device, 0, to: desktop)
        var seqs: [Int64?] = []
        // The relay has kept what was written before it was known to be away: that comes as well.
        while seqs.last != 64 { seqs.append(try await seq(device)) }
        #expect(seqs.suffix(64) == (1...64).map { $0 })
        _ = try await device.say("bellwire:ack", ["pushSeq": 64], to: desktop)
        // What waited too long for its acknowledgement came again meanwhile; the next one is the 65th.
        var next = try await seq(device)
        while let seq = next, seq <= 64 { next = try await self.seq(device) }
        #expect(next == 65)
        await bench.end()
    }

    @Test("the outbox outlives the desktop")
    func restart() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await Bench(["state_dir": .string(directory)])
        let (device, desktop) = try await pair(bench)
        await device.stopAcknowledging()
        _ = try await bench.notify(#"{"title":"A"}"#).get()
        #expect(try await seq(device) == 1)
        await bench.desktop.close()
        let host = RecordingHost()
        let again = try Bench.open(["state_dir": .string(directory)], relay: bench.url, host)
        _ = try await again.value(.start)
        // It does not wait for a hello: the device has not been away.
        #expect(try await seq(device) == 1)
        _ = try await device.say("bellwire:ack", ["pushSeq": 1], to: desktop)
        try await settle(device, desktop)
        let notice = try Desktop.Notice(JSONObject(#"{"title":"B"}"#))
        async let notified = again.value(.notify(notice, 10_000))
        #expect(try await seq(device) == 2)
        _ = try await device.say("bellwire:ack", ["pushSeq": 2], to: desktop)
        #expect(try await notified["deliveredCount"] == 1)
        await again.close()
        await bench.relay.stop()
    }

    @Test("a push with the same collapseKey replaces the one that waits, whose number is skipped")
    func collapse() async throws {
        let bench = try await Bench()
        let (device, desktop) = try await pair(bench)
        await device.stop()
        await device.stopAcknowledging()
        for title in ["A", "B"] {
            _ = try await bench.notify(#"{"title":"\#(title)","collapseKey":"k"}"#).get()
        }
        await device.start()
        try await device.online()
        try await hello(device, 0, to: desktop)
        #expect(try await device.body("bellwire:skip")["payload"] == ["through": 1])
        let event = try await device.body("chainlesschain:event") { $0["payload"]?["pushSeq"] == 2 }
        #expect(event["payload"]?["title"] == "B")
        try await device.command("notification.getHistory", id: "h", to: desktop)
        #expect(try await device.answer("h")["result"]?["total"] == 1)
        await bench.end()
    }

    @Test("a device that is further than this desktop's count gets what waits under numbers that it takes")
    func further() async throws {
        let bench = try await Bench()
        let (device, desktop) = try await pair(bench)
        await device.stopAcknowledging()
        _ = try await bench.notify(#"{"title":"A"}"#).get()
        #expect(try await seq(device) == 1)
        _ = try await device.say("bellwire:ack", ["pushSeq": 500], to: desktop)
        #expect(try await seq(device) == 501)
        await bench.end()
    }

    @Test("a deployed phone gets what came while it was away, once, when it is there again")
    func phone() async throws {
        let bench = try await Bench()
        let phone = try await bench.phone(iOS, platform: "ios")
        _ = try await phone.askAsIOS("notification.getUnreadCount")
        await phone.peer.close()
        for title in ["A", "B"] {
            let result = try await bench.notify(#"{"title":"\#(title)"}"#).get()
            #expect(result["failedCount"] == 1)
        }
        let again = try await RawPeer.register(iOS, at: bench.url)
        for title in ["A", "B"] {
            #expect(try await again.payload("chainlesschain:event")["payload"]?["title"] == .string(title))
        }
        #expect(try await bench.notify(#"{"title":"C"}"#).get()["deliveredCount"] == 1)
        #expect(try await again.payload("chainlesschain:event")["payload"]?["title"] == "C")
        await bench.end()
    }

    @Test("what is silenced goes to devices that know what that is, and not to deployed phones")
    func silenced() async throws {
        let bench = try await Bench()
        let phone = try await bench.phone(iOS, platform: "ios")
        let (device, desktop) = try await pair(bench)
        try await device.command("notification.updateSettings", ["enabled": false], id: "s", to: desktop)
        #expect(try await device.answer("s")["result"]?["success"] == true)
        _ = try await bench.notify(#"{"title":"Quiet"}"#).get()
        let event = try await device.body("chainlesschain:event")["payload"]
        #expect(event?["title"] == "Quiet" && event?["silenced"] == true)
        try await device.command("notification.updateSettings", ["enabled": true], id: "t", to: desktop)
        _ = try await device.answer("t")
        _ = try await bench.notify(#"{"title":"Loud"}"#).get()
        #expect(try await phone.peer.payload("chainlesschain:event")["payload"]?["title"] == "Loud")
        await bench.end()
    }

    @Test("an acknowledgement outside of a seal, or of what is no number, changes nothing")
    func forged() async throws {
        let bench = try await Bench()
        let (device, desktop) = try await pair(bench)
        await device.stopAcknowledging()
        _ = try await bench.notify(#"{"title":"A"}"#).get()
        #expect(try await seq(device) == 1)
        let stranger = try await RawPeer.register("stranger", at: bench.url)
        await stranger.message(desktop, ["type": "bellwire:ack", "payload": ["pushSeq": 1]])
        for seq in [-1, .integer(.max), "1", .null, 1.5] as [JSONValue] {
            _ = try await device.say("bellwire:ack", ["pushSeq": seq], to: desktop)
            _ = try await device.say("bellwire:hello", ["v": 2, "lastPushSeq": seq], to: desktop)
        }
        try await hello(device, 0, to: desktop)
        #expect(try await seq(device) == 1)
        await bench.end()
    }
}

extension SealedPeer {
    func stopAcknowledging() { acknowledgesPushes = false }

    /// The next sealed payload of that type that is like that.
    func body(
        _ type: String, _ location: SourceLocation = #_sourceLocation, where isWanted: (JSONObject) -> Bool
    ) async throws -> JSONObject {
        while true {
            let body = try await body(type, location)
            if isWanted(body) { return body }
        }
    }
}
