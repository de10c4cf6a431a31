import Identity
import JSON

/// An id is a public key, and whoever registers it can prove that it holds the private one (Wire, "Proof of an id").
extension RelayStateMachine {
    /// How long a nonce stands, in milliseconds.
    static let challengeAge: UInt64 = 10_000
    /// A longer `proof` is none.
    private static let maximumProof = 2_048

    /// Was the id ever proved here, or is it now? Then it is registered with its proof only.
    func needsProof(_ name: [UInt8]) -> Bool {
        if proved.contains(name) { return true }
        guard let peer = name.withUnsafeBytes({ peers.find($0) }) else { return false }
        return peers.registration(of: peer)?.isProved == true
    }

    /// A register that says `bellwire`: without a proof it gets a challenge, with one it is checked.
    mutating func registerProving(
        _ name: [UInt8], _ bytes: UnsafeRawBufferPointer, _ envelope: Envelope, from id: ConnectionID,
        at moment: Moment
    ) -> FrameAction {
        // A signature to check, or presence to be told to all who know the peer: what many frames cost.
        charge(id, Self.registrationCost, at: moment)
        guard !envelope.proof.isAbsent else {
            guard name.withUnsafeBytes({ $0.starts(with: "did:key:z") }) else {
                return refuse(id, .unprovable, at: moment)
            }
            return .perform([.challenge(id)])
        }
        let challenge = connections[id.slot].challenge
        // Used once, whatever comes of it.
        connections[id.slot].challenge = nil
        if let refusal = refusal(
            of: UnsafeRawBufferPointer(rebasing: bytes[envelope.proof.range]), for: name, challenge, at: moment)
        {
            counters.refusedProofs += 1
            return refuse(id, refusal, at: moment)
        }
        return .perform(takeProved(name, Device(bytes, envelope), from: id, at: moment))
    }

    /// Sends a challenge with a nonce of 32 random bytes, in base64url. An earlier one of the connection is void.
    mutating func challenge(
        _ id: ConnectionID, nonce: String, security: ChannelSecurity, at moment: Moment
    ) -> [Action] {
        guard isOpen(id) else { return [] }
        let binding: [UInt8]?
        switch security {
        case .plain: binding = nil
        case .bound(let exporter): binding = exporter
        case .unbound:
            counters.refusedFrames += 1
            return [.send(to: id, RelayFrame.error(.unprovable, at: moment))]
        }
        connections[id.slot].challenge = PendingChallenge(
            nonce: nonce, channelBinding: binding, origins: origins, deadline: moment.monotonic &+ Self.challengeAge)
        return [.send(to: id, RelayFrame.challenge(nonce))]
    }

    private func refusal(
        of json: UnsafeRawBufferPointer, for name: [UInt8], _ challenge: PendingChallenge?, at moment: Moment
    ) -> Refusal? {
        guard let challenge, moment.monotonic < challenge.deadline else { return .badNonce }
        guard json.count <= Self.maximumProof, let proof = RegistrationProof(json) else { return .badProof }
        let refusal = proof.refusal(
            peerID: String(decoding: name, as: UTF8.self), nonce: challenge.nonce,
            channelBinding: challenge.channelBinding
        ) { challenge.origins.contains(Array($0.utf8)) }
        return switch refusal {
        case nil: nil
        case .noKey: .unprovable
        case .wrongNonce: .badNonce
        case .wrongOrigin: .badOrigin
        case .wrongSignature: .badProof
        }
    }

    /// The id is the connection's own: whoever held it, unproved or by an older connection, is evicted without a word.
    private mutating func takeProved(
        _ name: [UInt8], _ device: Device, from id: ConnectionID, at moment: Moment
    ) -> [Action] {
        counters.proved += 1
        var actions: [Action] = []
        switch proved.insert(name) {
        case .known: break
        case .new: actions.append(.remember(name))
        case .full: actions.append(.cannotRemember)
        }
        withdrawClaim(of: id)
        let peer = name.withUnsafeBytes { peers.findOrInsert($0, at: moment) }
        if case .contested(let owner, let claim) = peers[peer].presence {
            refuseClaim(of: claim.newcomer, peer, .proofRequired, at: moment, &actions)
            peers.setPresence(.online(owner), of: peer)
        }
        guard let owner = peers.registration(of: peer) else {
            grant(peer, to: id, device, isReconnect: false, isProved: true, at: moment, &actions)
            return actions
        }
        guard owner.connection == id else {
            // No connection claims it any more, so there is no new owner.
            _ = evict(owner, from: peer, at: moment, &actions)
            grant(peer, to: id, device, isReconnect: true, isProved: true, at: moment, &actions)
            return actions
        }
        // It held the id already: still the one registration, now proved, and what was kept for that is let go.
        let registration = Registration(
            connection: id, name: name, device: device, registeredAt: owner.registeredAt, isProved: true)
        peers.setPresence(.online(registration), of: peer)
        actions.append(.send(to: id, RelayFrame.registered(registration, isReconnect: true, at: moment)))
        deliver(peer, to: registration, at: moment, &actions)
        return actions
    }
}

extension RegistrationProof {
    /// Reads the `proof` of a register; `nil` unless all three are texts.
    fileprivate init?(_ json: UnsafeRawBufferPointer) {
        guard let object = (try? JSONValue(parsing: json))?.object, let nonce = object["nonce"]?.string,
            let origin = object["origin"]?.string, let signature = object["signature"]?.string
        else { return nil }
        self.init(nonce: nonce, origin: origin, signature: signature)
    }
}
