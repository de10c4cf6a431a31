import Testing

@testable import Identity

@Suite struct RegistrationProofTests {
    private let key: SigningKey
    private let nonce = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
    private let origin = "ws://192.168.1.5:9001"
    private let exporter = [UInt8](repeating: 0xff, count: 32)

    init() throws { key = try SigningKey.generate() }

    private func refusal(
        _ proof: RegistrationProof, peerID: String? = nil, nonce: String? = nil, exporter: [UInt8]? = nil,
        origins: Set<String>? = nil
    ) -> RegistrationProof.Refusal? {
        proof.refusal(
            peerID: peerID ?? key.did, nonce: nonce ?? self.nonce, channelBinding: exporter,
            isOwnOrigin: (origins ?? [origin]).contains)
    }

    @Test("what is signed is literally the protocol's text, with the exporter over TLS")
    func literal() {
        #expect(
            RegistrationProof.message(origin: "wss://r:1", peerID: "did:key:zA", nonce: "N", channelBinding: nil)
                == "bellwire-register-v1\nwss://r:1\ndid:key:zA\nN")
        #expect(
            RegistrationProof.message(origin: "wss://r:1", peerID: "did:key:zA", nonce: "N", channelBinding: exporter)
                == "bellwire-register-v1\nwss://r:1\ndid:key:zA\nN\n__________________________________________8")
    }

    @Test("the owner of a key proves its id, with and without TLS")
    func proved() {
        for exporter in [nil, exporter] {
            let proof = RegistrationProof(signing: nonce, origin: origin, channelBinding: exporter, with: key)
            #expect(refusal(proof, exporter: exporter) == nil)
            #expect(proof.nonce == nonce && proof.origin == origin)
        }
    }

    @Test("another nonce, origin, id or connection proves nothing, and says which it was")
    func refused() throws {
        let proof = RegistrationProof(signing: nonce, origin: origin, channelBinding: nil, with: key)
        let other = try SigningKey.generate()
        #expect(refusal(proof, nonce: "BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA") == .wrongNonce)
        #expect(refusal(proof, nonce: "") == .wrongNonce)
        #expect(refusal(proof, origins: ["ws://evil:9001"]) == .wrongOrigin)
        #expect(refusal(proof, peerID: other.did) == .wrongSignature)
        #expect(refusal(proof, peerID: "desktop-1") == .noKey)
        #expect(refusal(proof, exporter: exporter) == .wrongSignature)
        let bound = RegistrationProof(signing: nonce, origin: origin, channelBinding: exporter, with: key)
        #expect(refusal(bound) == .wrongSignature)
        #expect(refusal(bound, exporter: [UInt8](repeating: 0xfe, count: 32)) == .wrongSignature)
    }

    @Test("a hostile relay that passes our challenge on gets a proof of its own origin, which is no good here")
    func relayed() {
        let atEvil = RegistrationProof(signing: nonce, origin: "ws://evil:9001", channelBinding: nil, with: key)
        #expect(refusal(atEvil) == .wrongOrigin)
        let renamed = RegistrationProof(nonce: nonce, origin: origin, signature: atEvil.signature)
        #expect(refusal(renamed) == .wrongSignature)
    }

    @Test("an empty or wild signature or nonce proves nothing, and nothing traps")
    func wild() {
        let good = RegistrationProof(signing: nonce, origin: origin, channelBinding: nil, with: key)
        for signature in ["", "A", "=", String(good.signature.dropLast(2)), String(repeating: "A", count: 100_000)] {
            #expect(refusal(.init(nonce: nonce, origin: origin, signature: signature)) == .wrongSignature)
        }
        #expect(refusal(.init(nonce: "", origin: origin, signature: good.signature), nonce: "") == .wrongNonce)
        // The same text, cut in another way.
        let cut = RegistrationProof(nonce: nonce, origin: "\(origin)\nx", signature: good.signature)
        #expect(refusal(cut, origins: ["\(origin)\nx"]) == .wrongOrigin)
    }
}
