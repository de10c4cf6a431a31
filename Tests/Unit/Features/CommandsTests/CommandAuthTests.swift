import JSON
import Testing
import Wire

@testable import Commands

@Suite struct CommandAuthTests {
    private let now: EpochMilliseconds = 1_700_000_000_000
    private let device: PeerID = "did:key:z6MkDevice"

    /// A signature that anybody can check by eye.
    private func sign(_ message: [UInt8]) -> String { "sig(" + String(decoding: message, as: UTF8.self) + ")" }

    private func check(
        _ authenticator: inout CommandAuthenticator, _ auth: JSONObject?, now: EpochMilliseconds? = nil,
        monotonic: UInt64 = 0, isSealed: Bool = false
    ) -> CommandAuthenticator.Verdict {
        let request = CommandRequest(id: "r", method: "notification.send", auth: auth)
        return authenticator.check(
            request, from: device, now: now ?? self.now, monotonic: monotonic, isSealed: isSealed
        ) { message, signature, did in
            if !did.text.hasPrefix("did:key:z6Mk") { return .unverifiable }
            return signature == sign(message) ? .valid : .invalid
        }
    }

    private func auth(
        _ message: ([UInt8]) -> [UInt8] = { $0 }, timestamp: EpochMilliseconds? = nil, nonce: String = "n1"
    ) -> JSONObject {
        CommandAuth.signed(by: device, method: "notification.send", timestamp: timestamp ?? now, nonce: nonce) {
            sign(message($0))
        }
    }

    private func refusal(_ verdict: CommandAuthenticator.Verdict) -> String? {
        guard case .refused(let error) = verdict else { return nil }
        #expect(error.code == .permissionDenied)
        return error.message
    }

    @Test("what is signed is exactly this JSON")
    func message() {
        #expect(
            String(
                decoding: CommandAuth.message(method: "notification.send", timestamp: 1, nonce: "a\"b/ü\n"),
                as: UTF8.self)
                == #"{"method":"notification.send","timestamp":1,"nonce":"a\"b/ü\n"}"#)
        #expect(
            String(decoding: CommandAuth.textMessage(method: "m", timestamp: 1, nonce: "n"), as: UTF8.self) == "m:1:n")
    }

    @Test("a device sends its id under both names, with what was signed")
    func signed() {
        #expect(auth().keys == ["mobileDid", "did", "timestamp", "nonce", "signature"])
        #expect(auth()["did"] == .string(device.text))
    }

    @Test("no signature, as iOS and Android send it, or none at all: known by the relay's word")
    func unsigned() {
        var authenticator = CommandAuthenticator()
        let forms: [JSONObject?] = [
            nil, [:], ["mobileDid": .string(device.text)], ["did": .string(device.text)],
            ["did": .string(device.text), "signature": .null], ["did": .string(device.text), "signature": ""],
        ]
        for form in forms { #expect(check(&authenticator, form) == .unsigned) }
    }

    @Test("the JSON form and Android's text form verify")
    func bothForms() {
        var authenticator = CommandAuthenticator()
        #expect(check(&authenticator, auth()) == .signed)
        let text = CommandAuth.textMessage(method: "notification.send", timestamp: now, nonce: "n2")
        #expect(check(&authenticator, auth({ _ in text }, nonce: "n2")) == .signed)
    }

    @Test("a signature that is there and can be verified must verify")
    func invalid() {
        var authenticator = CommandAuthenticator()
        #expect(refusal(check(&authenticator, auth({ _ in [1] })))?.contains("verify") == true)
        var otherMethod = auth()
        otherMethod["nonce"] = "other"
        #expect(refusal(check(&authenticator, otherMethod)) != nil)
        // What failed has used up nothing.
        #expect(check(&authenticator, auth()) == .signed)
    }

    @Test("a device whose id holds no key is known by the relay's word")
    func unverifiable() {
        var authenticator = CommandAuthenticator()
        let request = CommandRequest(
            id: "r", method: "m",
            auth: ["did": "did:chainlesschain:7", "signature": "x", "timestamp": 1, "nonce": "n"])
        let verdict = authenticator.check(request, from: "did:chainlesschain:7", now: now, monotonic: 0) { _, _, _ in
            .unverifiable
        }
        #expect(verdict == .unsigned)
    }

    @Test("another id than the sender's is refused")
    func otherID() {
        var authenticator = CommandAuthenticator()
        for field in ["mobileDid", "did"] {
            #expect(refusal(check(&authenticator, [field: "did:key:z6MkOther"]))?.contains(field) == true)
            #expect(refusal(check(&authenticator, [field: 7])) != nil)
        }
    }

    @Test("a signature without its moment or its nonce is refused")
    func incomplete() {
        var authenticator = CommandAuthenticator()
        for field in ["timestamp", "nonce"] {
            var auth = auth()
            auth[field] = nil
            #expect(refusal(check(&authenticator, auth))?.contains(field) == true)
        }
        #expect(refusal(check(&authenticator, auth(nonce: String(repeating: "n", count: 257)))) != nil)
        #expect(refusal(check(&authenticator, auth(nonce: ""))) != nil)
        #expect(refusal(check(&authenticator, ["signature": 7])) != nil)
    }

    @Test(
        "the clocks may be 5 minutes apart, and no more",
        arguments: [
            (Int64(0), true), (300_000, true), (-300_000, true), (300_001, false), (-300_001, false),
        ])
    func clock(difference: Int64, isAccepted: Bool) {
        var authenticator = CommandAuthenticator()
        #expect((check(&authenticator, auth(), now: now + difference) == .signed) == isAccepted)
    }

    @Test(
        "in a seal the clocks may be any time apart; the rest of the check stays",
        arguments: [0, 300_001, -300_001, 3_456_000_000, -3_456_000_000] as [Int64])
    func sealedClock(difference: Int64) {
        var authenticator = CommandAuthenticator()
        #expect(check(&authenticator, auth(), now: now + difference, isSealed: true) == .signed)
        #expect(refusal(check(&authenticator, auth(), now: now, isSealed: true))?.contains("nonce") == true)
        let invalid = auth({ _ in [1] }, nonce: "n3")
        #expect(refusal(check(&authenticator, invalid, isSealed: true))?.contains("verify") == true)
        for timestamp in [EpochMilliseconds.min, .max] {
            let farthest = auth(timestamp: timestamp, nonce: "n\(timestamp)")
            #expect(check(&authenticator, farthest, isSealed: true) == .signed)
        }
    }

    @Test("a timestamp at the end of all numbers is refused, not a trap")
    func extremes() {
        var authenticator = CommandAuthenticator()
        for timestamp in [EpochMilliseconds.min, .max] {
            #expect(refusal(check(&authenticator, auth(timestamp: timestamp))) != nil)
        }
    }

    private func use(_ table: inout NonceTable, _ nonce: String, by device: PeerID, at now: UInt64) -> Bool {
        table.use(nonce, by: device, monotonic: now)
    }

    @Test("a nonce is good once within 10 minutes, for its device")
    func nonce() {
        var authenticator = CommandAuthenticator()
        #expect(check(&authenticator, auth(), monotonic: 0) == .signed)
        #expect(refusal(check(&authenticator, auth(), monotonic: 599_999))?.contains("nonce") == true)
        #expect(check(&authenticator, auth(), monotonic: 600_000) == .signed)
        var table = NonceTable(limit: 10)
        #expect(use(&table, "n", by: "a", at: 0))
        #expect(use(&table, "n", by: "b", at: 0))
        #expect(!use(&table, "n", by: "a", at: 1))
    }

    @Test("the table of nonces has a limit; the oldest is forgotten")
    func nonceLimit() {
        var table = NonceTable(limit: 100)
        for number in 0..<10_000 { #expect(use(&table, "\(number)", by: "a", at: 0)) }
        #expect(table.count == 100)
        #expect(!use(&table, "9999", by: "a", at: 0))
        #expect(!use(&table, "9900", by: "a", at: 0))
        #expect(use(&table, "9899", by: "a", at: 0))
        #expect(use(&table, "x", by: "a", at: NonceTable.lifetime))
        #expect(table.count == 1)
    }
}
