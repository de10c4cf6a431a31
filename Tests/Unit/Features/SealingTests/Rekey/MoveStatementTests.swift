import Identity
import JSON
import Testing
import Wire

@testable import Sealing

/// What both keys sign (WireRekey, "Statement").
struct MoveStatementTests {
    private func key(_ first: UInt8) throws -> SigningKey { try SigningKey(seed: (0..<32).map { first &+ $0 }) }

    private func code(_ body: () throws -> Void) -> String? {
        do { try body() } catch { return (error as? SealError)?.code.name }
        return nil
    }

    @Test("the literal frame of the page: both signatures, as a second implementation would make them")
    func literal() throws {
        let (old, new, peer) = (try key(1), try key(33), PeerID(try key(101).did))
        let statement = MoveStatement(from: old, to: new, for: peer, at: 1_795_308_854_766)
        try statement.verify(for: [peer])
        let json = RekeyFrame.statement(statement).json
        #expect(json["type"] == "bellwire:rekey")
        let fields = try #require(json["payload"]?.object)
        #expect(fields["old"]?.string == old.did && fields["new"]?.string == new.did)
        #expect(try RekeyFrame(decoding: fields) == .statement(statement))
        // Computed with Python's `cryptography`.
        #expect(new.did == "did:key:z6Mkv4fhuJNepggTLQ4LtYSsiYFayjovLj1fpKMeqe9ss2Gw")
        #expect(
            fields["oldSignature"]?.string
                == "3zy-7AcskOwXn6ffRcHqST7C3a5fYNFOlbQ_xB_0Jy51M4Lvu3BG8Cu_NmOnhO0qi2EpgLRZDamhC1MlXJxADg")
        #expect(
            fields["newSignature"]?.string
                == "T2YwFJa3QEkMJAkBW6lvA1k3Sym1c3P9kdXssNoZP95lI2uX_WlmOug98wxeJedzxjW8uPcpnWaxg-oD6hPUCg")
    }

    @Test("an answer, read and written")
    func answers() throws {
        for accept in [true, false] {
            let frame = RekeyFrame.answer(new: "did:key:zNew", isAccepted: accept)
            #expect(try RekeyFrame(decoding: frame.json["payload"]?.object ?? [:]) == frame)
        }
    }

    @Test("whatever is cut, swapped, signed by one key or stated to another peer is refused by name")
    func refused() throws {
        let (old, new, other) = (try key(1), try key(33), try key(65))
        let peer = PeerID(try key(101).did)
        let good = MoveStatement(from: old, to: new, for: peer, at: 5).fields
        func verdict(_ changes: JSONObject, removing: String? = nil, for own: PeerID? = nil) -> String? {
            var fields = good
            fields.merge(changes)
            if let removing { fields[removing] = nil }
            return code { try MoveStatement(decoding: fields).verify(for: [own ?? peer]) }
        }
        #expect(verdict([:]) == nil)
        for member in ["old", "new", "peer", "timestamp", "oldSignature", "newSignature"] {
            #expect(verdict([:], removing: member) == "malformed", "\(member)")
            for wrong: JSONValue in [.null, .bool(true), .integer(-1), .string(""), .string("x"), .array([])] {
                #expect(verdict([member: wrong]) != nil, "\(member)")
            }
            if case .string(let text)? = good[member] {
                #expect(verdict([member: .string(String(text.dropLast()))]) != nil, "\(member)")
                #expect(verdict([member: .string(text + String(repeating: "x", count: 100_000))]) != nil, "\(member)")
            }
        }
        let bySelf = MoveStatement(from: old, to: old, for: peer, at: 5).fields
        #expect(verdict(["newSignature": bySelf["newSignature"]]) == "forged")
        #expect(verdict(["newSignature": good["oldSignature"]]) == "forged")
        #expect(verdict(["oldSignature": good["newSignature"]]) == "forged")
        let byOther = MoveStatement(from: other, to: new, for: peer, at: 5).fields
        #expect(verdict(["oldSignature": byOther["oldSignature"]]) == "forged")
        #expect(verdict(["timestamp": 6]) == "forged")
        #expect(verdict(["new": .string(other.did)]) == "forged")
        #expect(verdict([:], for: PeerID(other.did)) == "misaddressed")
        #expect(verdict(["peer": .string(other.did)]) == "misaddressed")
        #expect(verdict(bySelf) == "malformed")
        #expect(
            code { try MoveStatement(from: old, to: try key(101), for: peer, at: 5).verify(for: [peer]) } == "malformed"
        )
        // A low-order point is not a key.
        let weak = PublicKey(bytes: [UInt8](repeating: 0, count: 32))
        #expect(weak == nil)
        for fields: JSONObject in [[:], ["v": 2], ["v": 1], ["v": 1, "accept": 1], ["v": 1, "accept": true]] {
            #expect(code { _ = try RekeyFrame(decoding: fields) } == "malformed")
        }
        for stored: JSONValue in [.bool(false), .null, .integer(1), .string("true")] {
            #expect(code { _ = try RekeyFrame(decoding: ["v": 1, "new": "x", "stored": stored]) } == "malformed")
        }
        for frame: RekeyFrame in [.answer(new: peer, isAccepted: false), .stored(new: peer)] {
            #expect(try RekeyFrame(decoding: frame.json["payload"]?.object ?? [:]) == frame)
        }
    }
}
