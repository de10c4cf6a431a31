import Listing
import Notifications
import Store
import Wire

/// Stores pushes in one transaction. Counts and watermarks are written once, by ``finish(hostTakes:)``.
struct PushBatch {
    /// The result of storing one push.
    struct Received {
        var arrival: Inbox.Arrival
        /// For the host; set if it was stored.
        var entry: Inbox.Entry?
        /// The pushes that it replaced, by arrival.
        var replaced: [Int64: NotificationID] = [:]
    }

    /// Changes by one desktop's pushes.
    private struct Desktop {
        let id: PeerID
        let number: Int64
        /// The number through which its pushes are stored; 0 = as before.
        var through: Int64 = 0
        var added: Int64 = 0
        var unread: Int64 = 0
        var lastPushAt: EpochMilliseconds?
    }

    /// The inbox is pruned once per this many rows.
    private static let prunedTogether: Int64 = 64

    private let inbox: Inbox
    private let hostHasSeen: Int64
    /// Programs share the device, and take these pushes by marks of their own (``InboxPrograms``).
    private let isForPrograms: Bool
    /// As stored, except for `last`.
    private(set) var marks: Inbox.Watermarks
    /// See ``NewlyWaiting/droppedThrough``.
    private(set) var droppedThrough: Int64 = 0
    /// The inbox's last row.
    private var row: Int64
    private var desktops: [Desktop] = []
    private var newlyWaiting: Int64 = 0
    /// Set when the inbox has to be pruned.
    private var prunedAt: EpochMilliseconds?

    private var connection: Connection { inbox.connection }

    /// - Parameters:
    ///   - hostHasSeen: callbacks may have seen pushes through this arrival that are not marked as handed over.
    ///   - isShared: programs share the device. Each of them gets every push, those that others replace included.
    init(_ inbox: Inbox, hostHasSeen: Int64, isShared: Bool) throws(StoreError) {
        self.inbox = inbox
        (marks, row) = try inbox.handover.stored()
        isForPrograms = isShared && marks.lowest != nil
        self.hostHasSeen = isForPrograms ? .max : max(hostHasSeen, marks.handed)
    }

    /// ``Inbox/receive(_:from:)``
    ///
    /// - Parameter hintNumber: of a hint, the number that its desktop gave it.
    mutating func receive(
        _ notification: Notification, from desktop: PeerID, hintNumber: Int64? = nil
    ) throws(StoreError) -> Received {
        guard marks.waiting + newlyWaiting < Inbox.waitingLimit else { return Received(arrival: .full) }
        let place = try place(of: desktop)
        let number = desktops[place].number
        if let hintNumber, let key = notification.richer.collapseKey,
            try hasHint(collapsedBy: key, of: number, above: hintNumber)
        {
            return Received(arrival: .duplicate)
        }
        var replaced = try notification.richer.collapseKey.map { (key) throws(StoreError) in
            try rows(collapsedBy: key, of: number, but: notification.id)
        }
        var insertion = try insert(notification, at: place)
        if case .duplicate = insertion {
            switch try settleHint(under: notification, of: number) {
            case .none: return Received(arrival: .duplicate)
            case .confirmed: return Received(arrival: .confirmed)
            case .differs(let hint):
                try delete([hint], of: number)
                replaced = (replaced ?? []) + [hint]
                insertion = try insert(notification, at: place)
            }
        }
        guard case .inserted(let row) = insertion else { return Received(arrival: .duplicate) }
        if let hintNumber {
            try connection.execute(
                "UPDATE inbox SET hint_number = ? WHERE row = ?", [.integer(hintNumber), .integer(row)])
        }
        var entry = Inbox.Entry(row: row, arrival: marks.last, desktop: desktop, notification: notification)
        guard let replaced, !replaced.isEmpty else {
            return Received(arrival: .stored(row: row, replaced: []), entry: entry)
        }
        try delete(replaced, of: number, keepingForPrograms: isForPrograms)
        // A push that replaced an unseen one is still new to the host, which has seen what that one had replaced.
        if let seen = replaced.lazy.compactMap(\.seen).last {
            entry.replaces = seen
            try connection.execute(
                "UPDATE inbox SET replaces = ? WHERE row = ?", [.text(seen.text), .integer(row)])
        }
        var gone: [Int64: NotificationID] = [:]
        for old in replaced where old.arrival > 0 && !keeps(old) { gone[old.arrival] = old.id }
        return Received(
            arrival: .stored(row: row, replaced: replaced.map(\.id)), entry: entry, replaced: gone)
    }

    /// ``Inbox/insert(_:from:)``
    mutating func insert(
        _ notification: Notification, from desktop: PeerID
    ) throws(StoreError) -> Inbox.Insertion {
        let place = try place(of: desktop)
        return try insert(notification, at: place)
    }

    /// A desktop's pushes are stored through this number.
    mutating func note(_ number: Int64, of desktop: PeerID) throws(StoreError) {
        let place = try place(of: desktop)
        desktops[place].through = max(desktops[place].through, number)
    }

    /// Writes counts, numbers and watermarks, and prunes the inbox.
    ///
    /// - Parameters:
    ///   - hostTakes: pushes are handed over as they come, so the host may see these before the next commit.
    ///   - pruning: rows that are too old by this, or by when a push came, are let go.
    mutating func finish(hostTakes: Bool, pruning: EpochMilliseconds = .max) throws(StoreError) {
        for desktop in desktops {
            try connection.execute(
                """
                INSERT INTO push_count (peer, total, unread, last_push_at, last) VALUES (?1, ?2, ?3, ?4, ?5)
                ON CONFLICT (peer) DO UPDATE SET total = total + ?2, unread = unread + ?3,
                    last_push_at = ifnull(?4, last_push_at), last = iif(?5 > 0, ?5, last)
                """,
                [
                    .integer(desktop.number), .integer(desktop.added), .integer(desktop.unread),
                    .optional(desktop.lastPushAt), .integer(desktop.through),
                ])
        }
        guard newlyWaiting > 0 else { return }
        if isForPrograms { return try finishForPrograms(pruning: pruning) }
        if hostTakes, marks.waiting + newlyWaiting <= Inbox.offeredLimit { marks.offered = marks.last }
        try connection.execute(
            "UPDATE push_count SET row = ?, last = ?, offered = max(offered, ?), waiting = waiting + ? WHERE peer = 0",
            [.integer(row), .integer(marks.last), .integer(marks.offered), .integer(newlyWaiting)])
        if let prunedAt { try inbox.prune(now: min(prunedAt, pruning)) }
    }

    /// Nothing of it waits for the host.
    private mutating func finishForPrograms(pruning: EpochMilliseconds) throws(StoreError) {
        try connection.execute(
            "UPDATE push_count SET row = ?2, last = ?1, handed = ?1, offered = ?1, waiting = 0 WHERE peer = 0",
            [.integer(marks.last), .integer(row)])
        if let lowest = marks.lowest {
            droppedThrough = try inbox.programs.dropOldest(last: marks.last, lowest: lowest)
        }
        if let prunedAt { try inbox.prune(now: min(prunedAt, pruning)) }
    }

    // MARK: Rows

    private mutating func insert(
        _ notification: Notification, at place: Int
    ) throws(StoreError) -> Inbox.Insertion {
        let number = desktops[place].number
        let insertion = try inbox.insert(notification, from: number, push: (self.row &+ 1, marks.last + 1))
        let row: Int64
        switch insertion {
        case .inserted(let inserted):
            row = inserted
            self.row = inserted
            desktops[place].added += 1
            if !notification.read { desktops[place].unread += 1 }
            if row % Self.prunedTogether == 0 { prunedAt = notification.receivedAt }
        case .duplicate:
            // The session that brought the history brings the push too. A hint would show what nothing corrects.
            guard !notification.isHint, let promoted = try promote(notification, from: number) else {
                return .duplicate
            }
            row = promoted
        }
        marks.last += 1
        newlyWaiting += 1
        desktops[place].lastPushAt = notification.createdAt
        return .inserted(row: row)
    }

    private mutating func place(of desktop: PeerID) throws(StoreError) -> Int {
        if let place = desktops.firstIndex(where: { $0.id == desktop }) { return place }
        desktops.append(Desktop(id: desktop, number: try inbox.peers.number(of: desktop)))
        return desktops.count - 1
    }

    /// Turns a row of the history into a push.
    private func promote(_ notification: Notification, from desktop: Int64) throws(StoreError) -> Int64? {
        let row = try connection.first(
            "SELECT row FROM inbox WHERE desktop = ? AND id = ? AND arrival = 0",
            [.integer(desktop), .text(notification.id.text)]
        ) { (row) throws(StoreError) in try row.integer(0) }
        guard let row else { return nil }
        try connection.execute(
            "UPDATE inbox SET received_at = ?, late = ?, silenced = ?, arrival = ? WHERE row = ?",
            [
                .integer(notification.receivedAt), .flag(notification.late), .flag(notification.silenced),
                .integer(marks.last + 1), .integer(row),
            ])
        return row
    }

    private struct Replaced {
        let row: Int64
        let arrival: Int64
        let id: NotificationID
        /// The id that the host has seen: its own, or that of a push that it had replaced.
        let seen: NotificationID?
    }

    private func delete(
        _ rows: [Replaced], of desktop: Int64, keepingForPrograms: Bool = false
    ) throws(StoreError) {
        // They may be part of this batch: the trigger subtracts what `finish` adds, so the count needs its row.
        try connection.execute("INSERT OR IGNORE INTO push_count (peer) VALUES (?)", [.integer(desktop)])
        for old in rows {
            if keepingForPrograms, keeps(old) {
                // Nothing replaces it again.
                try connection.execute(
                    "UPDATE inbox SET hidden = 2, collapse_key = NULL WHERE row = ?", [.integer(old.row)])
            } else {
                try connection.execute("DELETE FROM inbox WHERE row = ?", [.integer(old.row)])
            }
        }
    }

    /// Whether a program has not had it, and still gets it.
    private func keeps(_ old: Replaced) -> Bool {
        guard isForPrograms, let lowest = marks.lowest else { return false }
        return old.arrival > lowest
    }

    private enum Hint {
        /// What has its id is no hint.
        case none
        case confirmed
        /// It said something else: the genuine push takes its place.
        case differs(Replaced)
    }

    /// A push has come whose id has a row. If that one is a hint, the push confirms it (WirePrekeys, "Hints").
    private func settleHint(under notification: Notification, of desktop: Int64) throws(StoreError) -> Hint {
        guard !notification.isHint else { return .none }
        let found = try connection.first(
            """
            SELECT row, arrival, CASE WHEN arrival <= ? THEN id ELSE replaces END, hint, \(StoredNotification.columns)
            FROM inbox WHERE desktop = ? AND id = ? AND hint <> 0
            """, [.integer(hostHasSeen), .integer(desktop), .text(notification.id.text)]
        ) { (row) throws(StoreError) in
            let replaced = Replaced(
                row: try row.integer(0), arrival: try row.integer(1), id: notification.id,
                seen: try row.optionalText(2).map(NotificationID.init(_:)))
            return (replaced, try row.integer(3), try StoredNotification.read(row, from: 4))
        }
        guard let (hint, state, stored) = found else { return .none }
        // One that the history has corrected equals the push, but not what the host and the user have seen.
        guard state == 1, stored.event == notification.event else { return .differs(hint) }
        try connection.execute("UPDATE inbox SET hint = 0 WHERE row = ?", [.integer(hint.row)])
        return .confirmed
    }

    /// Push services deliver out of order. What a session has brought is compared by its numbers.
    private func hasHint(
        collapsedBy key: String, of desktop: Int64, above number: Int64
    ) throws(StoreError) -> Bool {
        try connection.integer(
            """
            SELECT count(*) FROM inbox
            WHERE desktop = ? AND collapse_key = ? AND hint <> 0 AND hint_number > ?
            """, [.integer(desktop), .text(key), .integer(number)]) > 0
    }

    private func rows(
        collapsedBy key: String, of desktop: Int64, but id: NotificationID
    ) throws(StoreError) -> [Replaced] {
        try connection.query(
            """
            SELECT row, arrival, id, CASE WHEN arrival <= ? THEN id ELSE replaces END FROM inbox
            WHERE desktop = ? AND collapse_key = ? AND id <> ? ORDER BY row
            """, [.integer(hostHasSeen), .integer(desktop), .text(key), .text(id.text)]
        ) { (row) throws(StoreError) in
            Replaced(
                row: try row.integer(0), arrival: try row.integer(1), id: NotificationID(try row.text(2)),
                seen: try row.optionalText(3).map(NotificationID.init(_:)))
        }
    }
}
