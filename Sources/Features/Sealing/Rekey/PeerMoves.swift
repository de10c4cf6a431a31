package import Wire

/// A peer's move to another key, as far as this side has come with it.
package struct PeerMove: Sendable, Equatable {
    package enum State: Int64, Sendable {
        /// The user is being asked.
        case asked = 1
        case approved = 2
        case declined = 3
    }

    package let old: PeerID
    package let new: PeerID
    /// Our id for which the statement was made. We may have another one when the move is announced.
    package let receiver: PeerID
    package let timestamp: EpochMilliseconds
    package internal(set) var state: State

    package init(old: PeerID, new: PeerID, receiver: PeerID, timestamp: EpochMilliseconds, state: State) {
        self.old = old
        self.new = new
        self.receiver = receiver
        self.timestamp = timestamp
        self.state = state
    }
}

/// The moves of peers to other keys (WireRekey, "Approval" and "Switch").
///
/// A pure state machine: statements come in verified, decisions are written to the store by the caller. For each peer it
/// keeps the newest statement, and beside it one that was approved before: an owner may have switched already when a newer
/// statement comes from a copy of the old key.
package struct PeerMoves: Sendable, Equatable {
    package enum Decision: Sendable, Equatable {
        /// Ask the user. The older question, if there is one, is void.
        case ask(PeerMove, replacing: PeerMove?)
        /// The user has decided: say it again.
        case repeatAnswer(PeerMove)
        /// The user is being asked already.
        case wait
    }

    /// What of the other peers decides whether a key may be moved to.
    package struct Context {
        package let isPaired: (PeerID) -> Bool
        package let isRevoked: (PeerID) -> Bool
        /// By our clock.
        package let now: EpochMilliseconds

        package init(
            now: EpochMilliseconds, isPaired: @escaping (PeerID) -> Bool, isRevoked: @escaping (PeerID) -> Bool
        ) {
            self.now = now
            self.isPaired = isPaired
            self.isRevoked = isRevoked
        }
    }

    /// So far a statement may be ahead of our clock, in milliseconds. A later one would outlive each that follows.
    package static let clockTolerance: EpochMilliseconds = 24 * 60 * 60 * 1_000

    /// At most two for each paired peer.
    package private(set) var moves: [PeerMove]

    package init(_ moves: [PeerMove] = []) { self.moves = moves }

    /// The questions that no user has answered, oldest first.
    package var questions: [PeerMove] { moves.filter { $0.state == .asked } }

    /// The key to which a peer may move at any moment.
    package func successors(of peer: PeerID) -> [PeerID] {
        moves.filter { $0.old == peer && $0.state == .approved }.map(\.new)
    }

    /// A paired peer has stated a move, in a session. Throws `replayed` for an older statement than the newest that was not declined, `early` for
    /// one that is more than a day ahead, and `conflicting_move` for a second one of the same time, or a key that another peer has or moves to.
    package mutating func stated(_ statement: MoveStatement, _ context: Context) throws(SealError) -> Decision {
        let (old, new) = (statement.old, statement.new)
        guard statement.timestamp <= context.now &+ Self.clockTolerance else {
            throw SealError(.early, "a move to another key was stated more than a day ahead of this clock")
        }
        if let index = moves.firstIndex(where: { $0.old == old && $0.new == new }) {
            let known = moves[index]
            guard known.timestamp <= statement.timestamp else {
                throw SealError(.replayed, "a move to another key was stated before a newer one")
            }
            switch known.state {
            case .asked: return .wait
            case .approved: return .repeatAnswer(known)
            case .declined:
                guard known.timestamp < statement.timestamp else { return .repeatAnswer(known) }
                moves.remove(at: index)
            }
        }
        // A declined move is ignored here: it may come from a copy of the old key, and have a later time than the owner's.
        let newest = moves.lazy.filter { $0.old == old && $0.state != .declined }.map(\.timestamp).max()
        guard newest.map({ $0 <= statement.timestamp }) ?? true else {
            throw SealError(.replayed, "a move to another key was stated before a newer one")
        }
        guard newest != statement.timestamp, !context.isPaired(new), !context.isRevoked(new),
            !moves.contains(where: { $0.new == new && $0.old != old })
        else { throw SealError(.conflictingMove, "a move leads to a key that is in use, or was") }
        let replaced = moves.first { $0.old == old && $0.state != .approved }
        // Of two that were approved the older one goes.
        let approved = moves.lazy.filter { $0.old == old && $0.state == .approved }.map(\.timestamp).max()
        moves.removeAll { $0.old == old && ($0.state != .approved || $0.timestamp != approved) }
        let move = PeerMove(
            old: old, new: new, receiver: statement.peer, timestamp: statement.timestamp, state: .asked)
        moves.append(move)
        return .ask(move, replacing: replaced?.state == .asked ? replaced : nil)
    }

    /// The user has decided. `nil` = nothing asks that: it was answered, or a newer statement came.
    package mutating func answered(_ peer: PeerID, to new: PeerID, accept: Bool) -> PeerMove? {
        guard let index = moves.firstIndex(where: { $0.old == peer && $0.new == new && $0.state == .asked }) else {
            return nil
        }
        moves[index].state = accept ? .approved : .declined
        return moves[index]
    }

    /// The owner announces under its new key that it has switched. `nil` = the user has not approved that.
    package func announced(_ statement: MoveStatement) -> PeerMove? {
        moves.first {
            $0.old == statement.old && $0.new == statement.new && $0.state == .approved
        }
    }

    /// An approved move that was made could not be stored.
    package mutating func restore(_ move: PeerMove) {
        moves.removeAll { $0.old == move.old && $0.new == move.new }
        moves.append(move)
    }

    /// The peer was unpaired or revoked, or has moved. Gives the keys that it might have moved to.
    @discardableResult
    package mutating func forget(_ peer: PeerID) -> [PeerID] {
        let gone = moves.filter { $0.old == peer }.map(\.new)
        moves.removeAll { $0.old == peer }
        return gone
    }
}

extension SealError.Code {
    /// A move to a key that another peer has or moves to, or a second one at the same time.
    package static var conflictingMove: Self { SealError.Code("conflicting_move") }
    /// A statement whose timestamp is more than a day ahead.
    package static var early: Self { SealError.Code("early") }
    /// More statements than a move needs.
    package static var tooManyStatements: Self { SealError.Code("too_many_statements") }
}
