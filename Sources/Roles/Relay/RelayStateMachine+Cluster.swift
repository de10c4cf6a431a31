/// The part that other relays have in what this one decides. None of it happens unless ``isClustered``.
extension RelayStateMachine {
    /// Registers the connection when the other relays have agreed. Of two claims of one connection the later one counts.
    mutating func claim(_ name: [UInt8], _ device: Device, for id: ConnectionID, isProved: Bool) -> Action {
        let number = nextClaim
        nextClaim += 1
        connections[id.slot].pending = PendingRegistration(
            number: number, name: name, device: device, isProved: isProved)
        return .claim(name, by: id, claim: number, isProved: isProved)
    }

    /// The other relays have answered a claim.
    mutating func claimed(
        _ name: [UInt8], by id: ConnectionID, claim: UInt64, _ answer: ClaimAnswer, at moment: Moment
    ) -> [Action] {
        guard isOpen(id), let pending = connections[id.slot].pending, pending.number == claim else { return [] }
        connections[id.slot].pending = nil
        let refusal: Refusal
        switch answer {
        case .free, .left:
            guard isAllowed(name) else {
                refusal = .notAllowed
                break
            }
            if pending.isProved { return takeProved(name, pending.device, from: id, at: moment) }
            guard !needsProof(name) else {
                refusal = .proofRequired
                break
            }
            let peer = name.withUnsafeBytes { peers.findOrInsert($0, at: moment) }
            guard mayHold(peer, id) else {
                forgetIfIdle(peer)
                refusal = .tooManyAliases
                break
            }
            var actions: [Action] = []
            contend(for: peer, id, pending.device, isReconnect: answer == .left, at: moment, &actions)
            return actions
        case .taken: refusal = .idTaken
        case .proofRequired: refusal = .proofRequired
        }
        count(refusal)
        return [.send(to: id, RelayFrame.error(refusal, peer: name, at: moment))]
    }

    /// Who holds the id here.
    func holder(of name: [UInt8]) -> Registration? {
        name.withUnsafeBytes { peers.find($0) }.flatMap { peers.registration(of: $0) }
    }

    /// The id now belongs to a connection at another relay.
    mutating func evict(_ name: [UInt8], at moment: Moment) -> [Action] {
        guard let peer = name.withUnsafeBytes({ peers.find($0) }), let owner = peers.registration(of: peer) else {
            return []
        }
        var actions: [Action] = []
        peers.elsewhere[peer] = Whereabouts(device: owner.device, registeredAt: moment.epoch)
        if case .contested(_, let claim) = peers.presence(of: peer) {
            refuseClaim(of: claim.newcomer, peer, at: moment, &actions)
            peers.setPresence(.online(owner), of: peer)
        }
        settle(evict(owner, from: peer, at: moment, &actions), isMoving: true, at: moment, &actions)
        return actions
    }

    // MARK: Frames

    /// No other relay has taken it: keeps it, unless it could never be passed on, and tells the sender.
    mutating func notElsewhere(_ frame: TransitFrame, keeps: Bool = true, at moment: Moment) -> [Action] {
        var actions: [Action] = []
        let target = frame.target.withUnsafeBytes { peers.findOrInsert($0, at: moment) }
        if keeps, frame.bytes.count + RelayFrame.maximumOfflineWrapping <= limits.frameBytes,
            keep(frame, for: target, at: moment)
        {
            actions.append(.kept(frame.target))
            // It may have come to this relay in the meantime.
            if let registration = peers.registration(of: target) {
                deliver(target, to: registration, at: moment, &actions)
            }
        }
        forgetIfIdle(target)
        counters.peerOffline += 1
        guard isOpen(frame.connection), holds(frame.connection, frame.sender) else { return actions }
        let answer = frame.messageType.withUnsafeBytes { type in
            (frame.messageID ?? []).withUnsafeBytes { id in
                RelayFrame.peerOffline(
                    frame.target, messageID: frame.messageID == nil ? nil : id, messageType: type, at: moment)
            }
        }
        return [.send(to: frame.connection, answer)] + actions
    }

    private func holds(_ id: ConnectionID, _ name: [UInt8]) -> Bool {
        guard case .registered(let peer) = connections[id.slot].state else { return false }
        return peers.name(of: peer) == name
    }

    /// It counts for its sender, although that may have gone.
    private mutating func keep(_ frame: TransitFrame, for target: Int, at moment: Moment) -> Bool {
        guard frame.isFresh else {
            let sender = frame.sender.withUnsafeBytes { peers.findOrInsert($0, at: moment) }
            // Else nothing would ever forget the sender.
            for forgotten in acquaintances.meet(sender, target, from: nil) where forgotten != target {
                forgetIfIdle(forgotten)
            }
            defer { forgetIfIdle(sender) }
            return keep(
                frame.bytes, of: .proved(sender), isSealed: frame.isSealed, for: target, sequence: frame.sequence,
                at: moment)
        }
        let network = networks.came(from: frame.address)
        defer { networks.left(network, isCounted: absent.holds(network) || acquaintances.holds(network)) }
        return keep(
            frame.bytes, of: .network(network), isSealed: frame.isSealed, for: target, sequence: frame.sequence,
            at: moment)
    }

    /// A frame came from another relay. Returns the connection that it is for, and whether both peers have now sent each
    /// other something; `nil` = it is not to be had here.
    ///
    /// - Parameter count: its bytes; longer frames are never sent.
    mutating func arrived(
        from sender: [UInt8], to name: [UInt8], count: Int = 0, isSealed: Bool, at moment: Moment
    ) -> (connection: ConnectionID, isMutual: Bool)? {
        guard let target = name.withUnsafeBytes({ peers.find($0) }), let owner = peers.registration(of: target),
            owner.isProved || !isSealed, count <= limits.frameBytes
        else { return nil }
        let other = sender.withUnsafeBytes { peers.findOrInsert($0, at: moment) }
        if !peers.isAlias(other), !peers.isAlias(target) {
            // All that other relays send counts as one network: their own limits are for its parts.
            let network = networks.came(from: Self.otherRelays)
            for forgotten in acquaintances.meet(other, target, from: network) where forgotten != target {
                forgetIfIdle(forgotten)
            }
            networks.left(network, isCounted: absent.holds(network) || acquaintances.holds(network))
        }
        let isMutual = acquaintances.areMutual(other, target)
        forgetIfIdle(other)
        counters.forwarded += 1
        return (owner.connection, isMutual)
    }

    private static let otherRelays = "other relays"

    // MARK: Presence

    /// An id is held here: its holder may be told of its contacts at other relays.
    mutating func came(_ peer: Int, _ actions: inout [Action]) {
        peers.elsewhere[peer] = nil
        actions.append(.came(peers.name(of: peer)))
        for other in acquaintances.mutual(of: peer) where peers.registration(of: other) == nil {
            actions.append(.watch(peers.name(of: other)))
        }
    }

    /// Where a peer is online, here or elsewhere.
    func whereabouts(of peer: Int) -> Whereabouts? {
        guard let registration = peers.registration(of: peer) else { return peers.elsewhere[peer] }
        return Whereabouts(device: registration.device, registeredAt: registration.registeredAt)
    }

    /// Whether a contact of the id is here, and the id is not.
    func isWatched(_ name: [UInt8]) -> Bool {
        guard let peer = name.withUnsafeBytes({ peers.find($0) }), peers.registration(of: peer) == nil else {
            return false
        }
        return acquaintances.mutual(of: peer).contains { peers.registration(of: $0) != nil }
    }

    /// Another relay says that it has the id, or (`nil`) none has it.
    mutating func seen(_ name: [UInt8], _ whereabouts: Whereabouts?, at moment: Moment) -> [Action] {
        guard let peer = name.withUnsafeBytes({ peers.find($0) }), peers.registration(of: peer) == nil,
            (peers.elsewhere[peer] == nil) != (whereabouts == nil)
        else { return [] }
        var whereabouts = whereabouts
        if let info = whereabouts?.device.info, !Device.isInfo(info) { whereabouts?.device.info = [] }
        peers.elsewhere[peer] = whereabouts
        // From now on it counts as absent, for when it is forgotten.
        if whereabouts == nil { peers.setPresence(.absent(since: moment.monotonic), of: peer) }
        let frame = RelayFrame.peerStatus(name, whereabouts?.device, at: moment)
        let watchers = acquaintances.mutual(of: peer).compactMap { peers.registration(of: $0) }
        forgetIfIdle(peer)
        return watchers.map { .send(to: $0.connection, frame) }
    }

    // MARK: Kept frames

    /// The ids that frames are kept for, and that are not held here.
    var waiting: [[UInt8]] {
        peers.indices.filter { !absent.isEmpty(for: $0) && peers.registration(of: $0) == nil }.map {
            peers.name(of: $0)
        }
    }

    /// What is kept for an id that another relay has, oldest first.
    mutating func takeKept(for name: [UInt8], isProved: Bool, at moment: Moment) -> AbsentStore.Delivery? {
        guard let peer = name.withUnsafeBytes({ peers.find($0) }), peers.registration(of: peer) == nil else {
            return nil
        }
        defer { forgetIfIdle(peer) }
        return absent.takeForDelivery(to: peer, isProved: isProved, at: moment)
    }

    /// The other relay has written these frames of a delivery of ``takeKept(for:isProved:at:)`` to the peer's connection.
    mutating func keptEnded(
        for name: [UInt8], delivery: UInt64, written: Set<Int64>, at moment: Moment
    ) -> [Action] {
        guard let peer = name.withUnsafeBytes({ peers.find($0) }) else { return [] }
        let before = absent.frameCount
        absent.deliveryEnded(for: peer, number: delivery, written: written)
        counters.delivered += UInt64(before - absent.frameCount)
        var actions: [Action] = []
        // It may have come to this relay in the meantime.
        if let registration = peers.registration(of: peer) {
            deliver(peer, to: registration, at: moment, &actions)
        }
        forgetIfIdle(peer)
        return actions
    }
}

/// What the other relays say to a claim.
package enum ClaimAnswer: Sendable, Equatable {
    /// Nobody has the id.
    case free
    /// Another relay has given it up.
    case left
    /// A live connection at another relay has it.
    case taken
    /// It was proved at some relay.
    case proofRequired
}

/// A frame on its way to a peer that is not here.
package struct TransitFrame: Sendable {
    package let target: [UInt8]
    package let sender: [UInt8]
    /// As its target gets it.
    package let bytes: [UInt8]
    /// Only for a proved registration.
    package let isSealed: Bool
    /// Whether its target has sent its sender something, too.
    package let isMutual: Bool
    /// See ``Standing/isFresh(at:)``.
    let isFresh: Bool
    package let connection: ConnectionID
    let address: String
    /// For the answer to its sender if no relay takes it, as JSON.
    let messageID: [UInt8]?
    let messageType: [UInt8]
    /// Its place among the stored frames: later ones may be stored before it turns out that no relay takes this one.
    let sequence: Int64
}
