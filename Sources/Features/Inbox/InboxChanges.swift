import Listing
package import Notifications
package import Store
package import Wire

/// Changes made by the host: shown at once, then applied, put back, or uncertain. The tables `inbox_change` and
/// `inbox_touched`.
///
/// Made for one piece of work on the store, over its connection.
package struct InboxChanges {
    private let connection: Connection
    private let inbox: Inbox

    package init(_ connection: Connection) {
        self.connection = connection
        inbox = Inbox(connection)
    }

    /// Shows a change. Returns its number; `nil` if its notification isn't in the inbox.
    ///
    /// - Parameter id: the notification to mark or delete; `nil` for a change of everything from the desktop.
    package func begin(
        _ kind: InboxEffect, _ id: NotificationID?, of desktop: PeerID, at moment: EpochMilliseconds
    ) throws(StoreError) -> Int64? {
        var rows: Int64?
        if !kind.isOfAll {
            rows = try connection.first(
                "SELECT row FROM inbox WHERE desktop = \(Inbox.number) AND id = ? AND hidden = 0",
                [.text(desktop.text), .text(id?.text ?? "")]
            ) { (row) throws(StoreError) in try row.integer(0) }
            guard rows != nil else { return nil }
        }
        let peer = Value.integer(try inbox.peers.number(of: desktop))
        try connection.execute(
            "INSERT INTO inbox_change(desktop, kind, stage, made_at) VALUES (?, ?, 0, ?)",
            [peer, .integer(kind.rawValue), .integer(moment)])
        let number = connection.lastInsertRow
        let values: [Value] = [.integer(number), peer]
        switch kind {
        case .read, .delete:
            try connection.execute(
                "INSERT INTO inbox_touched(change, row) VALUES (?, ?)", [.integer(number), .optional(rows)])
        case .allRead:
            try connection.execute(
                """
                INSERT INTO inbox_touched(change, row)
                    SELECT ?1, row FROM inbox WHERE desktop = ?2 AND said_read = 0 AND hidden < 2
                """, values)
        case .clear:
            try connection.execute(
                """
                INSERT INTO inbox_touched(change, row)
                    SELECT ?1, row FROM inbox WHERE desktop = ?2 AND hidden < 2
                """, values)
        }
        try show(number)
        return number
    }

    /// Records the result of a change's command. `false` = no such change.
    @discardableResult
    package func end(_ number: Int64, _ ending: InboxChange.Ending) throws(StoreError) -> Bool {
        try step(number) { $0.ended(ending) }
    }

    /// Stores the request id of a change's command, for ``change(_:)``.
    package func note(_ request: RequestID, of change: Int64) throws(StoreError) {
        try connection.execute(
            "UPDATE inbox_change SET request = ? WHERE number = ?", [.text(request.text), .integer(change)])
    }

    /// The change whose command has this id, and its desktop.
    package func change(_ request: RequestID) throws(StoreError) -> (number: Int64, desktop: PeerID)? {
        try connection.first(
            """
            SELECT number, (SELECT peer.id FROM peer WHERE peer.number = c.desktop) FROM inbox_change AS c
            WHERE request = ?
            """, [.text(request.text)]
        ) { (row) throws(StoreError) in (number: try row.integer(0), desktop: PeerID(try row.text(1))) }
    }

    /// Applies a change that the desktop has carried out and that wasn't begun here: by a method, or for another device.
    package func apply(
        _ kind: InboxEffect, _ ids: [NotificationID], of desktop: PeerID, at moment: EpochMilliseconds
    ) throws(StoreError) {
        guard !kind.isOfAll else {
            if let number = try begin(kind, nil, of: desktop, at: moment) { try end(number, .done) }
            return
        }
        for id in ids {
            if kind.marks {
                if try saidRead(id, of: desktop, at: moment) { continue }
                // It is one of the desktop's unread rows that the inbox doesn't have.
                try connection.execute(
                    "UPDATE inbox_desktop SET beyond = beyond - 1 WHERE desktop = \(Inbox.number) AND beyond > 0",
                    [.text(desktop.text)])
            } else {
                try inbox.take(out: "desktop = \(Inbox.number) AND id = ?", [.text(desktop.text), .text(id.text)])
            }
        }
    }

    /// Applies a desktop's change of its own state, except its settings (WireMessages, "State changes").
    package func apply(_ event: StateEvent, from desktop: PeerID, at moment: EpochMilliseconds) throws(StoreError) {
        switch event {
        case .read(let ids, let readAt): try apply(.read, ids, of: desktop, at: readAt)
        case .deleted(let ids): try apply(.delete, ids, of: desktop, at: moment)
        case .cleared(let before): try cleared(before: before, of: desktop)
        case .settingsChanged: break
        }
    }

    /// The desktop has cleared everything created before that moment.
    package func cleared(before moment: EpochMilliseconds, of desktop: PeerID) throws(StoreError) {
        try inbox.take(out: "desktop = \(Inbox.number) AND created_at < ?", [.text(desktop.text), .integer(moment)])
        try connection.execute(
            "UPDATE inbox_desktop SET beyond = 0 WHERE desktop = \(Inbox.number)", [.text(desktop.text)])
    }

    /// Called once after opening: changes whose command won't get an answer become uncertain.
    ///
    /// - Parameter queued: the commands that will be sent again.
    package func recover(queued: Set<RequestID>) throws(StoreError) {
        let changes = try connection.query("SELECT number, request FROM inbox_change") {
            (row) throws(StoreError) in (try row.integer(0), try row.optionalText(1))
        }
        for (number, request) in changes {
            let isKept = request.map { queued.contains(RequestID($0)) } ?? false
            try step(number) { $0.restarted(isKept: isKept) }
        }
    }

    /// Settles a desktop's uncertain changes after a refresh.
    ///
    /// - Parameter run: only changes whose rows it has all found or removed; `nil` = it has found everything.
    func settle(_ desktop: PeerID, run: Int64?) throws(StoreError) {
        let numbers = try connection.query(
            """
            SELECT c.number FROM inbox_change AS c
            WHERE desktop = (SELECT peer.number FROM peer WHERE peer.id = ?1) AND stage = 1 AND (
                ?2 IS NULL OR NOT EXISTS (
                    SELECT 1 FROM inbox_touched JOIN inbox USING (row) WHERE change = c.number AND seen <> ?2))
            """, [.text(desktop.text), .optional(run)]
        ) { (row) throws(StoreError) in try row.integer(0) }
        for number in numbers { try step(number) { $0.refreshed() } }
    }

    /// The desktop was unpaired. What the changes show stays until the rows change.
    func forget(_ desktop: PeerID) throws(StoreError) {
        try connection.execute(
            "DELETE FROM inbox_change WHERE desktop = \(Inbox.number)", [.text(desktop.text)])
    }

    // MARK: One step

    @discardableResult
    private func step(
        _ number: Int64, _ event: (inout InboxChange) -> InboxChange.Step
    ) throws(StoreError) -> Bool {
        let stored = try connection.first(
            "SELECT kind, stage, kept, desktop FROM inbox_change WHERE number = ?", [.integer(number)]
        ) { (row) throws(StoreError) -> (InboxChange, Int64)? in
            guard let kind = InboxEffect(rawValue: try row.integer(0)),
                let stage = InboxChange.Stage(rawValue: try row.integer(1))
            else { return nil }
            return (InboxChange(kind, stage: stage, isKept: try row.flag(2)), try row.integer(3))
        }
        guard case .some((var change, let desktop)?) = stored else { return false }
        let step = event(&change)
        switch step {
        case .show:
            try connection.execute(
                "UPDATE inbox_change SET stage = ?, kept = ? WHERE number = ?",
                [.integer(change.stage.rawValue), .flag(change.isKept), .integer(number)])
            try show(number)
            return true
        case .apply: try apply(number, change.kind, desktop)
        case .putBack: break
        }
        // First without effect, while its rows can still be found; then deleted.
        try connection.execute("UPDATE inbox_change SET stage = 2 WHERE number = ?", [.integer(number)])
        try show(number)
        try connection.execute("DELETE FROM inbox_change WHERE number = ?", [.integer(number)])
        return true
    }

    private func apply(_ number: Int64, _ kind: InboxEffect, _ desktop: Int64) throws(StoreError) {
        if kind.marks {
            try connection.execute(
                """
                UPDATE inbox SET said_read = 1, read_at = ifnull(
                    read_at, (SELECT made_at FROM inbox_change WHERE number = ?1))
                WHERE row IN (SELECT row FROM inbox_touched WHERE change = ?1)
                """, [.integer(number)])
        } else {
            try inbox.take(out: "row IN (SELECT row FROM inbox_touched WHERE change = ?1)", [.integer(number)])
        }
        if kind.isOfAll {
            try connection.execute("UPDATE inbox_desktop SET beyond = 0 WHERE desktop = ?", [.integer(desktop)])
        }
    }

    private func saidRead(
        _ id: NotificationID, of desktop: PeerID, at moment: EpochMilliseconds
    ) throws(StoreError) -> Bool {
        try connection.execute(
            """
            UPDATE inbox SET said_read = 1, read = 1, read_at = ifnull(read_at, ?)
            WHERE desktop = \(Inbox.number) AND id = ?
            """,
            [.integer(moment), .text(desktop.text), .text(id.text)]) > 0
    }

    private func show(_ change: Int64) throws(StoreError) {
        try show("row IN (SELECT row FROM inbox_touched WHERE change = ?)", .integer(change))
    }

    /// Updates rows to what ``InboxView`` shows.
    func show(_ condition: String, _ value: Value) throws(StoreError) {
        let changes =
            "SELECT 1 FROM inbox_touched AS t JOIN inbox_change AS c ON c.number = t.change WHERE t.row = inbox.row"
        try connection.execute(
            """
            UPDATE inbox SET
                read = said_read OR EXISTS (\(changes) AND c.stage = 0 AND c.kind IN (0, 1)),
                read_at = CASE WHEN said_read OR EXISTS (\(changes) AND c.stage = 0 AND c.kind IN (0, 1)) THEN ifnull(
                    read_at, (SELECT min(c.made_at) FROM inbox_touched AS t JOIN inbox_change AS c
                        ON c.number = t.change WHERE t.row = inbox.row AND c.stage = 0 AND c.kind IN (0, 1))) END,
                hidden = CASE hidden WHEN 2 THEN 2 ELSE EXISTS (\(changes) AND c.stage = 0 AND c.kind IN (2, 3)) END,
                uncertain = EXISTS (\(changes) AND c.stage = 1)
            WHERE \(condition)
            """, [value])
    }
}
