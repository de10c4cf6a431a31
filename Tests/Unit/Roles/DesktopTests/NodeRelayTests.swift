import Hosting
import Identity
import JSON
import Peering
import Signalling
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop

/// A desktop and deployed phones at relays that behave as the deployed programs do.
@Suite(.serialized, .timeLimit(.minutes(1)))
struct NodeRelayTests {
    private struct Home {
        let relay: NodeRelay
        let url: String
        let host = RecordingHost()
        let desktop: Desktop

        init(_ program: NodeRelay.Program, _ options: JSONObject = [:]) async throws {
            relay = try await NodeRelay(program)
            url = await relay.url
            desktop = try Bench.open(options, relay: url, host)
        }

        /// Pairs an iOS phone with literal frames. On the public relay a phone writes its own `from`.
        func pair(as did: String = iOS, _ platform: String = "ios") async throws -> (phone: RawPeer, desktop: String) {
            let offer = try await desktop.value(.offer(10_000))
            let code = try JSONValue(parsing: try #require(offer["payload"]?.string))
            let id = try #require(code["pcPeerId"]?.string)
            let phone = try await RawPeer.register(did, at: url)
            await phone.send(
                text: """
                    {"type":"message","from":"\(did)","to":"\(id)","payload":{"type":"pair-ack","pairingCode":\
                    "\(try #require(code["code"]?.string))","mobileDid":"\(did)","deviceInfo":{"deviceId":"ios-1",\
                    "name":"My phone","platform":"\(platform)"},"timestamp":1735689600000}}
                    """)
            _ = try await host.event(.pairingChanged) { $0["state"] == "acked" && $0["confirm"] == true }
            _ = try await desktop.value(.confirm(.offer, accept: true))
            _ = try await host.event(.pairingChanged) { $0["state"] == "paired" }
            return (phone, id)
        }

        func notify(_ title: String) async throws -> JSONValue {
            let notice = try Desktop.Notice(JSONObject(#"{"title":"\#(title)"}"#))
            return try await desktop.value(.notify(notice, 10_000))
        }

        func connected() async throws {
            _ = try await host.event(.connectionChanged) { $0["online"] == true }
        }

        func end() async {
            await desktop.close()
            await relay.close()
        }
    }

    private static func heartbeat(to desktop: String) -> String {
        """
        {"type":"message","from":"\(iOS)","to":"\(desktop)","payload":{"type":"chainlesschain:heartbeat",\
        "timestamp":1735689600000}}
        """
    }

    private static func isPush(_ frame: JSONValue) -> Bool {
        frame["type"] == "message" && frame["payload"]?["type"] == "chainlesschain:event"
    }

    private static func title(_ frame: JSONValue) -> String? { frame["payload"]?["payload"]?["title"]?.string }

    @Test("over a relay that reports nobody, a phone that is away loses nothing, whatever the relay has stored")
    func silentRelay() async throws {
        let home = try await Home(.publicRelay)
        let (phone, desktop) = try await home.pair()
        await phone.close()
        try await until("the phone has left") { await !home.relay.isListed(iOS) }

        // While the desktop is away, the phone speaks and leaves: the relay delivers that as if it were live.
        home.desktop.perform(.stop)
        try await until("the desktop has left") { await !home.relay.isListed(desktop) }
        let passing = try await RawPeer.register(iOS, at: home.url)
        await passing.send(text: Self.heartbeat(to: desktop))
        try await passing.settle()
        await passing.close()
        try await until("the phone has left") { await !home.relay.isListed(iOS) }
        #expect(await home.relay.stored(for: desktop).count == 1)
        _ = try await home.desktop.value(.start)
        try await until("what was stored is there") { await home.relay.stored(for: desktop).isEmpty }

        for title in ["1", "2"] { #expect(try await home.notify(title)["failedCount"] == 1) }
        for title in 3...60 { #expect(try await home.notify("\(title)")["failedCount"] == 1) }
        // The relay stores 50 frames, and all of these reach the phone if it comes within minutes.
        let sent = await home.relay.stored(for: iOS).filter(Self.isPush).compactMap(Self.title)
        #expect(sent == (1...40).map { "\($0)" })

        let again = try await RawPeer.register(iOS, at: home.url)
        try await until("all pushes have come") {
            await again.send(text: Self.heartbeat(to: desktop))
            try await again.settle()
            return await again.waitingFrames.filter(Self.isPush).count >= 100
        }
        #expect(try await home.notify("last")["deliveredCount"] == 1)
        let pushes = await again.waitingFrames.filter(Self.isPush)
        let titles = pushes.compactMap(Self.title)
        #expect(titles == (1...40).map { "\($0)" } + (1...60).map { "\($0)" } + ["last"])
        // The phone shows each once, by its id.
        let ids = Set(pushes.compactMap { $0["payload"]?["payload"]?["notificationId"]?.string })
        #expect(ids.count == 61)
        let state = try await home.desktop.value(.state)
        #expect(state["counters"]?["unknownSenders"] == 0, "probes are nobody's")
        await again.close()
        await home.end()
    }

    @Test("a phone that was just paired over such a relay and then says nothing, as iPhones do, gets every push once")
    func idlePhone() async throws {
        let home = try await Home(.publicRelay)
        let (other, _) = try await home.pair(as: "did:key:zOther-1")
        try await until("the relay is known to be silent") {
            await home.desktop.core.routes.isSilent("did:key:zOther-1")
        }
        let (phone, _) = try await home.pair()
        _ = try await home.desktop.value(.unpair("did:key:zOther-1"))
        await other.close()
        for title in ["1", "2"] { #expect(try await home.notify(title)["deliveredCount"] == 1) }
        let titles = try await [phone.frame(where: Self.isPush), phone.frame(where: Self.isPush)].map(Self.title)
        #expect(titles == ["1", "2"])
        await phone.close()
        await home.end()
    }

    /// As Android phones write requests.
    private static func request(
        _ id: String, _ method: String, from did: String, to desktop: String, auth: String = ""
    ) -> String {
        let request: JSONValue = .string(
            """
            {"jsonrpc":"2.0","id":"\(id)","method":"\(method)","params":{"title":"Tea","body":"is ready"},\
            "auth":{"did":"\(did)"\(auth)}}
            """)
        return """
            {"type":"message","from":"\(did)","to":"\(desktop)","payload":{"type":"chainlesschain:command:request",\
            "payload":\(request.serialized())}}
            """
    }

    @Test("an Android phone that has tried WebRTC is still paired: what it reads or signs is answered to its DID")
    func secondID() async throws {
        try Identity.start()
        let key = try SigningKey.generate()
        let home = try await Home(.standAlone)
        let (phone, desktop) = try await home.pair(as: key.did, "android")
        // The relay adds the id, and writes it as the sender from now on.
        await phone.send(text: #"{"type":"register","peerId":"mobile-1f3a9c0e","deviceType":"mobile"}"#)
        _ = try await phone.frame { $0["type"] == "registered" && $0["peerId"] == "mobile-1f3a9c0e" }
        await phone.send(text: Self.request("r", "notification.getUnreadCount", from: key.did, to: desktop))
        let count = try await Self.answer("r", to: phone)
        #expect(count["result"]?["count"] == 0)
        // Anyone could have written that DID: what changes something is signed.
        await phone.send(text: Self.request("u", "notification.send", from: key.did, to: desktop))
        let refused = try await Self.answer("u", to: phone)
        #expect(refused["error"]?["code"] == -32001)
        let (now, nonce) = (EpochMilliseconds.now, "8c1f2a")
        let signature = TextEncoding.base64.encode(key.sign("notification.send:\(now):\(nonce)"))
        let auth = #","timestamp":\#(now),"nonce":"\#(nonce)","signature":"\#(signature)""#
        await phone.send(text: Self.request("s", "notification.send", from: key.did, to: desktop, auth: auth))
        let sent = try await Self.answer("s", to: phone)
        #expect(sent["result"]?["success"] == true)
        // A stranger stays one, also under such an id.
        await phone.send(text: Self.request("x", "notification.getUnreadCount", from: "did:key:zOther", to: desktop))
        let stranger = try await Self.answer("x", to: phone)
        #expect(stranger["error"]?["message"] == "this device is not paired")
        _ = try await home.notify("Tea")
        _ = try await phone.frame { $0["payload"]?["type"] == "chainlesschain:event:notification" }
        let answers = await home.relay.received.filter {
            $0.from == desktop && $0.frame["payload"]?["type"] == "chainlesschain:command:response"
        }
        #expect(answers.map { $0.frame["to"]?.string } == [key.did, key.did, key.did, "mobile-1f3a9c0e"])
        await phone.close()
        await home.end()
    }

    private static func answer(_ id: String, to phone: RawPeer) async throws -> JSONValue {
        let frame = try await phone.frame {
            $0["payload"]?["type"] == "chainlesschain:command:response"
                && $0["payload"]?["payload"]?.string?.contains(#""id":"\#(id)""#) == true
        }
        return try JSONValue(parsing: try #require(frame["payload"]?["payload"]?.string))
    }

    @Test(
        "where senders name themselves, an unencrypted phone signs what changes something; reading needs no signature",
        arguments: [NodeRelay.Program.publicRelay, .desktopApp])
    func forgedCommands(at program: NodeRelay.Program) async throws {
        try Identity.start()
        let key = try SigningKey.generate()
        let home = try await Home(program)
        let (phone, desktop) = try await home.pair(as: key.did, "android")
        let warning = try await home.host.event(.problem)
        #expect(warning["code"] == "forgeable_relay")
        let state = try await home.desktop.value(.state)
        #expect(state["connection"]?.array?.first?["forgeable"] == true)
        let listed = try await home.desktop.value(.devices)
        #expect(listed.array?.first?["forgeable"] == true)

        // The thief knows both ids. On the desktop app's relay it registers none.
        let thief =
            program == .publicRelay
            ? try await RawPeer.register("thief", at: home.url) : try await RawPeer.stranger(at: home.url)
        await thief.send(text: Self.request("stolen", "notification.clearAll", from: key.did, to: desktop))
        let refused = try await Self.answer("stolen", to: phone)
        #expect(refused["error"]?["code"] == -32001 && refused["error"]?["data"]?["reason"] == "forgeable_relay")
        await thief.send(text: Self.request("read", "notification.getUnreadCount", from: key.did, to: desktop))
        #expect(try await Self.answer("read", to: phone)["result"]?["count"] == 0, "the phone gets it, not the thief")

        let (timestamp, nonce) = (EpochMilliseconds.now, "8c1f2a")
        let signature = key.sign("notification.send:\(timestamp):\(nonce)")
        let auth =
            #","timestamp":\#(timestamp),"nonce":"\#(nonce)","signature":"\#(TextEncoding.base64.encode(signature))""#
        let signed = Self.request("signed", "notification.send", from: key.did, to: desktop, auth: auth)
        await phone.send(text: signed)
        #expect(try await Self.answer("signed", to: phone)["result"]?["success"] == true)
        // Also with another method, or once more.
        let renamed = Self.request("renamed", "notification.clearAll", from: key.did, to: desktop, auth: auth)
        let again = Self.request("again", "notification.send", from: key.did, to: desktop, auth: auth)
        for (id, text) in [("renamed", renamed), ("again", again)] {
            await thief.send(text: text)
            #expect(try await Self.answer(id, to: phone)["error"]?["code"] == -32001)
        }
        await phone.send(text: Self.request("count", "notification.getUnreadCount", from: key.did, to: desktop))
        #expect(try await Self.answer("count", to: phone)["result"]?["count"] == 1)
        await thief.close()
        await phone.close()
        await home.end()
    }

    @Test(
        "where the relay names senders, a phone signs nothing, and nobody is called forgeable",
        arguments: [NodeRelay.Program.standAlone, .standAlone2])
    func honestRelay(_ program: NodeRelay.Program) async throws {
        let home = try await Home(program)
        let (phone, desktop) = try await home.pair(as: android, "android")
        try await until("the relay is known") {
            try await home.desktop.value(.state)["connection"]?.array?.first?["forgeable"] == false
        }
        #expect(try await home.desktop.value(.devices).array?.first?["forgeable"] == nil)
        let thief = try await RawPeer.register("thief", at: home.url)
        await thief.send(text: Self.request("stolen", "notification.clearAll", from: android, to: desktop))
        try await thief.settle()
        await phone.send(text: Self.request("own", "notification.send", from: android, to: desktop))
        #expect(try await Self.answer("own", to: phone)["result"]?["success"] == true)
        let state = try await home.desktop.value(.state)
        #expect(state["counters"]?["unknownSenders"] == 1 && state["counters"]?["refusedCommands"] == 0)
        await thief.close()
        await phone.close()
        await home.end()
    }

    @Test(
        "an iPhone's six digits complete at each relay: it gets the ICE servers and a confirmation with its code",
        arguments: [NodeRelay.Program.standAlone, .standAlone2, .desktopApp, .publicRelay])
    func typedCode(at program: NodeRelay.Program) async throws {
        let home = try await Home(program, ["legacy": "all"])
        let shown = try await home.desktop.value(.code(10_000))
        let code = String(try #require(shown["code"]?.string).prefix(6))
        let phone = try await RawPeer.register(iOS, at: home.url)
        await phone.send(
            text: """
                {"type":"message","from":"\(iOS)","to":"pairing-code:\(code)","payload":{"type":"pair-ack","pairingCode":\
                "\(code)","mobileDid":"\(iOS)","deviceInfo":{"deviceId":"ios-1","name":"My phone","platform":"ios"},\
                "timestamp":1735689600000}}
                """)
        _ = try await home.host.event(.pairingChanged) { $0["state"] == "acked" && $0["confirm"] == true }
        _ = try await home.desktop.value(.confirm(nil, accept: true))
        _ = try await phone.frame { $0["payload"]?["type"] == "chainlesschain:ice:config" }
        let confirmation = try await phone.frame { $0["payload"]?["type"] == "pairing:confirmation" }
        #expect(confirmation["type"] == "message" && confirmation["payload"]?["pairingCode"] == .string(code))
        #expect(confirmation["from"]?.string?.isEmpty == false)
        await phone.close()
        await home.end()
    }

    @Test("over version 0.2, which closes a connection that sends too much, many pushes come once each and in order")
    func limitedRelay() async throws {
        let home = try await Home(.standAlone2)
        let (phone, desktop) = try await home.pair()
        for number in 1...130 {
            let notice = try Desktop.Notice(JSONObject(#"{"title":"\#(number)"}"#))
            home.desktop.perform(.notify(notice, 10_000))
        }
        try await until("all pushes have come", within: 40_000) {
            await phone.waitingFrames.contains { Self.isPush($0) && Self.title($0) == "130" }
        }
        let titles = await phone.waitingFrames.filter(Self.isPush).compactMap(Self.title)
        #expect(titles == (1...130).map(String.init))
        #expect(await home.relay.overloads == 0)
        #expect(await home.relay.registrations(of: desktop) == 1)
        await phone.close()
        await home.end()
    }

    @Test("a phone that dies right after a push has it: only what the relay calls back comes again, with its id")
    func diesAfterPush() async throws {
        let home = try await Home(.standAlone)
        let (phone, _) = try await home.pair()
        async let first = home.notify("A")
        let push = try await phone.frame { Self.isPush($0) && Self.title($0) == "A" }
        await home.relay.cut(iOS)
        try await until("the relay has noticed") { await !home.relay.isListed(iOS) }
        #expect(try await first["deliveredCount"] == 1)
        #expect(try await home.notify("B")["failedCount"] == 1)
        let stored = try #require(await home.relay.stored(for: iOS).first(where: Self.isPush))
        #expect(Self.title(stored) == "B")

        // It gets what was stored, and discards that; then the push again, under the same id.
        let again = try await RawPeer.register(iOS, at: home.url)
        let resent = try await again.frame { Self.isPush($0) && Self.title($0) == "B" }
        let id = resent["payload"]?["payload"]?["notificationId"]
        #expect(id?.string != nil && id == stored["payload"]?["payload"]?["notificationId"])
        #expect(id != push["payload"]?["payload"]?["notificationId"])
        #expect(try await home.notify("C")["deliveredCount"] == 1)
        _ = try await again.frame { Self.isPush($0) && Self.title($0) == "C" }
        #expect(await again.waitingFrames.allSatisfy { !Self.isPush($0) }, "neither A nor B comes again")
        await again.close()
        await home.end()
    }

    @Test("a phone that dies right after a push has it, also if the desktop has a relay of its own")
    func diesAtOneOfTwo() async throws {
        let home = try await Home(.standAlone, ["relay": ["listen": "127.0.0.1:0"]])
        let (phone, desktop) = try await home.pair()
        await phone.send(text: Self.heartbeat(to: desktop))
        async let first = home.notify("A")
        _ = try await phone.frame { Self.isPush($0) && Self.title($0) == "A" }
        await home.relay.cut(iOS)
        try await until("the relay has noticed") { await !home.relay.isListed(iOS) }
        let again = try await RawPeer.register(iOS, at: home.url)
        #expect(try await first["deliveredCount"] == 1)
        #expect(try await home.notify("B")["deliveredCount"] == 1)
        _ = try await again.frame { Self.isPush($0) && Self.title($0) == "B" }
        #expect(await again.waitingFrames.allSatisfy { !Self.isPush($0) }, "A does not come again")
        await again.close()
        await home.end()
    }

    @Test(
        "a push that is sent again, because nobody knows whether it has come, has the same id",
        arguments: [true, false])
    func sameID(reportsAbsence: Bool) async throws {
        let home = try await Home(reportsAbsence ? .standAlone : .publicRelay)
        let (phone, desktop) = try await home.pair()
        await home.relay.cutSenderOfNext("chainlesschain:event")
        async let pushed = home.notify("A")
        try await until("the push has come twice") {
            await phone.send(text: Self.heartbeat(to: desktop))
            try await phone.settle()
            return await phone.waitingFrames.filter(Self.isPush).count >= 2
        }
        _ = try await pushed
        async let answered = home.notify("B")
        // A relay that is found to say nothing of absent peers is sent to when the phone is heard.
        try await until("the next push has come") {
            await phone.send(text: Self.heartbeat(to: desktop))
            try await phone.settle()
            return await phone.waitingFrames.contains { Self.isPush($0) && Self.title($0) == "B" }
        }
        #expect(try await answered["deliveredCount"] == 1)
        _ = try await phone.frame { Self.isPush($0) && Self.title($0) == "B" }
        let copies = await phone.waitingFrames.filter(Self.isPush).map { $0["payload"]?["payload"]?["notificationId"] }
        // A relay that says nothing of absent peers gets it once more, when the phone is heard.
        #expect(copies.count == 2 || !reportsAbsence && copies.count == 3)
        #expect(Set(copies.map { $0?.string }).count == 1 && copies.first??.string != nil)
        await phone.close()
        await home.end()
    }
}
