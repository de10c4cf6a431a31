import Desktop
@testable import Device
import Foundation
import Hosting
import JSON
import Notifications
import TestSupport
import Testing
import Transport

/// A device and the relay that it uses.
struct Bench {
    let relay: BenchRelay
    let url: String
    let host = RecordingHost()
    let device: Device

    init(stateDirectory: String = ":memory:") async throws {
        relay = await BenchRelay()
        url = await relay.url
        device = try Bench.open(stateDirectory, host)
    }

    static func open(_ stateDirectory: String, _ host: RecordingHost) throws(HostError) -> Device {
        let options: JSONValue = ["state_dir": .string(stateDirectory), "name": "Test phone"]
        return try Device.open(options.serialized(), host.channel, links: BenchRelay.links).0
    }

    var state: JSONValue { get async throws { try await device.value(.state) } }

    func counter(_ name: String) async throws -> Int64? { try await state["counters"]?[name]?.integer }

    /// What a deployed desktop shows.
    func code(of peer: String = "desktop-1", digits: String = "004217") -> String {
        let now = Int64(Date().timeIntervalSince1970 * 1_000)
        let code: JSONValue = [
            "type": "desktop-pairing", "code": .string(digits), "pcPeerId": .string(peer),
            "deviceInfo": ["name": "Office PC", "platform": "win32", "version": "1.0"], "timestamp": .integer(now),
            "signalingUrl": .string(url),
        ]
        return code.serialized()
    }

    /// A deployed desktop that the device has paired with, and the device's DID.
    func pairedDesktop(_ name: String = "desktop-1") async throws -> (RawPeer, String) {
        let desktop = try await RawPeer.register(name, at: url)
        async let paired = device.value(.scan(code(of: name), 10_000))
        let ack = try await desktop.payload("pair-ack")
        let did = try #require(ack["mobileDid"]?.string)
        await desktop.message(did, ["type": "hello"])
        _ = try await paired
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
        return (desktop, did)
    }

    func invoke(
        _ method: String, _ params: JSONObject = [:], timeout: Int64 = 10_000
    ) async throws -> Result<JSONValue, HostError> {
        let command = try Device.Command(method, params)
        return await device.outcome(.ask(.invoke(command), of: nil, try CallTimeout(timeout)))
    }
}

func event(_ id: String, title: String = "T") -> JSONValue {
    [
        "type": "chainlesschain:event",
        "payload": [
            "event": "notification.received", "notificationId": .string(id), "title": .string(title), "body": "B",
            "priority": "normal", "source": "pc", "timestamp": 1_735_689_600_000,
        ],
    ]
}

@Suite(.timeLimit(.minutes(1)))
struct DeviceTests {
    // MARK: Against our desktop

    @Test("a device pairs with a desktop by its code, receives its push, and asks its SQLite for the rest")
    func endToEnd() async throws {
        let bench = try await Bench()
        let (desktop, _) = try Desktop.open(
            #"{"state_dir":":memory:","relay_url":"\#(bench.url)","name":"Desk"}"#, RecordingHost().channel,
            links: BenchRelay.links)
        let offer = try await desktop.value(.offer(10_000))
        let paired = try await value {
            bench.device.perform(.scan(offer["payload"]?.string ?? "", 10_000), then: $0)
        }
        #expect(paired["name"] == "Desk")

        let notice = try Desktop.Notice(JSONObject(#"{"title":"Tea","body":"is ready","priority":"high"}"#))
        async let notified = desktop.value(.notify(notice, 10_000))
        let push = try await bench.host.push(from: bench.device)
        #expect(push["title"] == "Tea" && push["body"] == "is ready" && push["priority"] == "high")
        #expect(push["source"] == "pc" && push["late"] == false && push["redelivered"] == nil)
        #expect(try await notified["deliveredCount"] == 1)
        let state = try await bench.state
        #expect(state["unread"] == 1 && state["latestPush"]?["title"] == "Tea")

        let sent = try await bench.invoke("notification.send", ["title": "From me", "body": ""]).get()
        #expect(sent["success"] == true && sent["notificationId"]?.string != nil)
        let history = try await bench.invoke("notification.getHistory").get()
        #expect(history["total"] == 2 && history["unreadCount"] == 2)
        #expect(history["notifications"]?.array?.map { $0["title"] } == ["From me", "Tea"])
        let marked = try await bench.invoke("notification.markAsRead", ["notificationId": push["id"]]).get()
        #expect(marked["markedCount"] == 1)
        #expect(try await bench.invoke("notification.getUnreadCount").get()["count"] == 1)
        #expect(try await bench.invoke("notification.dance").error?.code == .unsupported)

        let mine = try await bench.invoke("notification.sendToMobile", ["title": "Me", "body": "b"]).get()
        #expect(mine["delivered"] == true)
        let all = try await bench.invoke("notification.broadcast", ["title": "All", "body": "b"]).get()
        #expect(all["deliveredCount"] == 1 && all["failedCount"] == 0)
        var titles: [JSONValue?] = []
        for _ in 0..<3 { titles.append(try await bench.host.push(from: bench.device)["title"]) }
        #expect(titles == ["From me", "Me", "All"])
        await desktop.close()
        await bench.device.close()
        await bench.relay.stop()
    }

    // MARK: Against deployed desktops: literal frames

    @Test(
        "a push is read in each form that deployed desktops send",
        arguments: [
            #"{"type":"chainlesschain:event","payload":{"event":"notification.received","notificationId":"n","title":"T","body":"B","priority":"urgent","source":"pc","timestamp":1735689600000}}"#,
            #"{"type":"chainlesschain:event","payload":"{\"event\":\"notification.received\",\"id\":\"n\",\"title\":\"T\",\"message\":\"B\",\"urgency\":\"critical\",\"timestamp\":1735689600000.0}"}"#,
            #"{"type":"chainlesschain:event:notification","payload":{"method":"notification.received","params":{"notificationId":"n","title":"T","body":"B","urgency":"critical","timestamp":1735689600000}}}"#,
            #"{"type":"chainlesschain:event:notification","payload":"{\"jsonrpc\":\"2.0\",\"method\":\"notification.received\",\"params\":{\"id\":\"n\",\"title\":\"T\",\"body\":\"B\",\"priority\":\"urgent\",\"timestamp\":1735689600000}}"}"#,
            #"{"type":"chainlesschain:notification:received","payload":{"id":"n","title":"T","body":"B","priority":"urgent","timestamp":1735689600000,"data":{"n":1}}}"#,
            #""{\"type\":\"chainlesschain:notification:received\",\"payload\":{\"id\":\"n\",\"title\":\"T\",\"body\":\"B\",\"priority\":\"urgent\",\"timestamp\":1735689600000}}""#,
        ])
    func forms(payload: String) async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        await desktop.send(text: #"{"type":"message","to":"\#(did)","payload":\#(payload)}"#)
        let push = try await bench.host.push(from: bench.device)
        #expect(push["id"] == "n" && push["title"] == "T" && push["body"] == "B" && push["priority"] == "urgent")
        #expect(push["createdAt"] == 1_735_689_600_000)
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("a doubled push is dropped and counted; a malformed event is, too, and the next one comes")
    func duplicatesAndMalformed() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        await desktop.message(did, event("1"))
        await desktop.message(did, event("1"))
        await desktop.message(did, ["type": "chainlesschain:event", "payload": ["event": "notification.received"]])
        await desktop.message(did, ["type": "chainlesschain:event", "payload": "no JSON {"])
        await desktop.message(did, ["type": "chainlesschain:event", "payload": ["event": 7]])
        await desktop.message(did, event("2"))
        #expect(try await bench.host.push(from: bench.device)["id"] == "1")
        #expect(try await bench.host.push(from: bench.device)["id"] == "2")
        #expect(try await bench.counter("admitted") == 2)
        #expect(try await bench.counter("duplicates") == 1)
        #expect(try await bench.counter("malformedEvents") == 3)
        #expect(try await bench.state["unread"] == 2)
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("what a stranger sends is counted and nothing else")
    func strangers() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        let stranger = try await RawPeer.register("stranger", at: bench.url)
        await stranger.message(did, event("evil"))
        await stranger.message(did, ["type": "chainlesschain:command:response", "payload": ["id": "x"]])
        try await stranger.settle()
        await desktop.message(did, event("good"))
        #expect(try await bench.host.push(from: bench.device)["id"] == "good")
        #expect(try await bench.counter("unknownSenders") == 2)
        #expect(try await bench.counter("admitted") == 1)
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test(
        "an answer is read in each form that deployed desktops send",
        arguments: [
            (#"{"id":"ID","result":{"success":true,"count":3}}"#, nil as String?),
            (#""{\"jsonrpc\":\"2.0\",\"id\":\"ID\",\"result\":{\"success\":true,\"count\":3}}""#, nil),
            (#"{"id":"ID","error":null,"result":{"success":true,"count":3}}"#, nil),
            (#"{"id":"ID","error":"it broke"}"#, "remote"),
            (#"{"id":"ID","error":{"code":-32010,"message":"no"}}"#, "denied"),
            (
                #"{"id":"ID","error":{"code":-32603,"message":"Unknown command namespace: notification"}}"#,
                "unsupported"
            ),
            (#"{"id":"ID","result":{"success":true,"count":"many"}}"#, "protocol"),
        ])
    func answers(form: String, code: String?) async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        async let answer = bench.invoke("notification.getUnreadCount")
        let request = try await desktop.request("notification.getUnreadCount")
        let id = try #require(request["id"]?.string)
        let payload = form.replacingOccurrences(of: "ID", with: id)
        await desktop.send(
            text:
                #"{"type":"message","to":"\#(did)","payload":{"type":"chainlesschain:command:response","payload":\#(payload)}}"#
        )
        let result = try await answer
        #expect(result.error?.code.name == code)
        if code == nil { #expect(try result.get()["count"] == 3) }
        await bench.device.close()
        await bench.relay.stop()
    }

    // MARK: Calls without an answer

    @Test("a call fails as offline: not started, no relay, an absent desktop; and names an unknown one")
    func offline() async throws {
        let bench = try await Bench()
        #expect(try await bench.invoke("notification.getUnreadCount").error?.code == .notFound)
        let (desktop, _) = try await bench.pairedDesktop()
        await desktop.close()
        #expect(try await bench.invoke("notification.getUnreadCount").error?.code == .offline)
        let command = try Device.Command("a.b", [:])
        let unknown = await bench.device.outcome(.ask(.invoke(command), of: "nobody", 1_000))
        #expect(unknown.error?.code == .notFound)
        bench.device.perform(.stop)
        #expect(try await bench.invoke("notification.getUnreadCount").error?.code == .offline)
        bench.device.perform(.start)
        bench.device.perform(.start)
        _ = try await bench.host.event(.connectionChanged) { $0["online"] == true }
        await bench.relay.stop()
        _ = try await bench.host.event(.connectionChanged) { $0["online"] == false }
        #expect(try await bench.invoke("notification.getUnreadCount").error?.code == .offline)
        await bench.device.close()
    }

    @Test("a call that nobody answers ends at its deadline; stop ends one before")
    func timeout() async throws {
        let bench = try await Bench()
        _ = try await bench.pairedDesktop()
        #expect(try await bench.invoke("notification.getUnreadCount", timeout: 200).error?.code == .timeout)
        async let waiting = bench.invoke("notification.getUnreadCount")
        _ = try await bench.state
        bench.device.perform(.stop)
        #expect(try await waiting.error?.code == .offline)
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("an answer that comes too late, or from another desktop, is counted and dropped")
    func strayAnswers() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        async let timedOut = bench.invoke("notification.getUnreadCount", timeout: 200)
        let request = try await desktop.request("notification.getUnreadCount")
        #expect(try await timedOut.error?.code == .timeout)
        await desktop.message(
            did,
            [
                "type": "chainlesschain:command:response",
                "payload": ["id": request["id"], "result": ["count": 1]],
            ])
        await desktop.message(did, event("after"))
        _ = try await bench.host.push(from: bench.device)
        #expect(try await bench.counter("strayResponses") == 1)
        await bench.device.close()
        await bench.relay.stop()
    }
}
