package import Wire

/// Finds out whether a relay reports absent peers (WireDeployedRelays, "Probes"): after a registration it sends a message
/// to an id that nobody has.
///
/// A pure state machine; times are monotonic milliseconds.
package struct AbsenceProbe: Sendable, Equatable {
    /// How long a relay has to report the id as absent. A later report still counts.
    package static let answerTime: UInt64 = 2_000

    /// How long a report holds for later registrations. Relays store each probe for a day, and one refuses more than a
    /// hundred.
    package static let reportLifetime: UInt64 = 1_800_000

    /// What remains for the next registration.
    package struct Memory: Sendable, Equatable {
        /// An id that nobody has. It stays the same, so that relays store the probes in one queue.
        let target: PeerID
        /// When the relay reported it as absent.
        var reportedAt: UInt64?

        /// With a random id.
        init(using generator: inout some RandomNumberGenerator) {
            let parts = (0..<2).map { _ in String(UInt64.random(in: .min ... .max, using: &generator), radix: 16) }
            target = PeerID("bellwire-probe:" + parts.joined())
        }

        init(target: PeerID) { self.target = target }
    }

    private enum State: Sendable, Equatable {
        case unsent(since: UInt64)
        case sent(answerBy: UInt64)
        case known(AbsenceReporting)
    }

    package private(set) var memory: Memory
    private var state: State

    package init(_ memory: Memory, registeredAt now: UInt64) {
        self.memory = memory
        let holdsUntil = memory.reportedAt?.advanced(by: Self.reportLifetime) ?? 0
        state = now < holdsUntil ? .known(.reports) : .unsent(since: now)
    }

    package var result: AbsenceReporting {
        switch state {
        case .unsent, .sent: .unknown
        case .known(let reporting): reporting
        }
    }

    package var deadline: UInt64? {
        switch state {
        case .unsent(let since): since
        case .sent(let answerBy): answerBy
        case .known: nil
        }
    }

    package enum Action: Sendable, Equatable {
        case send(SignallingFrame)
        /// ``result`` has changed.
        case changed
        case none
    }

    package mutating func deadlineReached(from own: PeerID, now: UInt64) -> Action {
        switch state {
        case .unsent(let since) where now >= since:
            state = .sent(answerBy: now.advanced(by: Self.answerTime))
            return .send(.message(RegistrationProbe.message(to: memory.target, from: own, nonce: 0)))
        case .sent(let answerBy) where now >= answerBy:
            state = .known(.silent)
            return .changed
        case .unsent, .sent, .known: return .none
        }
    }

    /// The relay reports a peer as absent. `nil` = this is not about the probe.
    package mutating func reportedAbsent(_ id: PeerID, now: UInt64) -> Action? {
        guard id == memory.target else { return nil }
        memory.reportedAt = now
        guard state != .known(.reports) else { return Action.none }
        state = .known(.reports)
        return .changed
    }
}
