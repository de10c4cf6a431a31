package import Identity
package import Wire

/// The two peers of a session, as one of them knows them.
package struct SessionPair {
    package enum Role: Sendable, Equatable {
        /// A device: it begins each handshake.
        case initiator
        /// A desktop: it acts on nothing before the device has confirmed the keys.
        case responder
    }

    package let role: Role
    let ownID: PeerID
    let peerID: PeerID
    private let own: AgreementKey
    private let peer: AgreementPublicKey
    private let presharedKey: PresharedKey

    /// - Parameters:
    ///   - own: the X25519 form of our identity, converted once for all peers.
    ///   - presharedKey: of the pairing.
    ///
    /// Throws `no_key` for a peer whose id is not a key, or a weak one.
    package init(
        role: Role, ownID: PeerID, own: AgreementKey, peerID: PeerID, presharedKey: PresharedKey
    ) throws(SealError) {
        guard ownID != peerID, let identity = PublicKey(did: peerID.text) else {
            throw SealError(.noKey, "a session needs a peer whose id is a key")
        }
        do throws(NoiseError) { peer = try AgreementPublicKey(identity) } catch {
            throw SealError(.noKey, "a session needs a peer with a strong key")
        }
        self.role = role
        self.ownID = ownID
        self.peerID = peerID
        self.own = own
        self.presharedKey = presharedKey
    }

    /// Whether the pairing's secret protects the handshake. Otherwise the pair was made before, and the identity keys
    /// alone do.
    package var hasPresharedKey: Bool { presharedKey.isFromPairing }

    /// What a step 1 of someone with the preshared key carries when it was asked for with this nonce.
    func tag(of initiation: HandshakeFrame.Initiation, _ nonce: [UInt8]) -> [UInt8] {
        presharedKey.mac(text(of: initiation, nonce))
    }

    func verifies(_ initiation: HandshakeFrame.Initiation, _ nonce: [UInt8]) -> Bool {
        hasPresharedKey
            && initiation.tag.map { presharedKey.verifies($0, text(of: initiation, nonce)) } ?? false
    }

    private func text(of initiation: HandshakeFrame.Initiation, _ nonce: [UInt8]) -> String {
        let parts = [nonce, initiation.id.bytes, initiation.noise].map { PublicBase64URL.encode($0) }
        return "bellwire-hs-tag-v2\n" + parts.joined(separator: "\n")
    }

    /// Throws `no_key` for an id with a line feed in it.
    func parameters(_ id: SessionID, _ suites: [SessionSuite]) throws(SealError) -> NoiseKKpsk2.Parameters {
        let (initiator, responder) = role == .initiator ? (ownID, peerID) : (peerID, ownID)
        guard
            let prologue = SessionBinding.prologue(
                initiator: initiator, responder: responder, id: id, suites: suites)
        else { throw SealError(.noKey, "a peer's id has a line feed in it") }
        return NoiseKKpsk2.Parameters(own: own, peer: peer, presharedKey: presharedKey, prologue: prologue)
    }
}
