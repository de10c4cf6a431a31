import JSON
package import Store
package import Wire

/// The tables of moves to other keys, own and of peers, inside one piece of work of the store.
package struct MoveTables {
    static let migrations = [
        Migration(
            "rekey.1",
            sql: """
                CREATE TABLE own_move (
                    only INTEGER PRIMARY KEY CHECK (only = 1),
                    phase INTEGER NOT NULL,
                    old TEXT NOT NULL,
                    new TEXT NOT NULL,
                    at INTEGER NOT NULL
                ) STRICT;
                -- What each peer was told, and has answered.
                CREATE TABLE own_move_peer (
                    peer TEXT PRIMARY KEY NOT NULL,
                    statement TEXT NOT NULL,
                    answer INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE peer_move (
                    old TEXT NOT NULL,
                    new TEXT NOT NULL,
                    -- Our id for which it was stated.
                    receiver TEXT NOT NULL,
                    at INTEGER NOT NULL,
                    state INTEGER NOT NULL,
                    PRIMARY KEY (old, new)
                ) STRICT, WITHOUT ROWID;
                """)
    ]

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    // MARK: The own move

    /// `nil` = this side has never moved. Damage is an error.
    package func own() throws(StoreError) -> OwnMove? {
        let told = try connection.query("SELECT peer, statement, answer FROM own_move_peer ORDER BY peer") {
            (row) throws(StoreError) in
            let statement = try? MoveStatement(decoding: JSONValue(parsing: try row.text(1)).object ?? [:])
            guard let statement, let answer = OwnMove.Answer(rawValue: try row.integer(2)) else {
                throw StoreError(.mismatch, "a stored statement of a move is damaged")
            }
            return OwnMove.Told(peer: PeerID(try row.text(0)), statement: statement, answer: answer)
        }
        return try connection.first("SELECT phase, old, new, at FROM own_move") { (row) throws(StoreError) in
            guard let phase = OwnMove.Phase(rawValue: try row.integer(0)) else {
                throw StoreError(.mismatch, "the stored state of a move is damaged")
            }
            return OwnMove(
                phase: phase, old: PeerID(try row.text(1)), new: PeerID(try row.text(2)),
                timestamp: try row.integer(3), told: told)
        }
    }

    package func save(_ move: OwnMove) throws(StoreError) {
        try connection.execute(
            """
            INSERT INTO own_move (only, phase, old, new, at) VALUES (1, ?, ?, ?, ?) ON CONFLICT (only) DO UPDATE SET
                phase = excluded.phase, old = excluded.old, new = excluded.new, at = excluded.at
            """,
            [
                .integer(move.phase.rawValue), .text(move.old.text), .text(move.new.text), .integer(move.timestamp),
            ])
        try connection.execute("DELETE FROM own_move_peer")
        for told in move.told {
            try connection.execute(
                "INSERT INTO own_move_peer (peer, statement, answer) VALUES (?, ?, ?)",
                [
                    .text(told.peer.text), .text(JSONValue.object(told.statement.fields).serialized()),
                    .integer(told.answer.rawValue),
                ])
        }
    }

    // MARK: Moves of peers

    package func peers() throws(StoreError) -> PeerMoves {
        PeerMoves(
            try connection.query("SELECT old, new, receiver, at, state FROM peer_move ORDER BY at, old, new") {
                (row) throws(StoreError) in
                guard let state = PeerMove.State(rawValue: try row.integer(4)) else {
                    throw StoreError(.mismatch, "the stored state of a peer's move is damaged")
                }
                return PeerMove(
                    old: PeerID(try row.text(0)), new: PeerID(try row.text(1)), receiver: PeerID(try row.text(2)),
                    timestamp: try row.integer(3), state: state)
            })
    }

    /// Replaces what is stored of one peer's moves.
    package func save(_ moves: PeerMoves, of peer: PeerID) throws(StoreError) {
        try connection.execute("DELETE FROM peer_move WHERE old = ?", [.text(peer.text)])
        for move in moves.moves where move.old == peer {
            try connection.execute(
                "INSERT INTO peer_move (old, new, receiver, at, state) VALUES (?, ?, ?, ?, ?)",
                [
                    .text(move.old.text), .text(move.new.text), .text(move.receiver.text),
                    .integer(move.timestamp), .integer(move.state.rawValue),
                ])
        }
    }

    // MARK: Peers

    /// The peer is not paired any more.
    package func forget(_ peer: PeerID) throws(StoreError) {
        try connection.execute("DELETE FROM peer_move WHERE old = ?", [.text(peer.text)])
        try connection.execute("DELETE FROM own_move_peer WHERE peer = ?", [.text(peer.text)])
    }

    /// A peer takes its new key: what the seal keeps of it goes on under that. `false`: this was done before, its user has
    /// not approved it, or no more keys can be refused. In the transaction that moves everything else.
    package func complete(_ move: PeerMove, name: String, at now: EpochMilliseconds) throws(StoreError) -> Bool {
        guard
            try connection.integer(
                "SELECT count(*) FROM peer_move WHERE old = ? AND new = ? AND at = ? AND state = ?",
                [
                    .text(move.old.text), .text(move.new.text), .integer(move.timestamp),
                    .integer(PeerMove.State.approved.rawValue),
                ]) == 1
        else { return false }
        // The old key is not accepted any more, whoever has it. This ends each loop of moves, and each replay.
        guard try RevokedKeys(connection).add(RevokedKey(id: move.old, name: name, at: now, successor: move.new)) else {
            return false
        }
        let ids: [Value] = [.text(move.new.text), .text(move.old.text)]
        try connection.execute("DELETE FROM peer_move WHERE old = ?", [.text(move.old.text)])
        try connection.execute("UPDATE OR REPLACE own_move_peer SET peer = ? WHERE peer = ?", ids)
        // Sessions alone: nothing of version 1 was ever sealed with the new key.
        try connection.execute("UPDATE OR REPLACE seal_peer SET peer = ?, minimum = 2 WHERE peer = ?", ids)
        return true
    }
}
