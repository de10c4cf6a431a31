import Desktop
import Foundation
import Hosting
import Identity
import JSON
import Sealing
import TestSupport
import Testing
import Transport
import Wire

@testable import Device

/// What is tried on a device and a desktop by whoever stands between them.
@Suite(.timeLimit(.minutes(2)))
struct AttackTests {
    // MARK: What a relay sees

    @Test("what a relay sees has neither secrets of codes, nor typed digits, nor texts: in each flow, and afterwards")
    func codesAndTextsStaySecret() async throws {
        let relay = try await NodeRelay(.publicRelay)
        let url = await relay.url
        let (deviceHost, desktopHost) = (RecordingHost(), RecordingHost())
        let options: JSONObject = ["state_dir": ":memory:", "name": "Desk", "relay_url": .string(url)]
        let desktop = try Desktop.open(JSONValue.object(options).serialized(), desktopHost.channel).0
        let device = try AttackedHome.openDevice(url, [:], deviceHost)
        _ = try await desktop.value(.start)
        _ = try await desktopHost.event(.connectionChanged) { $0["online"] == true }
        var secrets = ["Kennwort"]

        let offer = try await desktop.value(.offer(20_000))["payload"]?.string ?? ""
        secrets.append(try #require(try JSONValue(parsing: offer)["bw"]?["secret"]?.string))
        _ = try await device.value(.scan(offer, 20_000))
        _ = try await desktopHost.event(.pairingChanged) { $0["flow"] == "offer" && $0["state"] == "paired" }
        let shown = try await device.value(.show(20_000))["payload"]?.string ?? ""
        secrets.append(try #require(try JSONValue(parsing: shown)["bw"]?["secret"]?.string))
        _ = try await desktop.value(.scan(shown))
        _ = try await desktop.value(.confirm(.scan, accept: true))
        _ = try await desktopHost.event(.pairingChanged) { $0["flow"] == "scan" && $0["state"] == "paired" }
        let code = try #require(try await desktop.value(.code(20_000))["code"]?.string)
        _ = try await device.value(.type(code, 20_000))
        _ = try await desktopHost.event(.pairingChanged) { $0["flow"] == "code" && $0["state"] == "paired" }

        let params = #"{"title":"Kennwort-1","body":"Kennwort-2","data":{"a":"Kennwort-3"}}"#
        let notice = try Desktop.Notice(JSONObject(params))
        async let notified = desktop.value(.notify(notice, 20_000))
        #expect(try await deviceHost.push(from: device)["title"] == "Kennwort-1")
        _ = try await notified
        let command = try Device.Command(
            "notification.send", JSONObject(#"{"title":"Kennwort-4","body":"Kennwort-5"}"#))
        _ = try await device.value(.ask(.invoke(command), of: nil, 20_000))

        let seen = await relay.received.map { $0.frame.serialized() }
        #expect(seen.count > 10)
        for text in seen {
            for secret in secrets { #expect(!text.contains(secret)) }
            // Numbers that are longer than the digits are times.
            #expect(!text.split(whereSeparator: { !$0.isNumber }).contains { $0 == code.suffix(6) })
        }
        #expect(seen.contains { $0.contains("pairing-code:\(code.prefix(6))") }, "it sees the digits before the dash")
        await device.close()
        await desktop.close()
        await relay.close()
    }

    // MARK: Keys that are swapped

    @Test("a relay that puts its own key into the desktop's code's way: neither side is paired")
    func swapsKeysOfAnOffer() async throws {
        let home = try await AttackedHome()
        let swapper = try await Swapper()
        let offer = try await home.offer()
        let code = try #require(offer["code"]?.string)
        let (device, desktop) = (home.deviceID, home.desktopID)
        await home.relay.carries { letter in
            guard letter.to == desktop, letter.from == device else { return [] }
            var renamed = letter
            renamed.from = swapper.id
            return [renamed] + swapper.ack(code, to: desktop) + swapper.ack(code, to: desktop, from: device)
                + swapper.confirmation(code, to: device) + swapper.confirmation(code, to: device, from: desktop)
        }
        #expect(await home.scan(offer, timeout: 4_000).error?.detail["reason"] == "timeout")
        try await home.expectNobodyIsPaired()
        #expect(try await home.onDesktop("forged") ?? 0 >= 2)
        #expect(try await home.onDesktop("droppedAcks") ?? 0 >= 1)
        #expect(try await home.onDevice("sealsForged") ?? 0 >= 1)
        // The code is still good for its device.
        await home.relay.carries { [$0] }
        #expect(try await home.scan(offer).get()["secure"] == true)
        await home.close()
    }

    @Test("a relay that puts its own key into the device's code's way: neither side is paired")
    func swapsKeysOfAShow() async throws {
        let home = try await AttackedHome()
        let swapper = try await Swapper()
        let shown = try await home.device.value(.show(10_000))
        let payload = try #require(shown["payload"]?.string)
        let code = try #require(shown["code"]?.string)
        let (device, desktop) = (home.deviceID, home.desktopID)
        await home.relay.carries { letter in
            guard letter.to == device, letter.from == desktop else { return [] }
            var renamed = letter
            renamed.from = swapper.id
            let hello = PairingHello(lastPushSeq: 0).json.object ?? [:]
            return [renamed] + swapper.confirmation(code, to: device)
                + swapper.confirmation(code, to: device, from: desktop)
                + swapper.letter(hello, to: desktop) + swapper.letter(hello, to: desktop, from: device)
                + [HostileRelay.Letter(from: device, to: desktop, payload: .object(hello), isSealed: false)]
        }
        _ = try await home.desktop.value(.scan(payload))
        _ = try await home.desktop.value(.confirm(.scan, accept: true))
        _ = try await home.relay.letter { $0.to == device }
        // It is repeated: the desktop waits on.
        _ = try await home.relay.letter { $0.to == device }
        try await home.expectNobodyIsPaired()
        #expect(try await home.onDevice("sealsForged") ?? 0 >= 2)
        #expect(try await home.onDevice("droppedPairingFrames") ?? 0 >= 1)
        #expect(try await home.onDesktop("forged") ?? 0 >= 1)
        await home.relay.carries { [$0] }
        _ = try await home.deviceHost.event(.pairingChanged) { $0["state"] == "completed" }
        _ = try await home.desktopHost.event(.pairingChanged) { $0["state"] == "paired" }
        await home.close()
    }

    @Test("a relay that plays the desktop to the device and the device to the desktop: a typed code pairs nobody")
    func swapsKeysOfATypedCode() async throws {
        let home = try await AttackedHome()
        let swapper = try await Swapper()
        let shown = try await home.desktop.value(.code(10_000))
        let code = try #require(shown["code"]?.string)
        let (nameplate, password) = (String(code.prefix(6)), String(code.suffix(6)))
        let alias = "pairing-code:\(nameplate)"
        let guess = password == "000000" ? "000001" : "000000"
        let device = home.deviceID
        var generator = SecureRandomNumberGenerator()
        let initiator = try CPaceInitiator(
            password: guess, alias: alias, deviceID: swapper.id, using: &generator)
        let between = await Between(swapper.id, device: device, alias: alias, guess: guess, initiator)
        await home.relay.carries { between.carry($0) }
        #expect(await home.device.outcome(.type(code, 8_000)).error?.code == .pairing)
        try await home.expectNobodyIsPaired()
        let steps = await between.steps
        #expect(steps == [1, 2, 3])
        // One guess is spent; the right device still finds the code open.
        await home.relay.carries { [$0] }
        #expect(try await home.device.value(.type(code, 10_000))["secure"] == true)
        await home.close()
    }

    // MARK: Seals

    @Test(
        "a push that is played back has an effect once: at once, after a restart; reflected and forged ones have none")
    func seals() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-device-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let home = try await AttackedHome(device: ["state_dir": .string(directory)])
        let swapper = try await Swapper()
        let (device, desktop) = (home.deviceID, home.desktopID)
        try await home.pair()
        // The device's own ack, as the desktop's word.
        var own = try await home.relay.letter { $0.to == desktop && $0.isSealed }
        _ = try await home.relay.letter { $0.to == device }
        own.from = desktop
        own.to = device
        let tea = try await home.push("Tea")
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "Tea")
        await home.relay.deliver(tea)
        await home.relay.deliver(tea, storedAt: 4_000_000_000_000)
        await home.relay.deliver(own)
        for letter in await swapper.letter(Self.push("Forged"), to: device, from: desktop) {
            await home.relay.deliver(letter)
        }
        // Its answer is behind them on the same way.
        #expect(try await home.unread() == 1)
        #expect(try await home.onDevice("sealsReplayed") == 2)
        #expect(try await home.onDevice("sealsMisaddressed") == 1)
        #expect(try await home.onDevice("sealsForged") == 1)
        #expect(try await home.device.value(.state)["unread"] == 1)
        await home.device.close()

        let host = RecordingHost()
        let again = try AttackedHome.openDevice(home.url, ["state_dir": .string(directory)], host)
        again.perform(.start)
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
        await home.relay.deliver(tea)
        let command = try Device.Command("notification.getUnreadCount", [:])
        _ = try await again.value(.ask(.invoke(command), of: nil, 10_000))
        let state = try await again.value(.state)
        #expect(state["counters"]?["sealsReplayed"] == 1 && state["unread"] == 1)
        await again.close()
        await home.desktop.close()
        await home.relay.close()
    }

    @Test("after a sealed pairing nothing plain counts: no push, no answer, no ICE servers, no end, no second pairing")
    func plain() async throws {
        let home = try await AttackedHome()
        try await home.pair()
        let (device, desktop) = (home.deviceID, home.desktopID)
        func say(_ payload: JSONValue) async {
            await home.relay.deliver(.init(from: desktop, to: device, payload: payload, isSealed: false))
        }
        // An answer in the desktop's name comes before the true one.
        await home.relay.carries { letter in
            guard letter.from == device else { return [letter] }
            return [
                .init(
                    from: desktop, to: device,
                    payload: [
                        "type": "chainlesschain:command:response",
                        "payload": ["id": "guess", "result": ["success": true, "count": 7]],
                    ], isSealed: false), letter,
            ]
        }
        await say(.object(Self.push("Plain")))
        await say(["type": "bellwire:unpair", "payload": [:]])
        await say([
            "type": "chainlesschain:ice:config", "payload": ["pcPeerId": "x", "iceServers": [["urls": "stun:x"]]],
        ])
        // Said to be sealed, and not.
        await home.relay.deliver(.init(from: desktop, to: device, payload: .object(Self.push("Plain")), isSealed: true))
        let before = try await home.device.value(.desktops)
        #expect(try await home.unread() == 0)
        #expect(try await home.onDevice("plainOfSecure") ?? 0 >= 5)
        #expect(try await home.device.value(.state)["unread"] == 0)

        // Nor does a plain confirmation of a code that is shown, in the name of the desktop that seals.
        await home.relay.carries { [$0] }
        let shown = try await home.device.value(.show(10_000))
        await say([
            "type": "pairing:confirmation", "pairingCode": shown["code"], "pcPeerId": .string(desktop),
            "deviceInfo": ["name": "Evil", "platform": "linux"], "timestamp": 1,
        ])
        #expect(try await home.unread() == 0)
        let after = try await home.device.value(.desktops)
        #expect(after.array?.first?["secure"] == true && after.array?.count == 1)
        #expect(after.array?.first?["name"] == before.array?.first?["name"])
        home.device.perform(.cancel(.show))
        await home.close()
    }

    private static func plainConfirmation(
        _ code: JSONValue?, from desktop: String, to device: String
    ) -> HostileRelay.Letter {
        .init(
            from: desktop, to: device,
            payload: [
                "type": "pairing:confirmation", "pairingCode": code, "pcPeerId": "desktop-unknown",
                "deviceInfo": ["name": "Evil", "platform": "win32"], "timestamp": 1,
            ], isSealed: false)
    }

    private static func push(_ title: String) -> JSONObject { event("n-1", title: title).object ?? [:] }

    @Test(
        "what was sealed before a pairing is void after it: though the database was lost, and though a relay had kept it"
    )
    func lostDatabase() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-device-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let home = try await AttackedHome(device: ["state_dir": .string(directory)])
        try await home.pair()
        _ = try await home.relay.letter { [id = home.deviceID] in $0.to == id }
        let tea = try await home.push("Tea")
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "Tea")
        // The relay keeps back what ends the pairing.
        await home.relay.carries { [id = home.deviceID] in $0.to == id ? [] : [$0] }
        _ = try await home.desktop.value(.unpair(home.deviceID))
        let unpair = try await home.relay.letter { [id = home.deviceID] in $0.to == id }
        await home.device.close()
        for file in try FileManager.default.contentsOfDirectory(atPath: directory)
        where file != "identity.key" {
            try FileManager.default.removeItem(atPath: "\(directory)/\(file)")
        }

        await home.relay.carries { [$0] }
        let host = RecordingHost()
        let again = try AttackedHome.openDevice(home.url, ["state_dir": .string(directory)], host)
        #expect(try await again.value(.state)["id"] == .string(home.deviceID))
        let offer = try await home.offer().serialized()
        #expect(try await again.value(.scan(offer, 10_000))["secure"] == true)
        await home.relay.deliver(tea)
        await home.relay.deliver(unpair, storedAt: 4_000_000_000_000)
        let command = try Device.Command("notification.getUnreadCount", [:])
        _ = try await again.value(.ask(.invoke(command), of: nil, 10_000))
        let state = try await again.value(.state)
        // The desktop's history brings the row; as a push it does not come again.
        #expect(state["counters"]?["sealsReplayed"] == 2 && state["latestPush"] == .null)
        #expect(try await again.value(.desktops).array?.count == 1)
        await again.close()
        await home.desktop.close()
        await home.relay.close()
    }

    // MARK: Names

    @Test("who registers what a desktop calls itself is not that desktop")
    func ownNames() async throws {
        let home = try await AttackedHome()
        let device = home.deviceID
        let shown = try await home.device.value(.show(10_000))
        await home.relay.deliver(Self.plainConfirmation(shown["code"], from: "pc-1", to: device))
        try await home.acceptDesktop()
        _ = try await home.deviceHost.event(.pairingChanged) { $0["state"] == "completed" }
        await home.relay.deliver(
            .init(from: "desktop-unknown", to: device, payload: .object(Self.push("Evil")), isSealed: false))
        await home.relay.deliver(
            .init(from: "pc-1", to: device, payload: event("n-2", title: "Good"), isSealed: false))
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "Good")
        #expect(try await home.device.value(.state)["unread"] == 1)
        #expect(try await home.onDevice("unknownSenders") == 1)
        await home.close()
    }

    @Test("what was under way when a desktop was unpaired does not bring it back")
    func unpairedUnderWay() async throws {
        let home = try await AttackedHome()
        try await home.pair()
        let desktop = home.desktopID
        _ = try await value { then in
            home.device.perform(.rename(desktop, to: "Late"), then: { _ in })
            home.device.perform(.unpair(desktop), then: then)
        }
        #expect(try await home.device.value(.desktops).array?.isEmpty == true)
        await home.close()
    }

    // MARK: Codes

    @Test("thousands of confirmations with wrong codes pair nobody, and the desktop that has seen the code still can")
    func guesses() async throws {
        let home = try await AttackedHome()
        let shown = try await home.device.value(.show(10_000))
        let code = try #require(Int(shown["code"]?.string ?? ""))
        let device = home.deviceID
        for number in 1...3_000 {
            let guess = String(String(1_000_000 + (code + number) % 1_000_000).dropFirst())
            await home.relay.deliver(Self.plainConfirmation(.string(guess), from: "pc-\(number % 5)", to: device))
        }
        // The one that would have been right comes too late: it was found by guessing.
        await home.relay.deliver(Self.plainConfirmation(shown["code"], from: "pc-0", to: device))
        _ = try await home.desktop.value(.scan(shown["payload"]?.string ?? ""))
        _ = try await home.desktop.value(.confirm(.scan, accept: true))
        _ = try await home.deviceHost.event(.pairingChanged) { $0["state"] == "completed" }
        let desktops = try await home.device.value(.desktops)
        #expect(desktops.array?.map { $0["id"] } == [.string(home.desktopID)])
        #expect(desktops.array?.first?["secure"] == true)
        #expect(try await home.onDevice("droppedPairingFrames") ?? 0 >= 3_000)
        await home.close()
    }

    @Test("acks that were sent ahead to the alias, and kept by a relay that should not, ask nobody")
    func sentAhead() async throws {
        let home = try await AttackedHome(desktop: ["legacy": "all"])
        let later = Int64(Date().timeIntervalSince1970 * 1_000) + 60_000
        // Whoever has sent acks to all aliases: this one is for whichever code comes up.
        await home.relay.keepsForAliases { alias in
            let code = alias.split(separator: ":").last.map(String.init) ?? ""
            return [
                "type": "offline-message", "storedAt": .integer(later), "deliveredAt": .integer(later),
                "originalMessage": [
                    "type": "message", "from": "did:key:zEvil",
                    "payload": [
                        "type": "pair-ack", "pairingCode": .string(code), "mobileDid": "did:key:zEvil",
                        "deviceInfo": ["deviceId": "e", "name": "Evil", "platform": "ios"], "timestamp": 1,
                    ],
                ],
            ]
        }
        let shown = try await home.desktop.value(.code(10_000))
        let code = try #require(shown["code"]?.string)
        #expect(try await home.device.value(.type(code, 10_000))["secure"] == true)
        _ = try await home.desktopHost.event(.pairingChanged) { $0["state"] == "acked" }
        _ = try await home.desktopHost.event(.pairingChanged) { $0["state"] == "paired" }
        #expect(try await home.desktop.value(.devices).array?.map { $0["name"] } == ["Phone"])
        #expect(try await home.onDesktop("droppedAcks") == 1)
        await home.close()
    }

    @Test("a desktop's name with control characters, of 100 kB, or with markup is one short line wherever it is shown")
    func names() async throws {
        for name in ["\u{1B}[31mE\u{202E}vil\n\r\0", String(repeating: "x", count: 100_000), "<b>Evil</b>"] {
            let home = try await AttackedHome()
            let shown = try await home.device.value(.show(10_000))
            await home.relay.deliver(
                .init(
                    from: "pc-1", to: home.deviceID,
                    payload: [
                        "type": "pairing:confirmation", "pairingCode": shown["code"], "pcPeerId": "pc-1",
                        "deviceInfo": ["name": .string(name), "platform": .string(name)], "timestamp": 1,
                    ], isSealed: false))
            try await home.acceptDesktop()
            let done = try await home.deviceHost.event(.pairingChanged) { $0["state"] == "completed" }
            let desktop = try await home.device.value(.desktops).array?.first
            for seen in [done["desktop"], desktop] {
                for field in ["name", "platform"] {
                    let text = try #require(seen?[field]?.string)
                    #expect(text == DisplayText.clean(name) && text.unicodeScalars.count <= 80)
                    #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{202E}" })
                }
            }
            await home.close()
        }
    }
}

/// Stands between the two sides of a typed code, with a key and a guess of its own.
///
/// It waits for each side before it goes on with the other: the two runs have no order of their own.
@EventLoop
private final class Between {
    private let id: String
    private let device: String
    private let alias: String
    private let guess: String
    private let toDesktop: CPaceInitiator
    private var answered: CPaceResponder?
    private var answer: HostileRelay.Letter?
    private var third: HostileRelay.Letter?
    /// Of the device and of the desktop, as they came.
    private(set) var steps: [Int64] = []

    init(_ id: String, device: String, alias: String, guess: String, _ initiator: CPaceInitiator) {
        (self.id, self.device, self.alias, self.guess) = (id, device, alias, guess)
        toDesktop = initiator
    }

    func carry(_ letter: HostileRelay.Letter) -> [HostileRelay.Letter] {
        guard let inner = letter.payload["payload"]?.object, let exchange = try? PairingExchange(payload: inner) else {
            // The desktop says that the code was wrong: so does the relay, to the device.
            return letter.payload["type"] == "pairing:reject" ? [say(letter.payload, from: alias, to: device)] : []
        }
        switch exchange.step {
        case .deviceShare(let did, let share):
            steps.append(1)
            var generator = SecureRandomNumberGenerator()
            answered =
                try? answered
                ?? CPaceResponder(
                    password: guess, alias: alias, sid: exchange.sid, deviceID: did.text, deviceShare: share,
                    desktopID: id, using: &generator)
            guard let answered else { return [] }
            let own = PairingExchange(
                sid: toDesktop.sid, step: .deviceShare(did: PeerID(id), share: toDesktop.share))
            let second = PairingExchange(
                sid: answered.sid, step: .desktopShare(did: PeerID(id), share: answered.share))
            answer = say(second.json, from: alias, to: device)
            return [say(own.json, from: id, to: alias)]
        case .desktopShare(let did, let share):
            steps.append(2)
            guard let key = try? toDesktop.finish(desktopID: did.text, share: share) else { return [] }
            let step = PairingExchange(sid: exchange.sid, step: .deviceConfirm(key.confirmation(of: .device)))
            third = say(step.json, from: id, to: alias)
            return [answer].compactMap(\.self)
        case .deviceConfirm:
            steps.append(3)
            guard let answered else { return [] }
            let fourth = PairingExchange(
                sid: exchange.sid, step: .desktopConfirm(answered.key.confirmation(of: .desktop)))
            return [say(fourth.json, from: alias, to: device)] + [third].compactMap(\.self)
        case .desktopConfirm:
            steps.append(4)
            return []
        }
    }

    private func say(_ payload: JSONValue, from: String, to: String) -> HostileRelay.Letter {
        HostileRelay.Letter(from: from, to: to, payload: payload, isSealed: false)
    }
}
