@testable import Desktop
import Foundation
import Hosting
import JSON
import Notifications
@testable import Peering
import TestSupport
import Testing
import Transport
import Wire

let iOS = "did:key:z6MkiOSphoneAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
let android = "did:key:zAndroid.Phone-1"

/// A desktop and the relay that it uses.
struct Bench {
    let relay: BenchRelay
    let url: String
    let host = RecordingHost()
    let desktop: Desktop

    init(_ options: JSONObject = [:]) async throws {
        relay = await BenchRelay()
        url = await relay.url
        desktop = try Bench.open(options, relay: url, host)
    }

    static func open(
        _ options: JSONObject = [:], relay: String?, _ host: RecordingHost
    ) throws(HostError) -> Desktop {
        var all: JSONObject = [
            "state_dir": ":memory:", "name": "Desk", "relay_url": relay.map(JSONValue.string),
        ]
        all.merge(options)
        return try Desktop.open(JSONValue.object(all).serialized(), host.channel, links: BenchRelay.links).0
    }

    var state: JSONValue { get async throws { try await desktop.value(.state) } }

    func counter(_ name: String) async throws -> Int64? { try await state["counters"]?[name]?.integer }

    /// The payload of a new offer.
    func offer() async throws -> JSONValue {
        let offer = try await desktop.value(.offer(10_000))
        return try JSONValue(parsing: try #require(offer["payload"]?.string))
    }

    /// A phone that sends a literal ack for the offer; not paired before the desktop says so.
    func ack(_ offer: JSONValue, _ did: String, platform: String) async throws -> Phone {
        let peer = try await RawPeer.register(did, at: url)
        let desktop = try #require(offer["pcPeerId"]?.string)
        let code = try #require(offer["code"]?.string)
        await peer.send(
            text: """
                {"type":"message","to":"\(desktop)","payload":{"type":"pair-ack","pairingCode":"\(code)","mobileDid":\
                "\(did)","deviceInfo":{"deviceId":"\(platform)-1","name":"My phone","platform":"\(platform)"},\
                "timestamp":1735689600000}}
                """)
        return Phone(peer: peer, desktop: desktop)
    }

    func phone(_ did: String, platform: String) async throws -> Phone {
        let phone = try await ack(try await offer(), did, platform: platform)
        _ = try await host.event(.pairingChanged) { $0["state"] == "acked" && $0["confirm"] == true }
        _ = try await desktop.value(.confirm(.offer, accept: true))
        _ = try await host.event(.pairingChanged) { $0["state"] == "paired" }
        return phone
    }

    func notify(_ params: String, timeout: Int64 = 10_000) async throws -> Result<JSONValue, HostError> {
        let notice = try Desktop.Notice(JSONObject(params))
        return await desktop.outcome(.notify(notice, try CallTimeout(timeout)))
    }

    func end() async {
        await desktop.close()
        await relay.stop()
    }
}

/// A deployed phone, which writes and reads one form.
struct Phone {
    let peer: RawPeer
    let desktop: String

    /// Sends a literal request and gives the whole payload of the answer.
    func ask(_ payload: String) async throws -> JSONValue {
        await peer.send(
            text: """
                {"type":"message","to":"\(desktop)","payload":{"type":"chainlesschain:command:request","payload":\(payload)}}
                """)
        return try await peer.payload("chainlesschain:command:response")
    }

    /// As the iOS app writes it: an object, identity without a signature.
    func askAsIOS(_ method: String, _ params: String = "{}", id: String = "5F2C-1") async throws -> JSONValue {
        let answer = try await ask(
            #"{"id":"\#(id)","method":"\#(method)","params":\#(params),"auth":{"mobileDid":"\#(iOS)"}}"#)
        #expect(answer["payload"]?.object != nil && answer["payload"]?["jsonrpc"] == nil)
        #expect(answer["payload"]?["id"] == .string(id))
        return answer["payload"] ?? .null
    }

    /// As the Android app writes it: the JSON of the request as a text.
    func askAsAndroid(_ method: String, _ params: String = "{}", id: String = "req_17") async throws -> JSONValue {
        let request: JSONValue = .string(
            #"{"jsonrpc":"2.0","id":"\#(id)","method":"\#(method)","params":\#(params),"auth":{"did":"\#(android)"}}"#)
        let answer = try await ask(request.serialized())
        let inner = try JSONValue(parsing: try #require(answer["payload"]?.string))
        #expect(inner["jsonrpc"] == "2.0" && inner["id"] == .string(id))
        return inner
    }
}

@Suite(.timeLimit(.minutes(1)))
struct DesktopTests {
    // MARK: Deployed phones: literal frames, each answered in its own form

    @Test("an iOS phone's requests are answered with objects, from SQLite")
    func iOSPhone() async throws {
        let bench = try await Bench()
        let phone = try await bench.phone(iOS, platform: "ios")
        let sent = try await phone.askAsIOS("notification.send", #"{"title":"T","body":"B","priority":"high"}"#)
        #expect(sent["result"]?["success"] == true && sent["error"] == nil)
        let shown = try await bench.host.event(.notificationReceived)
        #expect(shown["title"] == "T" && shown["priority"] == "high" && shown["source"] == "mobile")
        let history = try await phone.askAsIOS(
            "notification.getHistory", #"{"limit":50,"offset":0,"unreadOnly":false}"#)
        let row = history["result"]?["notifications"]?.array?.first
        #expect(
            row?["title"] == "T" && row?["body"] == "B" && row?["read"] == false && row?["createdAt"]?.integer != nil)
        #expect(history["result"]?["total"] == 1 && history["result"]?["unreadCount"] == 1)
        let id = try #require(row?["id"]?.string)
        let marked = try await phone.askAsIOS("notification.markAsRead", #"{"notificationId":"\#(id)","id":"\#(id)"}"#)
        #expect(marked["result"]?["markedCount"] == 1)
        #expect(try await phone.askAsIOS("notification.getUnreadCount")["result"]?["count"] == 0)
        let refused = try await phone.askAsIOS("notification.send", #"{"body":"no title"}"#)
        #expect(refused["error"]?.string?.isEmpty == false && refused["result"] == nil)
        await bench.end()
    }

    @Test("an Android phone's requests are answered with texts, errors with objects")
    func androidPhone() async throws {
        let bench = try await Bench()
        let phone = try await bench.phone(android, platform: "android")
        #expect(try await phone.askAsAndroid("notification.getUnreadCount")["result"]?["count"] == 0)
        let refused = try await phone.askAsAndroid("notification.send", #"{"body":"no title"}"#)
        #expect(refused["error"]?["code"] == -32602 && refused["result"] == nil)
        #expect(try await phone.askAsAndroid("notification.dance")["error"]?["code"] == -32601)
        let mine = try await phone.askAsAndroid("notification.sendToMobile", #"{"title":"Me","body":"b"}"#)
        #expect(mine["result"]?["delivered"] == true)
        let text = try #require(try await phone.peer.payload("chainlesschain:event:notification")["payload"]?.string)
        let call = try JSONValue(parsing: text)
        #expect(call["jsonrpc"] == "2.0" && call["method"] == "notification.received" && call["id"] == nil)
        #expect(call["params"]?["title"] == "Me" && call["params"]?["notificationId"]?.string != nil)
        await bench.end()
    }

    @Test("a push of the host's goes to each phone in its form; one that has left counts as failed")
    func pushes() async throws {
        let bench = try await Bench()
        let first = try await bench.phone(iOS, platform: "ios")
        let second = try await bench.phone(android, platform: "android")
        async let notified = bench.notify(
            #"{"title":"Tea","body":"is ready","priority":"urgent","data":{"n":1,"t":"x"}}"#)
        let event = try #require(try await first.peer.payload("chainlesschain:event")["payload"])
        #expect(event["event"] == "notification.received" && event["title"] == "Tea" && event["priority"] == "urgent")
        #expect(event["data"] == ["n": "1", "t": "x"])
        let text = try await second.peer.payload("chainlesschain:event:notification")["payload"]?.string
        #expect(try JSONValue(parsing: try #require(text))["params"]?["notificationId"] == event["notificationId"])
        let result = try await notified.get()
        #expect(result["deliveredCount"] == 2 && result["failedCount"] == 0)
        #expect(result["notificationId"] == event["notificationId"])

        await second.peer.close()
        async let again = bench.notify(#"{"title":"Again"}"#)
        #expect(try await first.peer.payload("chainlesschain:event")["payload"]?["body"] == "")
        let counts = try await again.get()
        #expect(counts["deliveredCount"] == 1 && counts["failedCount"] == 1)
        let one = try await bench.notify(#"{"title":"One","deviceId":"android-1"}"#).get()
        #expect(one["deliveredCount"] == 0 && one["failedCount"] == 1)
        #expect(try await bench.notify(#"{"title":"None","deviceId":"nobody"}"#).error?.code == .notFound)
        await bench.end()
    }

    @Test("a request that cannot be read is answered so, if its id could, and changes nothing")
    func badRequests() async throws {
        let bench = try await Bench()
        let phone = try await bench.phone(iOS, platform: "ios")
        let answer = try await phone.ask(#"{"id":"x","method":"notification.getHistory","params":[]}"#)
        #expect(answer["payload"]?["error"]?.string != nil && answer["payload"]?["id"] == "x")
        for payload in ["17", "null", #""no JSON {""#, #"{"method":"notification.send"}"#, #"{"id":{"a":1}}"#] {
            await phone.peer.send(
                text: """
                    {"type":"message","to":"\(phone.desktop)","payload":{"type":"chainlesschain:command:request",\
                    "payload":\(payload)}}
                    """)
        }
        #expect(try await phone.askAsIOS("notification.getUnreadCount")["result"]?["count"] == 0)
        #expect(try await bench.counter("malformedPayloads") == 6)
        await bench.end()
    }

    @Test("a frame that the relay routes whole reaches the host by its type")
    func routedFrame() async throws {
        let bench = try await Bench()
        let phone = try await bench.phone(iOS, platform: "ios")
        await phone.peer.send(text: #"{"type":"ice-candidate","to":"\#(phone.desktop)","candidate":"c"}"#)
        let command = try await bench.host.event(.command)
        #expect(command["type"] == "ice-candidate" && command["device"] == .string(iOS))
        #expect(try await bench.counter("malformedPayloads") == 0)
        await bench.end()
    }

    // MARK: Strangers

    @Test("a stranger's command is refused, and strangers' acks leave nothing behind")
    func strangers() async throws {
        let bench = try await Bench()
        let phone = try await bench.phone(iOS, platform: "ios")
        for number in 1...50 {
            let stranger = try await RawPeer.register("did:key:zStranger\(number)", at: bench.url)
            await stranger.send(
                text: """
                    {"type":"message","to":"\(phone.desktop)","payload":{"type":"pair-ack","pairingCode":"000000",\
                    "mobileDid":"did:key:zStranger\(number)","deviceInfo":{"deviceId":"d","name":"n","platform":"ios"}}}
                    """)
            if number == 50 {
                let evil = Phone(peer: stranger, desktop: phone.desktop)
                let answer = try await evil.askAsIOS("notification.send", #"{"title":"Evil","body":""}"#)
                #expect(answer["error"]?.string != nil && answer["result"] == nil)
            }
        }
        #expect(try await phone.askAsIOS("notification.getHistory")["result"]?["total"] == 0)
        #expect(await bench.desktop.core.heard((1...50).map { "did:key:zStranger\($0)" } + [iOS]) == 1)
        #expect(try await bench.counter("droppedAcks") == 50)
        await bench.end()
    }
}

extension DesktopSwitchboard {
    /// How many of these are remembered by where they were heard.
    fileprivate func heard(_ peers: [String]) -> Int {
        peers.count { peer in devices.contains(PeerID(peer)) || pairing.flows.route(of: PeerID(peer)) != nil }
    }
}
