package import Transport

/// What a relay asks of the others that it works with. Nothing here calls back at once, unless it says so.
@EventLoop
package protocol RelayCluster: AnyObject {
    /// A connection wants the id. `then` once, also when the others can't be asked.
    func claim(_ name: [UInt8], isProved: Bool, then: @escaping @EventLoop (ClaimAnswer) -> Void)

    /// The id is held here now: by its first connection, or by another one.
    func came(_ name: [UInt8])

    /// Nobody here holds it any more.
    func left(_ name: [UInt8])

    /// Something more is kept here for it.
    func kept(_ name: [UInt8])

    /// Somebody here may hear of it, and it is not here.
    func watch(_ name: [UInt8])

    /// Offers a frame to the others. If none takes it, ``Relay/notTaken(_:keeps:)`` is called.
    func send(_ frame: TransitFrame)
}

/// For the other relays.
extension Relay {
    /// How an id is held.
    package struct Hold: Sendable {
        package let isProved: Bool
        package let whereabouts: Whereabouts
    }

    func claim(_ name: [UInt8], _ id: ConnectionID, _ claim: UInt64, isProved: Bool) {
        hooks.cluster?.claim(name, isProved: isProved) { [weak self] answer in
            guard let self, !isStopping else { return }
            perform(machine.claimed(name, by: id, claim: claim, answer, at: now()))
            // The connection may have gone while it waited.
            if machine.holder(of: name) == nil { hooks.cluster?.left(name) }
        }
    }

    package func hold(of name: [UInt8]) -> Hold? {
        machine.holder(of: name).map {
            Hold(
                isProved: $0.isProved, whereabouts: Whereabouts(device: $0.device, registeredAt: $0.registeredAt))
        }
    }

    /// Epoch milliseconds.
    package var epoch: Int64 { now().epoch }

    /// The longest frame that peers get, in bytes.
    package var maximumFrame: Int { machine.limits.frameBytes }

    /// All ids that are held here.
    package var held: [[UInt8]] {
        machine.peers.indices.filter { machine.peers.registration(of: $0) != nil }.map { machine.peers.name(of: $0) }
    }

    /// Whether the connection that holds the id gives a sign of life. `false` at once if none does.
    package func probe(_ name: [UInt8], then: @escaping @EventLoop (Bool) -> Void) {
        guard let holder = machine.holder(of: name), let socket = socket(of: holder.connection) else {
            return EventLoop.post { then(false) }
        }
        socket.ping(within: options.admission.takeoverWithin, then: then)
    }

    /// How long ``probe(_:then:)`` takes at most, in milliseconds.
    package var probeTime: UInt64 { options.admission.takeoverWithin }

    /// The id belongs to a connection at another relay now.
    package func evict(_ name: [UInt8]) { perform(machine.evict(name, at: now())) }

    package enum Delivery: Sendable {
        case refused
        /// It is with the connection of the id's holder. `isMutual`: both peers have sent each other something.
        case taken(isMutual: Bool)
    }

    /// Passes a frame of another relay's peer on.
    package func deliver(_ bytes: [UInt8], from sender: [UInt8], to name: [UInt8], isSealed: Bool) -> Delivery {
        guard
            let arrival = machine.arrived(
                from: sender, to: name, count: bytes.count, isSealed: isSealed, at: now()),
            let socket = socket(of: arrival.connection), bytes.withUnsafeBytes({ socket.send($0) })
        else { return .refused }
        return .taken(isMutual: arrival.isMutual)
    }

    /// Whether a contact of the id is here, and the id is not.
    package func isWatched(_ name: [UInt8]) -> Bool { machine.isWatched(name) }

    /// Another relay says that it has the id, or (`nil`) none has it.
    package func seen(_ name: [UInt8], _ whereabouts: Whereabouts?) {
        perform(machine.seen(name, whereabouts, at: now()))
    }

    /// Whether frames for the id are with the cluster, which has not said what has become of them. Until then further ones
    /// go there as well, behind them, and are not kept before them.
    package func setInTransit(_ name: [UInt8], _ isInTransit: Bool) {
        if isInTransit { machine.peers.inTransit.insert(name) } else { machine.peers.inTransit.remove(name) }
    }

    /// Nothing is read from the connection until ``resumeReading(of:)``: it sends faster than others take it.
    package func pauseReading(of id: ConnectionID) { socket(of: id)?.pauseReading() }

    package func resumeReading(of id: ConnectionID) { socket(of: id)?.resumeReading() }

    /// No other relay has taken the frame.
    ///
    /// - Parameter keeps: whether it can be taken later.
    package func notTaken(_ frame: TransitFrame, keeps: Bool) {
        perform(machine.notElsewhere(frame, keeps: keeps, at: now()))
    }

    // MARK: Kept frames

    /// A frame that was kept at some relay.
    package struct Kept: Sendable, Equatable {
        package var bytes: [UInt8]
        /// Epoch milliseconds.
        package var storedAt: Int64
        package var isSealed: Bool
        /// Its name at the relay that keeps it.
        package var sequence: Int64 = 0

        package init(bytes: [UInt8], storedAt: Int64, isSealed: Bool) {
            (self.bytes, self.storedAt, self.isSealed) = (bytes, storedAt, isSealed)
        }
    }

    /// Ids that frames are kept for, and that are not held here.
    package var waiting: [[UInt8]] { machine.waiting }

    /// Whether anything is kept here for it.
    package func isKeeping(for name: [UInt8]) -> Bool {
        name.withUnsafeBytes { machine.peers.find($0) }.map { !machine.absent.isEmpty(for: $0) } ?? false
    }

    /// What is kept here for an id that another relay has, oldest first; then call ``keptEnded(for:_:written:)``.
    package func takeKept(for name: [UInt8], isProved: Bool) -> (delivery: UInt64, frames: [Kept])? {
        defer { archiveChanges() }
        guard let taken = machine.takeKept(for: name, isProved: isProved, at: now()) else { return nil }
        let frames = taken.frames.map { frame in
            var kept = Kept(bytes: frame.bytes, storedAt: frame.storedAt.epoch, isSealed: frame.isSealed)
            kept.sequence = frame.sequence
            return kept
        }
        return (taken.number, frames)
    }

    /// - Parameter written: the sequences of the frames that are with the peer's connection.
    package func keptEnded(for name: [UInt8], _ delivery: UInt64, written: Set<Int64>) {
        perform(machine.keptEnded(for: name, delivery: delivery, written: written, at: now()))
    }

    /// Passes a frame on that another relay has kept. `then` says whether the peer's connection has it, once.
    package func deliver(_ kept: Kept, to name: [UInt8], then: @escaping @EventLoop (Bool) -> Void) {
        guard let holder = machine.holder(of: name), holder.isProved || !kept.isSealed,
            kept.bytes.count + RelayFrame.maximumOfflineWrapping <= machine.limits.frameBytes,
            let socket = socket(of: holder.connection)
        else { return EventLoop.post { then(false) } }
        let frame = RelayFrame.offlineMessage(kept.bytes, storedAt: kept.storedAt, at: now())
        guard frame.withUnsafeBytes({ socket.send($0) }) else { return EventLoop.post { then(false) } }
        socket.whenDrained(then)
    }
}
