import Identity
import JSON
import TestSupport
import Testing
import Wire

@testable import Sealing

@Suite struct SealerTests {
    private let alice: Party
    private let bob: Party
    private let body: JSONObject = ["type": "chainlesschain:event", "payload": ["event": "x", "title": "Käse ☎"]]

    init() throws {
        alice = try Party()
        bob = try Party()
    }

    private func flip(_ payload: JSONObject, _ field: String, _ index: Int) throws -> JSONObject {
        var inner = try #require(payload["payload"]?.object)
        var bytes = try #require(TextEncoding.base64url.decode(inner[field]?.string ?? ""))
        bytes[index] ^= 1
        inner[field] = .string(TextEncoding.base64url.encode(bytes))
        return ["type": "bellwire:sealed", "payload": .object(inner)]
    }

    @Test("what one seals the other opens, both ways, and nothing of it can be read on the way")
    func roundTrip() throws {
        let (a, b) = (alice.sealer(epoch: 7), bob.sealer())
        let payload = try a.seal(body, to: bob.id, now: 99)
        #expect(payload.keys == ["type", "payload"])
        #expect(payload["payload"]?.object?.keys == ["v", "nonce", "box"])
        #expect(!JSONValue.object(payload).serialized().contains("chainless"))
        let opened = try b.open(payload, from: alice.id)
        #expect(opened.body == body)
        #expect(opened.timestamp == 99)
        #expect(opened.mark == SealMark(peer: alice.id, epoch: 7, seq: 1))
        let answer = try b.seal(["type": "bellwire:hello"], to: alice.id, now: 100)
        #expect(try a.open(#require(answer["payload"]?.object), from: bob.id).body["type"] == "bellwire:hello")
        #expect(a.refused == RefusedFrames() && b.refused == RefusedFrames())
    }

    @Test("every send is sealed anew: another seq, another nonce, another box")
    func anew() throws {
        let (a, b) = (alice.sealer(), bob.sealer())
        let payloads = try (0..<20).map { _ in try a.seal(body, to: bob.id, now: 1) }
        #expect(Set(payloads.map { $0["payload"]?["nonce"]?.string ?? "" }).count == 20)
        #expect(Set(payloads.map { $0["payload"]?["box"]?.string ?? "" }).count == 20)
        #expect(try payloads.reversed().map { try b.open($0, from: alice.id).mark.seq } == Array((1...20).reversed()))
    }

    @Test("a change of any byte of the box or the nonce is refused as forged, and does not spend the frame")
    func tampered() throws {
        let (a, b) = (alice.sealer(), bob.sealer())
        let payload = try a.seal(body, to: bob.id, now: 1)
        var count: UInt64 = 0
        for field in ["nonce", "box"] {
            let size = try #require(TextEncoding.base64url.decode(payload["payload"]?[field]?.string ?? "")).count
            for index in 0..<size {
                let changed = try flip(payload, field, index)
                #expect(b.refusal { _ = try b.open(changed, from: alice.id) } == .forged)
                count += 1
            }
        }
        #expect(b.refused.forged == count)
        #expect(try b.open(payload, from: alice.id).body == body)
    }

    @Test("a frame that is played back is refused, at once, after others, and by the next start with what was saved")
    func replayed() throws {
        let (a, b) = (alice.sealer(), bob.sealer())
        let first = try a.seal(body, to: bob.id, now: 1)
        let mark = try b.open(first, from: alice.id).mark
        #expect(b.refusal { _ = try b.open(first, from: alice.id) } == .replayed)
        _ = try b.open(try a.seal(body, to: bob.id, now: 1), from: alice.id)
        #expect(b.refusal { _ = try b.open(first, from: alice.id) } == .replayed)
        #expect(b.refused.replayed == 2)

        var window = ReplayWindow()
        let isNew = window.record(epoch: mark.epoch, seq: mark.seq)
        #expect(isNew)
        let next = bob.sealer(epoch: 2, windows: [alice.id: window])
        #expect(next.refusal { _ = try next.open(first, from: alice.id) } == .replayed)
        // A sender's new start begins with 1 again, in a new epoch.
        let again = alice.sealer(epoch: 2)
        #expect(try next.open(try again.seal(body, to: bob.id, now: 1), from: alice.id).mark.seq == 1)
    }

    @Test("a frame that is played to another peer, or said to be from another one, is refused")
    func redirected() throws {
        let carol = try Party()
        let (a, b, c) = (alice.sealer(), bob.sealer(), carol.sealer())
        let payload = try a.seal(body, to: bob.id, now: 1)
        #expect(c.refusal { _ = try c.open(payload, from: alice.id) } == .forged)
        #expect(c.refusal { _ = try c.open(payload, from: bob.id) } == .forged)
        #expect(b.refusal { _ = try b.open(payload, from: carol.id) } == .forged)
        #expect(b.refusal { _ = try b.open(payload, from: "pairing-code:123456") } == .forged)
        #expect(b.refusal { _ = try b.open(payload, from: "") } == .forged)
        #expect(try b.open(payload, from: alice.id).body == body)
    }

    @Test("one's own frame that comes back is refused, as the peer's and as one's own")
    func reflected() throws {
        let a = alice.sealer()
        let payload = try a.seal(body, to: bob.id, now: 1)
        #expect(a.refusal { _ = try a.open(payload, from: bob.id) } == .misaddressed)
        #expect(a.refusal { _ = try a.open(payload, from: alice.id) } == .misaddressed)
        #expect(a.refused.misaddressed == 2)
        #expect(a.held.peers == 1)
    }

    @Test("a frame whose inside lies about who says it, or to whom, is refused and spends nothing")
    func lies() throws {
        let carol = try Party()
        let b = bob.sealer()
        let box = try Box(alice.key, with: bob.key.publicKey)
        func payload(_ from: PeerID, _ to: PeerID, seq: Int64 = 1) -> JSONObject {
            let nonce = Identity.randomBytes(24)
            let bytes = SealedPlaintext(from: from, to: to, epoch: 1, seq: seq, timestamp: 1, body: body).bytes
            return SealedEnvelope(nonce: nonce, box: box.seal(bytes, nonce: nonce)).json
        }
        #expect(b.refusal { _ = try b.open(payload(carol.id, bob.id), from: alice.id) } == .misaddressed)
        #expect(b.refusal { _ = try b.open(payload(alice.id, carol.id), from: alice.id) } == .misaddressed)
        #expect(b.refusal { _ = try b.open(payload(bob.id, alice.id), from: alice.id) } == .misaddressed)
        #expect(b.refusal { _ = try b.open(payload(alice.id, bob.id, seq: 0), from: alice.id) } == .malformed)
        #expect(b.refusal { _ = try b.open(payload(alice.id, bob.id, seq: .min), from: alice.id) } == .malformed)
        #expect(try b.open(payload(alice.id, bob.id), from: alice.id).mark.seq == 1)
    }

    @Test("what is no seal is malformed, and counted")
    func malformed() throws {
        let b = bob.sealer()
        let frames: [JSONObject] = [[:], ["type": "pair-ack"], ["v": 1], ["type": "bellwire:sealed", "payload": "x"]]
        for frame in frames { #expect(b.refusal { _ = try b.open(frame, from: alice.id) } == .malformed) }
        #expect(b.refused.malformed == UInt64(frames.count))
    }

    @Test("nothing is sealed to an id that is no key, and nothing that no frame holds")
    func limits() throws {
        let (a, b) = (alice.sealer(), bob.sealer())
        for id: PeerID in ["", "desktop-unknown", "did:key:z6Mk", "pairing-code:123456"] {
            #expect(a.refusal { _ = try a.seal(body, to: id, now: 1) } == .noKey)
        }
        let large: JSONObject = ["type": "x", "payload": .string(String(repeating: "x", count: 737_000))]
        let payload = try a.seal(large, to: bob.id, now: .min)
        #expect(JSONValue.object(payload).serialized().utf8.count < 1_000_000)
        #expect(try b.open(payload, from: alice.id).body == large)
        let larger: JSONObject = ["type": "x", "payload": .string(String(repeating: "x", count: 737_280))]
        #expect(a.refusal { _ = try a.seal(larger, to: bob.id, now: 1) } == .tooLarge)
    }

    @Test("keys and strangers are held within bounds, and no stranger makes a paired peer be forgotten")
    func bounds() throws {
        var limits = Sealer.Limits()
        limits.boxes = 4
        limits.guests = 3
        let b = bob.sealer(limits: limits)
        let first = try alice.sealer().seal(body, to: bob.id, now: 1)
        _ = try b.open(first, from: alice.id)
        b.keep(alice.id)
        _ = try b.seal(body, to: alice.id, now: 1)
        for _ in 0..<20 {
            let stranger = try Party()
            _ = try b.open(try stranger.sealer().seal(body, to: bob.id, now: 1), from: stranger.id)
        }
        #expect(b.held.peers == 4)
        #expect(b.held.boxes == 4)
        #expect(b.refusal { _ = try b.open(first, from: alice.id) } == .replayed)
        // Its key was computed anew; its seq went on.
        let a = alice.sealer()
        #expect(try a.open(try b.seal(body, to: alice.id, now: 1), from: bob.id).mark.seq == 2)
    }

    @Test("a peer that was forgotten and comes back is never sent the same epoch and seq again")
    func seqsAreUnique() throws {
        var limits = Sealer.Limits()
        limits.guests = 2
        let a = alice.sealer(limits: limits)
        let strangers = try (0..<5).map { _ in try Party() }
        let openers = strangers.map { $0.sealer() }
        var generator = SeededGenerator(seed: 1)
        for _ in 0..<200 {
            let index = Int.random(in: 0..<5, using: &generator)
            _ = try openers[index].open(try a.seal(body, to: strangers[index].id, now: 1), from: alice.id)
        }
        #expect(openers.allSatisfy { $0.refused == RefusedFrames() })
    }

    @Test("an error says nothing of what was sealed, nor to whom")
    func discretion() throws {
        let b = bob.sealer()
        let payload = try alice.sealer().seal(["type": "swordfish"], to: bob.id, now: 1)
        _ = try b.open(payload, from: alice.id)
        do {
            _ = try b.open(payload, from: alice.id)
            Issue.record("it was taken twice")
        } catch {
            #expect(!"\(error)".contains("swordfish") && !"\(error)".contains("did:key"))
        }
    }
}
