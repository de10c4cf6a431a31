package import Wire

/// This side's own move to another key (WireRekey, "Overview").
///
/// A pure state machine; `now` is monotonic milliseconds. While it asks, this side keeps its old key. Once every paired
/// peer has approved, the next start takes the new key, and announces it to each peer until that peer says in a session
/// that it has stored the move. So at every moment one of the two keys works with each peer.
package struct OwnMove: Sendable, Equatable {
    package enum Phase: Int64, Sendable {
        /// No move is under way; `timestamp` is the last one's.
        case none = 0
        /// Peers are being asked, by the old key.
        case asking = 1
        /// The new key is in use; some peers have not been reached with it.
        case switched = 2
    }

    package enum Answer: Int64, Sendable {
        case waiting = 0
        case approved = 1
        case declined = 2

        package var name: String {
            switch self {
            case .waiting: "waiting"
            case .approved: "approved"
            case .declined: "declined"
            }
        }
    }

    /// What one peer was told.
    package struct Told: Sendable, Equatable {
        package let peer: PeerID
        /// As it was sent, because the old key is gone after the switch.
        package let statement: MoveStatement
        package internal(set) var answer: Answer
        /// When it is told again.
        var nextAt: UInt64 = 0
        var pause: UInt64 = OwnMove.firstPause

        package init(peer: PeerID, statement: MoveStatement, answer: Answer) {
            (self.peer, self.statement, self.answer) = (peer, statement, answer)
        }
    }

    /// Between two times that a peer is told, in milliseconds; doubled each time, up to ``lastPause``.
    static let firstPause: UInt64 = 5_000
    static let lastPause: UInt64 = 600_000

    package private(set) var phase: Phase
    package let old: PeerID
    package let new: PeerID
    package let timestamp: EpochMilliseconds
    package private(set) var told: [Told]

    package init(phase: Phase, old: PeerID, new: PeerID, timestamp: EpochMilliseconds, told: [Told] = []) {
        (self.old, self.new, self.timestamp, self.told) = (old, new, timestamp, told)
        self.phase = phase == .switched && told.isEmpty ? .none : phase
    }

    package var isAsking: Bool { phase == .asking }
    package var isSwitched: Bool { phase == .switched }

    package func told(_ peer: PeerID) -> Told? { told.first { $0.peer == peer } }

    /// Every paired peer has approved: the next start takes the new key.
    package func isReady(_ peers: [PeerID]) -> Bool {
        isAsking && peers.allSatisfy { told($0)?.answer == .approved }
    }

    /// A peer that is to be told what this statement says.
    package mutating func tell(_ peer: PeerID, _ statement: MoveStatement) {
        guard isAsking, told(peer) == nil else { return }
        told.append(Told(peer: peer, statement: statement, answer: .waiting))
    }

    /// The peer has another key itself, so the statement is made for that. What it has answered still counts.
    package mutating func restate(_ statement: MoveStatement) {
        guard isAsking, let index = told.firstIndex(where: { $0.peer == statement.peer }) else { return }
        told[index] = Told(peer: statement.peer, statement: statement, answer: told[index].answer)
    }

    /// Peers that are to be told now: those that have not answered, or after the switch those that were not reached.
    package mutating func due(now: UInt64) -> [Told] {
        var due: [Told] = []
        for index in told.indices where told[index].nextAt <= now && isOpen(told[index]) {
            told[index].nextAt = now &+ told[index].pause
            told[index].pause = min(told[index].pause &* 2, Self.lastPause)
            due.append(told[index])
        }
        return due
    }

    /// When ``due(now:)`` has something next.
    package var deadline: UInt64? { told.lazy.filter(isOpen).map(\.nextAt).min() }

    /// A connection is new, or a peer has come: it is told soon.
    package mutating func hasten(_ peer: PeerID? = nil) {
        for index in told.indices where peer == nil || told[index].peer == peer {
            told[index].nextAt = 0
            told[index].pause = Self.firstPause
        }
    }

    private func isOpen(_ told: Told) -> Bool {
        switch phase {
        case .none: false
        case .asking: told.answer == .waiting
        case .switched: true
        }
    }

    /// A peer's user has decided. `false`: it changes nothing. An approval is final, because the switch may follow.
    package mutating func answered(_ peer: PeerID, new: PeerID, isAccepted: Bool) -> Bool {
        guard isAsking, new == self.new, let index = told.firstIndex(where: { $0.peer == peer }),
            told[index].answer == .waiting
        else { return false }
        told[index].answer = isAccepted ? .approved : .declined
        return true
    }

    /// The peer has stored the new key, and says so in a session of that. `false`: it was reached before.
    package mutating func reached(_ peer: PeerID) -> Bool {
        guard isSwitched, told(peer) != nil else { return false }
        forget(peer)
        return true
    }

    /// The peer was unpaired.
    package mutating func forget(_ peer: PeerID) {
        told.removeAll { $0.peer == peer }
        if isSwitched, told.isEmpty { phase = .none }
    }

    /// The peer has another key itself. What was stated to its old one counts for the new one.
    package mutating func moved(_ peer: PeerID, to successor: PeerID) {
        guard let index = told.firstIndex(where: { $0.peer == peer }) else { return }
        told[index] = Told(peer: successor, statement: told[index].statement, answer: told[index].answer)
    }

    /// The same move, stated anew to those who have not approved it.
    package func restated(at timestamp: EpochMilliseconds) -> OwnMove {
        OwnMove(
            phase: .asking, old: old, new: new, timestamp: timestamp, told: told.filter { $0.answer == .approved })
    }

    /// `false`: there is nothing to cancel.
    package mutating func cancel() -> Bool {
        guard isAsking else { return false }
        phase = .none
        told = []
        return true
    }

    /// The new key is in use from now on.
    package mutating func switchOver() {
        guard isAsking else { return }
        phase = told.isEmpty ? .none : .switched
    }
}
