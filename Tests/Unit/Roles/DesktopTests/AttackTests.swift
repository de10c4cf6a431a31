import Commands
import Hosting
import Identity
import JSON
import Signalling
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop

/// What strangers try on a desktop, and what comes in a phone's name that the phone has not said, or not now.
@Suite(.timeLimit(.minutes(1)))
struct AttackTests {
    /// A command as a phone signs it, sent as it stands.
    private func signed(
        _ key: SigningKey, _ id: String, at timestamp: EpochMilliseconds, nonce: String
    ) -> JSONValue {
        let method = "notification.send"
        let auth = CommandAuth.signed(by: PeerID(key.did), method: method, timestamp: timestamp, nonce: nonce) {
            message in TextEncoding.base64.encode(key.sign(message))
        }
        return [
            "type": "chainlesschain:command:request",
            "payload": [
                "id": .string(id), "method": .string(method), "params": ["title": "Signed", "body": ""],
                "auth": .object(auth),
            ],
        ]
    }

    @Test("a signed command counts once, in its five minutes, and as it was signed; nothing else of it has an effect")
    func signedCommands() async throws {
        let bench = try await Bench()
        let key = try SigningKey.generate()
        let phone = try await bench.phone(key.did, platform: "linux")
        let now = EpochMilliseconds.now
        func ask(_ payload: JSONValue) async throws -> JSONValue {
            await phone.peer.message(phone.desktop, payload)
            return try await phone.peer.payload("chainlesschain:command:response")["payload"] ?? .null
        }
        let first = signed(key, "a", at: now, nonce: "n-1")
        #expect(try await ask(first)["result"]?["success"] == true)
        // Word by word, and under another id.
        #expect(try await ask(first)["error"]?.string?.contains("nonce") == true)
        #expect(try await ask(signed(key, "b", at: now, nonce: "n-1"))["error"]?.string?.contains("nonce") == true)
        for (index, away) in [-300_000 - 10_000, 300_000 + 10_000].enumerated() {
            let old = signed(key, "c\(index)", at: now + Int64(away), nonce: "o-\(index)")
            #expect(try await ask(old)["error"]?.string?.contains("timestamp") == true)
        }
        // Signed by somebody else; and said to be somebody else's.
        let other = try SigningKey.generate()
        var forged = signed(other, "d", at: now, nonce: "n-2").object ?? [:]
        #expect(try await ask(.object(forged))["error"] != nil)
        var inner = forged["payload"]?.object ?? [:]
        var auth = inner["auth"]?.object ?? [:]
        auth["did"] = .string(key.did)
        auth["mobileDid"] = .string(key.did)
        inner["auth"] = .object(auth)
        forged["payload"] = .object(inner)
        #expect(try await ask(.object(forged))["error"]?.string?.contains("verify") == true)
        #expect(try await bench.state["unread"] == 1)
        #expect(try await bench.counter("refusedCommands") == 6)
        await bench.end()
    }

    @Test("thousands of acks with wrong codes ask nobody, and a device that has seen the code still pairs")
    func guesses() async throws {
        let bench = try await Bench()
        let offer = try await bench.offer()
        let code = try #require(Int(offer["code"]?.string ?? ""))
        let desktop = try #require(offer["pcPeerId"]?.string)
        let guesser = try await RawPeer.register(android, at: bench.url)
        for number in 1...3_000 {
            let guess = String(String(1_000_000 + (code + number) % 1_000_000).dropFirst())
            await guesser.message(
                desktop,
                [
                    "type": "pair-ack", "pairingCode": .string(guess), "mobileDid": .string(android),
                    "deviceInfo": ["deviceId": "a", "name": "Evil", "platform": "android"], "timestamp": 1,
                ])
        }
        try await guesser.settle()
        let device = try await SealedPeer.register(at: bench.url)
        await device.acknowledge(offer)
        _ = try await device.body("pairing:confirmation")
        #expect(try await bench.devices.map { $0["id"] } == [.string(device.id)])
        #expect(try await bench.counter("droppedAcks") == 3_000)
        #expect(await bench.desktop.outcome(.confirm(nil, accept: true)).error?.code == .notFound)
        await bench.end()
    }

    @Test("a phone's name with control characters, of 100 kB, or with markup is one short line wherever it is shown")
    func names() async throws {
        for name in ["\u{1B}[31mE\u{202E}vil\n\r\0", String(repeating: "x", count: 100_000), "<b>Evil</b>"] {
            let bench = try await Bench()
            let offer = try await bench.offer()
            let phone = try await RawPeer.register(iOS, at: bench.url)
            await phone.message(
                offer["pcPeerId"]?.string ?? "",
                [
                    "type": "pair-ack", "pairingCode": offer["code"], "mobileDid": .string(iOS),
                    "deviceInfo": ["deviceId": "i", "name": .string(name), "platform": "ios"], "timestamp": 1,
                ])
            let asked = try await bench.host.event(.pairingChanged) { $0["state"] == "acked" }
            _ = try await bench.desktop.value(.confirm(.offer, accept: true))
            _ = try await bench.host.event(.pairingChanged) { $0["state"] == "paired" }
            for seen in [asked["device"]?["name"], try await bench.devices.first?["name"]] {
                let text = try #require(seen?.string)
                #expect(text == DisplayText.clean(name) && text.unicodeScalars.count <= 80)
                #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "\u{202E}" })
            }
            // An id, or a platform, that is no plain word is not taken at all.
            #expect(try await bench.counter("droppedAcks") == 0)
            await phone.message(
                offer["pcPeerId"]?.string ?? "",
                [
                    "type": "pair-ack", "pairingCode": offer["code"], "mobileDid": .string(iOS),
                    "deviceInfo": ["deviceId": .string(name), "name": "x", "platform": .string("a b")], "timestamp": 1,
                ])
            try await phone.settle()
            #expect(try await bench.devices.first?["name"]?.string == DisplayText.clean(name))
            await bench.end()
        }
    }
}
