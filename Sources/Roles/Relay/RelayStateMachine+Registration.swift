internal import Transport

extension RelayStateMachine {
    /// A `register` frame.
    ///
    /// The id goes to the connection at once if it is free. The owner of an unproved id is first asked for a sign of
    /// life: if it answers, it stays the owner (Wire, "Who owns an id"). An id that was ever proved needs a proof.
    mutating func register(
        _ bytes: UnsafeRawBufferPointer, _ envelope: Envelope, from id: ConnectionID, at moment: Moment
    ) -> FrameAction {
        guard !envelope.peerID.isAbsent else { return refuse(id, .missingPeerID, at: moment) }
        guard let name = name(in: bytes, envelope.peerID) else { return refuse(id, .badPeerID, at: moment) }
        guard isAllowed(name) else { return refuse(id, .notAllowed, at: moment) }
        // Of two registers the later one counts.
        connections[id.slot].pending = nil
        if envelope.bellwire.kind == .number || !envelope.proof.isAbsent {
            return registerProving(name, bytes, envelope, from: id, at: moment)
        }
        guard !needsProof(name) else { return refuse(id, .proofRequired, at: moment) }
        var actions: [Action] = []
        let device = Device(bytes, envelope)
        let peer = name.withUnsafeBytes { peers.findOrInsert($0, at: moment) }
        guard mayNameCode(peer, id, at: moment) else {
            forgetIfIdle(peer)
            return refuse(id, .rateLimited, at: moment)
        }
        guard mayHold(peer, id) else {
            forgetIfIdle(peer)
            return refuse(id, .tooManyAliases, at: moment)
        }
        // Asking again does not make the owner's time start again.
        if connections[id.slot].claims == peer { return .none }
        // One frame that makes up to hundreds: all who know the peer hear of it.
        charge(id, Self.registrationCost, at: moment)
        withdrawClaim(of: id)
        if isClustered, peers.registration(of: peer) == nil {
            forgetIfIdle(peer)
            return .perform([claim(name, device, for: id, isProved: false)])
        }
        contend(for: peer, id, device, at: moment, &actions)
        return .perform(actions)
    }

    /// A free id is the connection's; the owner of another one is asked for a sign of life.
    ///
    /// - Parameter isReconnect: another relay has given it up.
    mutating func contend(
        for peer: Int, _ id: ConnectionID, _ device: Device, isReconnect: Bool = false, at moment: Moment,
        _ actions: inout [Action]
    ) {
        switch peers.presence(of: peer) {
        case .absent:
            grant(peer, to: id, device, isReconnect: isReconnect, at: moment, &actions)
        case .online(let owner) where owner.connection == id, .contested(let owner, _) where owner.connection == id:
            // Again from the owner itself: still the one registration, nobody needs to hear of it.
            actions.append(.send(to: id, RelayFrame.registered(owner, isReconnect: true, at: moment)))
            deliver(peer, to: owner, at: moment, &actions)
        case .online(let owner):
            let claim = Claim(id: nextClaim, newcomer: id, device: device)
            nextClaim += 1
            peers.setPresence(.contested(owner, claim), of: peer)
            connections[id.slot].claims = peer
            actions.append(.probe(owner.connection, peer: peer, claim: claim.id))
        case .contested(let owner, var claim):
            // The owner is being asked already. The newest newcomer waits for the answer.
            refuseClaim(of: claim.newcomer, peer, at: moment, &actions)
            claim.newcomer = id
            claim.device = device
            peers.setPresence(.contested(owner, claim), of: peer)
            connections[id.slot].claims = peer
        }
    }

    /// The owner of a contested id has answered, or has not.
    mutating func probeEnded(_ claim: UInt64, of peer: Int, answered: Bool, at moment: Moment) -> [Action] {
        guard peers.contains(peer), case .contested(let owner, let pending) = peers.presence(of: peer),
            pending.id == claim
        else { return [] }
        var actions: [Action] = []
        if answered {
            refuseClaim(of: pending.newcomer, peer, at: moment, &actions)
            peers.setPresence(.online(owner), of: peer)
            return actions
        }
        settle(evict(owner, from: peer, at: moment, &actions), at: moment, &actions)
        return actions
    }

    /// The deliveries of kept frames up to that one were written to a peer's connection. It must still be the peer's: else they are sent again.
    mutating func written(to id: ConnectionID, peer: Int, through delivery: UInt64) {
        guard isOpen(id), holds(id, peer) else { return }
        let before = absent.frameCount
        absent.written(to: peer, through: delivery)
        counters.delivered += UInt64(before - absent.frameCount)
    }

    /// Ends a registration, if the connection still holds it, and passes the id on to one who waits for it.
    mutating func release(_ peer: Int, heldBy id: ConnectionID, at moment: Moment, _ actions: inout [Action]) {
        settle(vacate(peer, heldBy: id, at: moment), at: moment, &actions)
    }

    /// Gives a free id to a connection. A socket owns one id: it releases the one that it had.
    mutating func grant(
        _ peer: Int, to id: ConnectionID, _ device: Device, isReconnect: Bool, isProved: Bool = false,
        at moment: Moment, _ actions: inout [Action]
    ) {
        let vacancy = assign(
            peer, to: id, device, isReconnect: isReconnect, isProved: isProved, at: moment, &actions)
        settle(vacancy, at: moment, &actions)
    }

    /// Takes an id from its owner. The owner's connection then owns no id: its further frames are refused, and its end
    /// removes no peer.
    mutating func evict(
        _ owner: Registration, from peer: Int, at moment: Moment, _ actions: inout [Action]
    ) -> Vacancy? {
        let vacancy = vacate(peer, heldBy: owner.connection, at: moment)
        disown(owner.connection, at: moment, &actions)
        actions.append(.close(owner.connection, .replaced))
        counters.replaced += 1
        return vacancy
    }

    /// The limit on aliases. A connection that holds one gives it up for the next.
    func mayHold(_ peer: Int, _ id: ConnectionID) -> Bool {
        guard peers.isAlias(peer) else { return true }
        var isReleasing = false
        if case .registered(let held) = connections[id.slot].state {
            isReleasing = peers.registration(of: held)?.aliasNetwork != nil
        }
        return aliases.hasPlace(
            for: PeerAddress.network(of: connections[id.slot].address), releasing: isReleasing)
    }

    /// An id that nobody holds any more, and who waits for it.
    struct Vacancy {
        let peer: Int
        let claim: Claim?
    }

    /// Passes an id to its new owner, that owner's earlier id to the next one, and so on. Peers determine the length of
    /// this chain, so it is a loop, not a recursion.
    ///
    /// - Parameter isMoving: to another relay, so that nobody hears that it has gone.
    mutating func settle(
        _ first: Vacancy?, isMoving: Bool = false, at moment: Moment, _ actions: inout [Action]
    ) {
        var next = first
        while let vacancy = next {
            if let claim = vacancy.claim, mayHold(vacancy.peer, claim.newcomer) {
                connections[claim.newcomer.slot].claims = nil
                next = assign(
                    vacancy.peer, to: claim.newcomer, claim.device, isReconnect: true, isProved: false, at: moment,
                    &actions)
            } else {
                if let claim = vacancy.claim {
                    refuseClaim(of: claim.newcomer, vacancy.peer, .tooManyAliases, at: moment, &actions)
                }
                if isClustered { actions.append(.left(peers.name(of: vacancy.peer))) }
                if !isMoving { announce(vacancy.peer, nil, at: moment, &actions) }
                forgetIfIdle(vacancy.peer)
                next = nil
            }
        }
    }

    /// Returns the id that the connection had before.
    private mutating func assign(
        _ peer: Int, to id: ConnectionID, _ device: Device, isReconnect: Bool, isProved: Bool, at moment: Moment,
        _ actions: inout [Action]
    ) -> Vacancy? {
        var vacancy: Vacancy?
        var isSecond = false
        switch connections[id.slot].state {
        case .closed: preconditionFailure("an id for a connection that is closed")
        case .unregistered(let address): doorkeeper.left(address)
        case .registered(let first) where isSecondID(peer, beside: first):
            isSecond = true
            if let second = connections[id.slot].second { vacancy = vacate(second, heldBy: id, at: moment) }
        case .registered(let first): vacancy = vacate(first, heldBy: id, at: moment)
        }
        let aliasNetwork = peers.isAlias(peer) ? PeerAddress.network(of: connections[id.slot].address) : nil
        if let aliasNetwork { aliases.came(from: aliasNetwork) }
        let registration = Registration(
            connection: id, name: peers.name(of: peer), device: device, registeredAt: moment.epoch,
            provedAt: isProved ? proved.since(peers.name(of: peer)) ?? moment.epoch : nil, aliasNetwork: aliasNetwork)
        if isSecond {
            connections[id.slot].second = peer
        } else {
            connections[id.slot].state = .registered(peer: peer)
        }
        connections[id.slot].lastTarget = -1
        peers.setPresence(.online(registration), of: peer)
        counters.registeredPeers += 1
        counters.registrations += 1
        actions.append(.send(to: id, RelayFrame.registered(registration, isReconnect: isReconnect, at: moment)))
        deliver(peer, to: registration, at: moment, &actions)
        announce(peer, registration, at: moment, &actions)
        if isClustered { came(peer, &actions) }
        return vacancy
    }

    /// Makes an id free, if the connection still holds it.
    mutating func vacate(_ peer: Int, heldBy id: ConnectionID, at moment: Moment) -> Vacancy? {
        let vacancy: Vacancy
        let registration: Registration
        switch peers.presence(of: peer) {
        case .absent: return nil
        case .online(let owner):
            guard owner.connection == id else { return nil }
            registration = owner
            vacancy = Vacancy(peer: peer, claim: nil)
        case .contested(let owner, let claim):
            guard owner.connection == id else { return nil }
            registration = owner
            vacancy = Vacancy(peer: peer, claim: claim)
        }
        counters.registeredPeers -= 1
        if let network = registration.aliasNetwork { aliases.left(network) }
        absent.deliveryEnded(for: peer)
        peers.setPresence(.absent(since: moment.monotonic), of: peer)
        return vacancy
    }

    /// Sends stored frames, oldest first; sealed ones only if the id was proved.
    mutating func deliver(
        _ peer: Int, to registration: Registration, at moment: Moment, _ actions: inout [Action]
    ) {
        let isProved = registration.isProved
        guard let delivery = absent.takeForDelivery(to: peer, isProved: isProved, at: moment) else { return }
        let id = registration.connection
        for frame in delivery.frames {
            let message = RelayFrame.offlineMessage(frame.bytes, storedAt: frame.storedAt.epoch, at: moment)
            actions.append(.send(to: id, message))
        }
        actions.append(.awaitWritten(id, peer: peer, through: delivery.number))
    }

    /// A deployed phone that once tried WebRTC registers `mobile-` and 8 digits beside its DID, on the same connection, and
    /// its DID never again. It keeps both: frames for either reach it, and what it sends is from its DID.
    private func isSecondID(_ peer: Int, beside first: Int) -> Bool {
        peers.name(of: first).withUnsafeBytes { $0.starts(with: "did:") } && Self.isSecondID(peers.name(of: peer))
    }

    private static func isSecondID(_ name: [UInt8]) -> Bool {
        let prefix = Array("mobile-".utf8)
        return name.count == prefix.count + 8 && name.starts(with: prefix)
            && name.dropFirst(prefix.count).allSatisfy { 0x30...0x39 ~= $0 || 0x61...0x66 ~= $0 }
    }

    private func holds(_ id: ConnectionID, _ peer: Int) -> Bool {
        if case .registered(peer: peer) = connections[id.slot].state { return true }
        return connections[id.slot].second == peer
    }

    /// Takes a connection's ids away: it is as one that has not registered, until it is closed.
    private mutating func disown(_ id: ConnectionID, at moment: Moment, _ actions: inout [Action]) {
        withdrawClaim(of: id)
        let held = [heldFirst(by: id), connections[id.slot].second].compactMap { $0 }
        connections[id.slot].second = nil
        connections[id.slot].state = .unregistered(address: "")
        doorkeeper.came(from: "")
        unregistered.append((id, moment.monotonic &+ limits.registerWithin))
        // One of them is taken already.
        for peer in held { release(peer, heldBy: id, at: moment, &actions) }
    }

    private func heldFirst(by id: ConnectionID) -> Int? {
        if case .registered(let peer) = connections[id.slot].state { peer } else { nil }
    }

    /// The connection no longer waits for an id.
    mutating func withdrawClaim(of id: ConnectionID) {
        guard let peer = connections[id.slot].claims else { return }
        connections[id.slot].claims = nil
        guard case .contested(let owner, let claim) = peers.presence(of: peer), claim.newcomer == id else { return }
        peers.setPresence(.online(owner), of: peer)
    }

    mutating func refuseClaim(
        of newcomer: ConnectionID, _ peer: Int, _ refusal: Refusal = .idTaken, at moment: Moment,
        _ actions: inout [Action]
    ) {
        connections[newcomer.slot].claims = nil
        count(refusal)
        let frame = RelayFrame.error(refusal, peer: peers.name(of: peer), at: moment)
        actions.append(.send(to: newcomer, frame))
    }
}

extension Device {
    init(_ bytes: UnsafeRawBufferPointer, _ envelope: Envelope) {
        let type = UnsafeRawBufferPointer(rebasing: bytes[envelope.deviceType.inner])
        if type.matches("mobile") {
            kind = .mobile
        } else if type.matches("desktop") {
            kind = .desktop
        }
        if envelope.deviceInfo.kind == .object, envelope.deviceInfo.range.count <= Self.maximumInfo {
            info = Array(bytes[envelope.deviceInfo.range])
        }
    }
}
