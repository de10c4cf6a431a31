package import Store
package import Wire

/// The stored state of the seal, inside one piece of work of the store: this side's starts, and which frames of each
/// peer have come (WireSealing, "Replay protection").
package struct SealStates {
    package static let migrations =
        [
            Migration(
                "sealing.1",
                sql: """
                    CREATE TABLE seal_start (
                        only INTEGER PRIMARY KEY CHECK (only = 1),
                        epoch INTEGER NOT NULL
                    ) STRICT;
                    CREATE TABLE seal_window (
                        peer TEXT PRIMARY KEY NOT NULL,
                        window BLOB NOT NULL
                    ) STRICT, WITHOUT ROWID;
                    """)
        ] + SealPeers.migrations + RevokedKeys.migrations + MoveTables.migrations

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// Begins a start: its epoch, higher than any before. Nothing is to be sealed with it before this is committed.
    ///
    /// The clock's time if that is ahead, so that peers still accept what is sealed after the file was lost or replaced by
    /// an old copy; otherwise one more than the last. If the file is lost after a start with a clock in the future, peers
    /// refuse what is sealed until they pair again (WireSealing, "Replay protection").
    package func begin(now: EpochMilliseconds) throws(StoreError) -> Int64 {
        let last = try connection.first("SELECT epoch FROM seal_start") { (row) throws(StoreError) in
            try row.integer(0)
        }
        let epoch: Int64
        if let last {
            guard last > 0, last < Int64.max else {
                throw StoreError(.mismatch, "the stored start counter is damaged")
            }
            // A directory that was put back from a copy may have begun these starts before.
            epoch = max(last + 1, min(now, Int64.max / 2))
        } else {
            // Far from the end, whatever the clock says.
            epoch = min(max(1, now), Int64.max / 2)
        }
        try connection.execute(
            "INSERT INTO seal_start (only, epoch) VALUES (1, ?) ON CONFLICT (only) DO UPDATE SET epoch = excluded.epoch",
            [.integer(epoch)])
        return epoch
    }

    /// All windows, for the ``Sealer`` of this start.
    package func windows() throws(StoreError) -> [PeerID: ReplayWindow] {
        let rows = try connection.query("SELECT peer, window FROM seal_window") { (row) throws(StoreError) in
            (PeerID(try row.text(0)), try Self.window(try row.blob(1)))
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// `nil` for a peer of whom nothing was saved.
    package func window(of peer: PeerID) throws(StoreError) -> ReplayWindow? {
        try connection.first("SELECT window FROM seal_window WHERE peer = ?", [.text(peer.text)]) {
            (row) throws(StoreError) in
            try Self.window(try row.blob(0))
        }
    }

    /// Records that a frame came. `false` if it had an effect before: then this one is to have none.
    ///
    /// For peers that are paired, or are being paired in this transaction: each takes a kilobyte.
    @discardableResult
    package func save(_ mark: SealMark) throws(StoreError) -> Bool {
        if mark.isOfSession { return true }
        var window = try window(of: mark.peer) ?? ReplayWindow()
        guard window.record(epoch: mark.epoch, seq: mark.seq) else { return false }
        try store(window, of: mark.peer)
        return true
    }

    /// The peer is paired by the frame of this mark: what it has sealed before that is void (``ReplayWindow/begin(at:)``).
    /// In the transaction that stores the pairing.
    package func begin(_ mark: SealMark) throws(StoreError) {
        if mark.isOfSession { return }
        var window = try window(of: mark.peer) ?? ReplayWindow()
        window.begin(at: mark)
        try store(window, of: mark.peer)
    }

    fileprivate func store(_ window: ReplayWindow, of peer: PeerID) throws(StoreError) {
        try connection.execute(
            "INSERT INTO seal_window (peer, window) VALUES (?, ?) ON CONFLICT (peer) DO UPDATE SET window = excluded.window",
            [.text(peer.text), .blob(window.bytes)])
    }

    /// For a peer that will not be paired again. Not when it is unpaired: the keys stay what they are, and whoever kept
    /// its old frames could play them back after the next pairing.
    @discardableResult
    package func forget(_ peer: PeerID) throws(StoreError) -> Bool {
        try connection.execute("DELETE FROM seal_window WHERE peer = ?", [.text(peer.text)]) > 0
    }

    /// Damage is an error, not an empty window: that would take old frames again.
    private static func window(_ bytes: [UInt8]) throws(StoreError) -> ReplayWindow {
        guard let window = ReplayWindow(bytes: bytes) else {
            throw StoreError(.mismatch, "a peer's replay window is damaged")
        }
        return window
    }
}

/// The marks of many frames, in one piece of work: each peer's window is read once and written once.
///
/// ```swift
/// var marks = SealMarks(connection)
/// for frame in frames where try marks.record(frame.mark) { … }
/// try marks.save()
/// ```
package struct SealMarks {
    private struct Peer {
        let id: PeerID
        var window: ReplayWindow
        var isChanged = false
    }

    private let states: SealStates
    /// Few: those of one batch.
    private var peers: [Peer] = []

    package init(_ connection: Connection) { states = SealStates(connection) }

    /// Records that a frame came. `false` if it had an effect before: then this one is to have none.
    package mutating func record(_ mark: SealMark) throws(StoreError) -> Bool {
        if mark.isOfSession { return true }
        let index: Int
        if let known = peers.firstIndex(where: { $0.id == mark.peer }) {
            index = known
        } else {
            index = peers.count
            peers.append(Peer(id: mark.peer, window: try states.window(of: mark.peer) ?? ReplayWindow()))
        }
        guard peers[index].window.record(epoch: mark.epoch, seq: mark.seq) else { return false }
        peers[index].isChanged = true
        return true
    }

    /// Writes what ``record(_:)`` has changed.
    package func save() throws(StoreError) {
        for peer in peers where peer.isChanged { try states.store(peer.window, of: peer.id) }
    }
}
