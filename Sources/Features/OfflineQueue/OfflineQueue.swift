package import JSON
package import Wire

/// The commands that wait for their desktops: at most 100, in the order in which they were given.
///
/// A pure state machine over what the store holds (``QueueTable``). Each event is one mutating method that gives what has
/// changed; the caller writes that in the transaction in which it has read the queue, so the table is always the truth.
/// Moments are epoch milliseconds.
///
/// pending → sending → done (leaves the queue) | failed (stays until ``retry(_:now:)`` or ``clear(before:)``). A desktop
/// has one command in `sending` at a time, so that they arrive in order. A failed one lets those behind it pass.
package struct OfflineQueue: Sendable, Equatable {
    /// With more the oldest pending one gives way.
    package static let limit = 100
    /// After so many without an answer a command has failed.
    package static let tries = 3
    /// How long a command stays valid, in milliseconds (WireMessages, "Repeated and late commands").
    package static let lifetime: EpochMilliseconds = 24 * 60 * 60 * 1_000

    /// In order, the oldest first.
    package private(set) var commands: [QueuedCommand]

    package init(_ commands: [QueuedCommand] = []) { self.commands = commands }

    /// What to write, and what to report after the write.
    package struct Change: Sendable, Equatable {
        package enum Write: Sendable, Equatable {
            /// Behind all others.
            case insert(QueuedCommand)
            case update(QueuedCommand)
            case remove(RequestID)
        }

        package var writes: [Write] = []
        package var ends: [QueueEnd] = []
        /// Why nothing was done.
        package var refusal: Refusal?

        package init() {}

        package var isEmpty: Bool { writes.isEmpty && ends.isEmpty }

        /// What came of a further event.
        package mutating func append(_ other: Change) {
            writes += other.writes
            ends += other.ends
        }
    }

    package subscript(id: RequestID) -> QueuedCommand? { commands.first { $0.id == id } }

    /// Is something still to be sent there? Then what comes now has to come after it.
    package func isBusy(with desktop: PeerID) -> Bool { commands.contains { $0.desktop == desktop && !$0.isFailed } }

    /// The command to send now: the oldest pending one, if no other is being sent to that desktop.
    package func next(for desktop: PeerID) -> QueuedCommand? {
        let waiting = commands.filter { $0.desktop == desktop && !$0.isFailed }
        guard let first = waiting.first, !waiting.contains(where: \.isSending) else { return nil }
        return first
    }

    /// Whether ``expire(now:)`` would do something.
    package func hasExpired(now: ExpiryMoment) -> Bool {
        commands.contains { $0.isPending && now.hasPassed($0.expiresAt) }
    }

    /// When the first pending one is too old; `nil` = never.
    package var nextExpiry: EpochMilliseconds? { commands.lazy.filter(\.isPending).map(\.expiresAt).min() }

    // MARK: In

    /// Takes a command in. What it makes needless leaves; a full queue loses its oldest pending one, else its oldest
    /// failed one.
    package mutating func add(_ command: QueuedCommand) -> Change {
        guard self[command.id] == nil else { return Change() }
        var change = Change()
        for old in commands where old.desktop == command.desktop && !old.isSending {
            guard let rest = Supersession.rest(of: old, after: command) else {
                end(old, .superseded(by: command.id), &change)
                continue
            }
            if rest != old { replace(rest, &change) }
        }
        while commands.count >= Self.limit {
            let oldest = commands.first(where: \.isPending) ?? commands.first(where: \.isFailed)
            guard let oldest else { break }
            end(oldest, .displaced, &change)
        }
        commands.append(command)
        change.writes.append(.insert(command))
        return change
    }

    // MARK: Out

    /// It is on its way. Empty when it is not pending any more.
    package mutating func begin(_ id: RequestID) -> Change {
        var change = Change()
        guard var command = self[id], command.isPending else { return change }
        command.state = .sending
        command.tries += 1
        replace(command, &change)
        return change
    }

    /// The desktop has answered: it leaves, or its next part waits.
    package mutating func answered(_ id: RequestID, _ result: JSONObject) -> Change {
        var change = Change()
        guard let command = self[id] else { return change }
        let (rest, result) = command.answered(result)
        if let rest { replace(rest, &change) } else { end(command, .done(result), &change) }
        return change
    }

    /// The desktop refuses it, now and later.
    package mutating func refused(_ id: RequestID, _ failure: QueueFailure) -> Change {
        var change = Change()
        guard let command = self[id], command.isSending else { return change }
        fail(command, failure, &change)
        return change
    }

    /// It came back without an answer, and will be sent again, under its id; after three tries it has failed.
    ///
    /// - Parameter counts: `false` = the connection or the desktop was not there, which is no try.
    package mutating func unanswered(_ id: RequestID, _ failure: QueueFailure, counts: Bool) -> Change {
        var change = Change()
        guard var command = self[id], command.isSending else { return change }
        if counts, command.tries >= Self.tries {
            fail(command, failure, &change)
        } else {
            if !counts { command.tries = max(0, command.tries - 1) }
            command.state = .pending
            replace(command, &change)
        }
        return change
    }

    /// This desktop has no notification commands (WireDeployedPeers, "The desktop app"): everything that waits for it
    /// has failed.
    package mutating func failAll(of desktop: PeerID, _ failure: QueueFailure) -> Change {
        var change = Change()
        for command in commands where command.desktop == desktop && command.isPending {
            fail(command, failure, &change)
        }
        return change
    }

    /// What is too old has failed.
    package mutating func expire(now: ExpiryMoment) -> Change {
        var change = Change()
        for command in commands where command.isPending && now.hasPassed(command.expiresAt) {
            fail(command, .expired, &change)
        }
        return change
    }

    /// After a start: what was under way is sent again, and the interrupted try does not count.
    package mutating func recover() -> Change {
        var change = Change()
        for var command in commands where command.isSending {
            command.state = .pending
            command.tries = max(0, command.tries - 1)
            replace(command, &change)
        }
        return change
    }

    // MARK: The host's

    package enum Refusal: Sendable, Equatable {
        case notFound
        /// It is under way.
        case sending
    }

    private func refusal(to change: RequestID) -> Refusal? {
        guard let command = self[change] else { return .notFound }
        return command.isSending ? .sending : nil
    }

    /// A failed one waits again, as if new, at its old place. `nil` = all failed ones.
    package mutating func retry(_ id: RequestID?, now: EpochMilliseconds) -> Change {
        var change = Change()
        change.refusal = id.flatMap { refusal(to: $0) }
        for var command in commands where command.isFailed && (id == nil || command.id == id) {
            command.state = .pending
            command.tries = 0
            command.expiresAt = now.addingReportingOverflow(Self.lifetime).partialValue
            replace(command, &change)
        }
        return change
    }

    /// Takes one out. One that was sent before may have been carried out.
    package mutating func remove(_ id: RequestID) -> Change {
        var change = Change()
        change.refusal = refusal(to: id)
        if change.refusal == nil, let command = self[id] { end(command, .removed, &change) }
        return change
    }

    /// Takes out the failed ones that were given before that moment. `nil` = all failed ones.
    package mutating func clear(before moment: EpochMilliseconds?) -> Change {
        var change = Change()
        for command in commands where command.isFailed && (moment.map { command.createdAt < $0 } ?? true) {
            end(command, .removed, &change)
        }
        return change
    }

    /// The desktop was unpaired.
    package mutating func forget(_ desktop: PeerID) -> Change {
        var change = Change()
        for command in commands where command.desktop == desktop { end(command, .removed, &change) }
        return change
    }

    // MARK: Pieces

    private mutating func replace(_ command: QueuedCommand, _ change: inout Change) {
        guard let index = commands.firstIndex(where: { $0.id == command.id }) else { return }
        commands[index] = command
        change.writes.append(.update(command))
    }

    private mutating func fail(_ command: QueuedCommand, _ failure: QueueFailure, _ change: inout Change) {
        var command = command
        command.state = .failed(failure)
        replace(command, &change)
        change.ends.append(QueueEnd(command, .failed(failure)))
    }

    private mutating func end(_ command: QueuedCommand, _ outcome: QueueEnd.Outcome, _ change: inout Change) {
        commands.removeAll { $0.id == command.id }
        change.writes.append(.remove(command.id))
        change.ends.append(QueueEnd(command, outcome))
    }
}

extension OfflineQueue {
    /// For the state of a host: `{"count","pending","sending","failed"}`.
    package var summary: JSONObject {
        [
            "count": .integer(Int64(commands.count)),
            "pending": .integer(Int64(commands.count(where: \.isPending))),
            "sending": .integer(Int64(commands.count(where: \.isSending))),
            "failed": .integer(Int64(commands.count(where: \.isFailed))),
        ]
    }
}
