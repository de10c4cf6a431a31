extension RelayStateMachine {
    /// One whole frame of a connection.
    ///
    /// `isTargetClosing`: the connection that ``FrameAction/forward(to:_:)`` named did not take it; its peer counts as
    /// absent.
    mutating func received(
        _ bytes: UnsafeRawBufferPointer, from id: ConnectionID, at moment: Moment, isTargetClosing: Bool = false
    ) -> FrameAction {
        guard isOpen(id) else { return .none }
        if connections[id.slot].isLimited, !isTargetClosing {
            var verdict = connections[id.slot].rate.count(at: moment.monotonic, limit: limits.framesPerSecond)
            // What one connection may not send takes nothing from the others of its network.
            if verdict == .pass, !countOfNetwork(id, 1, at: moment) { verdict = connections[id.slot].rate.refuse() }
            switch verdict {
            case .pass: break
            case .refuse:
                counters.limitedFrames += 1
                return refuse(id, .rateLimited, at: moment)
            case .drop:
                counters.limitedFrames += 1
                return .none
            case .close:
                counters.limitedFrames += 1
                return .perform([.close(id, .tooManyFrames)])
            }
        }
        let envelope: Envelope
        do throws(EnvelopeScanner.Failure) {
            envelope = try EnvelopeScanner.scan(bytes)
        } catch {
            return refuse(id, Refusal(error), at: moment)
        }
        switch FrameType(UnsafeRawBufferPointer(rebasing: bytes[envelope.type.inner])) {
        case .message, .signalling:
            return route(bytes, envelope, from: id, isTargetClosing: isTargetClosing, at: moment)
        case .register: return register(bytes, envelope, from: id, at: moment)
        case .ping: return .perform([.send(to: id, RelayFrame.pong(at: moment))])
        case .pong: return .none
        case .getPeers: return listPeers(for: id, at: moment)
        case .peerStatus: return tellStatus(bytes, envelope, to: id, at: moment)
        case .other: return refuse(id, .unknownType, at: moment)
        }
    }

    private mutating func route(
        _ bytes: UnsafeRawBufferPointer, _ envelope: Envelope, from id: ConnectionID, isTargetClosing: Bool,
        at moment: Moment
    ) -> FrameAction {
        guard case .registered(let sender) = connections[id.slot].state, let from = peers.standing(of: sender)
        else { return refuse(id, .notRegistered, at: moment) }
        guard !envelope.to.isAbsent else { return refuse(id, .missingTo, at: moment) }
        let isMessage = UnsafeRawBufferPointer(rebasing: bytes[envelope.type.inner]).matches("message")
        if isMessage, envelope.payload.isAbsent || envelope.payload.kind == .null {
            return refuse(id, .missingPayload, at: moment)
        }

        let target: Int
        if let known = find(bytes, envelope.to, after: connections[id.slot].lastTarget) {
            target = known
        } else {
            guard let name = name(in: bytes, envelope.to) else { return refuse(id, .badTo, at: moment) }
            target = name.withUnsafeBytes { peers.findOrInsert($0, at: moment) }
        }
        // Who last had a frame from here is no alias, so this looks at few frames.
        if connections[id.slot].lastTarget != target, !isTargetClosing, !mayNameCode(target, id, at: moment) {
            forgetIfIdle(target)
            return refuse(id, .rateLimited, at: moment)
        }
        let frame =
            isMessage
            ? RoutedFrame.message(
                from: from, payload: envelope.payload.range, isSealed: envelope.sealed.kind == .yes,
                timestamp: &timestamp, at: moment)
            : RoutedFrame.whole(bytes, envelope, from: from)
        guard frame.count <= limits.frameBytes else {
            forgetIfIdle(target)
            return refuse(id, .tooLarge, at: moment)
        }
        // A new key is its network's, as if it had proved nothing: anyone can make one after another.
        let isFresh = from.isFresh(at: moment.epoch)
        noteTalk(of: sender, id, to: target, isFresh: isFresh)

        // Wire, "Routing": a sealed message goes only to a proved registration, else it is stored.
        let isSealed = isMessage && envelope.sealed.kind == .yes
        if !isTargetClosing, let holder = peers.standing(of: target), holder.isProved || !isSealed {
            counters.forwarded += 1
            counters.forwardedBytes &+= UInt64(frame.count)
            return .forward(to: holder.connection, frame)
        }
        if isTargetClosing {
            counters.forwarded -= 1
            counters.forwardedBytes &-= UInt64(frame.count)
        }
        let messageID = envelope.messageID.isAbsent ? envelope.id : envelope.messageID
        let canEcho = messageID.kind == .number || messageID.isString && messageID.range.count <= 1_024
        let echoed = canEcho ? UnsafeRawBufferPointer(rebasing: bytes[messageID.range]) : nil
        let messageType = UnsafeRawBufferPointer(rebasing: bytes[envelope.type.range])
        // What is kept for it already goes first, and what is on its way to other relays before that.
        if isClustered, !isTargetClosing, peers.registration(of: target) == nil,
            absent.isEmpty(for: target) || peers.inTransit.contains(peers.name(of: target))
        {
            let transit = TransitFrame(
                target: peers.name(of: target), sender: peers.name(of: sender), bytes: frame.bytes(of: bytes),
                isSealed: isSealed, isMutual: acquaintances.areMutual(sender, target), isFresh: isFresh, connection: id,
                address: connections[id.slot].address, messageID: echoed.map { Array($0) },
                messageType: Array(messageType), sequence: absent.reserveSequence())
            forgetIfIdle(target)
            return .elsewhere(transit)
        }
        let source: AbsentStore.Source = isFresh ? .network(connections[id.slot].network) : .proved(sender)
        let kept =
            frame.count + RelayFrame.maximumOfflineWrapping <= limits.frameBytes
            && keep(frame.bytes(of: bytes), of: source, isSealed: isSealed, for: target, at: moment)
        let isForOthers = isClustered && kept && peers.registration(of: target) == nil
        let more = isForOthers ? [Action.kept(peers.name(of: target))] : []
        counters.peerOffline += 1
        let answer = RelayFrame.peerOffline(
            peers.name(of: target), messageID: echoed, messageType: messageType, at: moment)
        forgetIfIdle(target)
        return .perform([.send(to: id, answer)] + more)
    }

    /// Keeps a frame for a peer that is absent, or has not proved what a sealed message asks of it.
    ///
    /// - Parameter sequence: its place among the others; `nil` = behind them.
    mutating func keep(
        _ frame: [UInt8], of source: AbsentStore.Source, isSealed: Bool, for target: Int, sequence: Int64? = nil,
        at moment: Moment
    ) -> Bool {
        // Nobody who registers an alias later may read what was sent to the code (Wire, "Absent peers").
        guard !peers.isAlias(target),
            absent.keep(frame, for: target, from: source, isSealed: isSealed, sequence: sequence, at: moment)
        else { return false }
        counters.stored += 1
        return true
    }

    /// Whoever sends to an id has talked with it. Aliases of typed codes are nobody's acquaintances.
    @inline(__always)
    private mutating func noteTalk(of sender: Int, _ id: ConnectionID, to target: Int, isFresh: Bool) {
        guard connections[id.slot].lastTarget != target || connections[id.slot].lastVersion != acquaintances.version
        else { return }
        guard !peers.isAlias(sender), !peers.isAlias(target) else { return }
        let network = isFresh ? connections[id.slot].network : nil
        for forgotten in acquaintances.meet(sender, target, from: network) where forgotten != target {
            forgetIfIdle(forgotten)
        }
        // Only a pair that is in the table: an index may come to mean another peer, but not before a pair of the first
        // was forgotten.
        guard acquaintances.know(sender, target) else { return }
        connections[id.slot].lastTarget = target
        connections[id.slot].lastVersion = acquaintances.version
    }

    // MARK: Limits of a network

    @inline(never)
    mutating func countOfNetwork(_ id: ConnectionID, _ frames: Int, at moment: Moment) -> Bool {
        networks.countFrames(
            frames, of: connections[id.slot].network, at: moment.monotonic, limit: limits.framesPerSecondOfNetwork)
    }

    /// Shorter frames are bounded by their number.
    static let largeFrame = 8_192

    /// Counts a large frame's bytes. Returns whether its connection is to be read again only in the next second.
    @inline(never)
    mutating func exceedsBytes(_ count: Int, from id: ConnectionID, at moment: Moment) -> Bool {
        guard isOpen(id), connections[id.slot].isLimited else { return false }
        let isWithin = connections[id.slot].bytes.count(
            count, in: moment.monotonic / 1_000, limit: limits.bytesPerSecond)
        // Both count.
        let isNetworkWithin = networks.countBytes(
            count, of: connections[id.slot].network, at: moment.monotonic, limit: limits.bytesPerSecondOfNetwork)
        return !isWithin || !isNetworkWithin
    }

    /// What was just counted costs that much more, for its connection and its network.
    mutating func charge(_ id: ConnectionID, _ frames: Int, at moment: Moment) {
        connections[id.slot].rate.charge(frames)
        if connections[id.slot].isLimited { _ = countOfNetwork(id, frames, at: moment) }
    }

    /// Whether the connection may name this peer: an alias only so often a minute, else its network could find the codes
    /// that are shown (Wire, "Refusals"). It makes no difference whether the alias is there.
    mutating func mayNameCode(_ peer: Int, _ id: ConnectionID, at moment: Moment) -> Bool {
        guard connections[id.slot].isLimited, peers.isAlias(peer) else { return true }
        let isWithin = networks.countCodeLookup(
            of: connections[id.slot].network, at: moment.monotonic, limit: limits.codeLookupsPerMinute)
        if !isWithin { counters.limitedFrames += 1 }
        return isWithin
    }

    // MARK: Ids in frames

    /// The peer that a field names, if there is one: most often the `last` one again.
    @inline(__always)
    private func find(_ bytes: UnsafeRawBufferPointer, _ field: Envelope.Field, after last: Int) -> Int? {
        guard field.kind == .string else { return nil }
        let name = UnsafeRawBufferPointer(rebasing: bytes[field.inner])
        return peers.isNamed(name, last) ? last : peers.find(name)
    }

    /// The id that a field spells; `nil` for anything but a text of 1 to 256 bytes.
    func name(in bytes: UnsafeRawBufferPointer, _ field: Envelope.Field) -> [UInt8]? {
        guard field.isString else { return nil }
        let inner = UnsafeRawBufferPointer(rebasing: bytes[field.inner])
        // An escape takes at most six times the place of what it spells.
        guard inner.count <= Self.maximumName * 6 else { return nil }
        let name = field.kind == .string ? Array(inner) : JSONText.unescaped(inner)
        return (1...Self.maximumName).contains(name.count) ? name : nil
    }

    mutating func refuse(_ id: ConnectionID, _ refusal: Refusal, at moment: Moment) -> FrameAction {
        count(refusal)
        return .perform([.send(to: id, RelayFrame.error(refusal, at: moment))])
    }

    mutating func count(_ refusal: Refusal) {
        counters.refusedFrames += 1
        counters.refusals[refusal.rawValue] &+= 1
    }
}

extension Refusal {
    fileprivate init(_ failure: EnvelopeScanner.Failure) {
        switch failure {
        case .notAnObject, .syntax, .cut, .trailing: self = .badFrame
        case .tooDeep: self = .tooDeep
        case .duplicateKey: self = .duplicateKey
        }
    }
}
