import Identity
import JSON

/// An id is a public key, and a peer that registers it can prove that it has the private key (Wire, "Proof of an id").
extension RelayStateMachine {
    /// How long a nonce stands, in milliseconds.
    static let challengeAge: UInt64 = 10_000
    /// How long an id that was proved here for the first time counts for its network, in milliseconds.
    static let freshAge: Int64 = 24 * 60 * 60 * 1_000
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
        return .perform(remember(name, Device(bytes, envelope), from: id, at: moment))
    }

    /// A new proof is kept before anyone hears of it: else the id would be anyone's after a crash.
    private mutating func remember(
        _ name: [UInt8], _ device: Device, from id: ConnectionID, at moment: Moment
    ) -> [Action] {
        counters.proved += 1
        switch proved.insertion(of: name) {
        case .known: return proceed(name, device, from: id, at: moment)
        case .full: return [.cannotRemember(isNetworkFull: false)] + proceed(name, device, from: id, at: moment)
        case .new:
            guard countProof(of: id, at: moment) else {
                return [.cannotRemember(isNetworkFull: true)] + proceed(name, device, from: id, at: moment)
            }
            proved.insert(name, at: moment.epoch)
            fallthrough
        case .unsaved:
            let claim = nextClaim
            nextClaim += 1
            connections[id.slot].pending = PendingRegistration(
                number: claim, name: name, device: device, isProved: true)
            return [.remember(name, by: id, claim: claim)]
        }
    }

    /// The id is kept for good, or could not be: then it is kept for as long as this relay runs, and its next proof
    /// tries again.
    mutating func remembered(
        _ name: [UInt8], by id: ConnectionID, claim: UInt64, isSaved: Bool = true, at moment: Moment
    ) -> [Action] {
        if isSaved { proved.saved(name) }
        guard isOpen(id), let pending = connections[id.slot].pending, pending.number == claim else { return [] }
        connections[id.slot].pending = nil
        return proceed(name, pending.device, from: id, at: moment)
    }

    /// The proof is remembered as well as it can be here. Other relays must hear of it before anyone else does.
    private mutating func proceed(
        _ name: [UInt8], _ device: Device, from id: ConnectionID, at moment: Moment
    ) -> [Action] {
        guard isClustered else { return takeProved(name, device, from: id, at: moment) }
        return [claim(name, device, for: id, isProved: true)]
    }

    /// One network may have a quarter of the remembered ids new in one day.
    private mutating func countProof(of id: ConnectionID, at moment: Moment) -> Bool {
        guard connections[id.slot].isLimited else { return true }
        return networks.countProof(
            of: connections[id.slot].network, on: Self.day(moment), limit: max(1, proved.limit / 4))
    }

    /// Sends a challenge with a nonce of 32 random bytes, in base64url. An earlier one of the connection is void.
    mutating func challenge(
        _ id: ConnectionID, nonce: String, security: ChannelSecurity, at moment: Moment
    ) -> [Action] {
        guard isOpen(id) else { return [] }
        let binding: [UInt8]?
        switch security {
        case .plain, .proxied: binding = nil
        case .bound(let exporter): binding = exporter
        case .unbound:
            count(.unprovable)
            return [.send(to: id, RelayFrame.error(.unprovable, at: moment))]
        }
        connections[id.slot].challenge = PendingChallenge(
            nonce: nonce, channelBinding: binding, origins: origins, deadline: moment.monotonic &+ Self.challengeAge)
        return [.send(to: id, RelayFrame.challenge(nonce, isBound: security != .proxied))]
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
    mutating func takeProved(
        _ name: [UInt8], _ device: Device, from id: ConnectionID, at moment: Moment
    ) -> [Action] {
        var actions: [Action] = []
        withdrawClaim(of: id)
        let peer = name.withUnsafeBytes { peers.findOrInsert($0, at: moment) }
        if case .contested(let owner, let claim) = peers.presence(of: peer) {
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
            connection: id, name: name, device: device, registeredAt: owner.registeredAt,
            provedAt: proved.since(name) ?? moment.epoch)
        peers.setPresence(.online(registration), of: peer)
        actions.append(.send(to: id, RelayFrame.registered(registration, isReconnect: true, at: moment)))
        deliver(peer, to: registration, at: moment, &actions)
        if isClustered { came(peer, &actions) }
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
