import Hosting
import JSON
import TestSupport
import Testing
import Transport

@testable import Desktop

/// What deployed phones need of a desktop besides pushes and answers, in literal frames.
@Suite(.timeLimit(.minutes(1)))
struct DeployedPhonesTests {
    @Test("a code names the desktop's relay where an iPhone looks first, also if it has none on the local network")
    func signalingURL() async throws {
        let bench = try await Bench()
        let offer = try await bench.offer()
        #expect(offer["signalingUrl"] == .string(bench.url) && offer["relayUrl"] == .string(bench.url))
        await bench.end()
        // Its own relay comes first, and nothing is named twice.
        let home = try Bench.open(["relay": ["listen": "127.0.0.1:0"]], relay: nil, RecordingHost())
        let shown = try await home.value(.offer(10_000))
        let code = try JSONValue(parsing: try #require(shown["payload"]?.string))
        #expect(code["signalingUrl"]?.string?.hasPrefix("ws://127.0.0.1:") == true && code["relayUrl"] == nil)
        await home.close()
    }

    @Test(
        "a phone's heartbeat is answered in its form, and the program hears nothing of it",
        arguments: [#""{\"timestamp\":1735689600000}""#, #"{"timestamp":1735689600000}"#, "null"])
    func heartbeat(payload: String) async throws {
        let bench = try await Bench()
        let phone = try await bench.phone(android, platform: "android")
        await phone.peer.send(
            text:
                #"{"type":"message","to":"\#(phone.desktop)","payload":{"type":"chainlesschain:heartbeat","payload":\#(payload)}}"#
        )
        let answer = try #require(try await phone.peer.payload("chainlesschain:heartbeat:ack")["payload"])
        let inner = try answer.string.map { try JSONValue(parsing: $0) } ?? answer
        #expect((answer.string != nil) == payload.hasPrefix("\""))
        #expect(inner["timestamp"]?.integer ?? 0 > 1_735_689_600_000)
        await phone.peer.send(text: #"{"type":"ice-candidate","to":"\#(phone.desktop)","candidate":"c"}"#)
        #expect(try await bench.host.event(.command)["type"] == "ice-candidate")
        await bench.end()
    }

    @Test("several notifications are marked by a list, and fields that are no settings are ignored")
    func tolerance() async throws {
        let bench = try await Bench()
        let phone = try await bench.phone(iOS, platform: "ios")
        var ids: [JSONValue] = []
        for title in ["A", "B", "C"] {
            let sent = try await phone.askAsIOS("notification.send", #"{"title":"\#(title)","body":""}"#)
            ids.append(try #require(sent["result"]?["notificationId"]))
        }
        let list = JSONValue.array(Array(ids.prefix(2))).serialized()
        let marked = try await phone.askAsIOS("notification.markAsRead", #"{"ids":\#(list)}"#)
        #expect(marked["result"] == ["success": true, "markedCount": 2])
        #expect(try await phone.askAsIOS("notification.getUnreadCount")["result"]?["count"] == 1)
        let nothing = try await phone.askAsIOS("notification.markAsRead", #"{"ids":[]}"#)
        #expect(nothing["error"]?.string?.hasPrefix("ids") == true)
        let changed = try await phone.askAsIOS(
            "notification.updateSettings",
            #"{"soundEnabled":false,"filters":{"system":true},"quietHours":{"enabled":true,"days":[1]}}"#)
        #expect(changed["result"]?["success"] == true && changed["result"]?["settings"]?["soundEnabled"] == false)
        #expect(changed["result"]?["settings"]?["quietHoursEnabled"] == true)
        await bench.end()
    }
}
