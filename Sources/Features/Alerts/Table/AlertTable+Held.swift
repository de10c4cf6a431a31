package import Store
package import Wire

// What waits for a digest.
extension AlertTable {
    /// It waits for a digest. Returns the banner that it would have replaced.
    ///
    /// A digest that waits for another one becomes part of it.
    @discardableResult
    package func hold(_ row: Int64, _ hold: AlertDecision.Hold) throws(StoreError) -> String? {
        guard let alert = try find(row) else { return nil }
        let state = Value.integer(AlertRow.State(hold).rawValue)
        if let part = Digest.count(alert) {
            try count(part, in: state)
            return try drop(row)
        }
        try connection.execute(
            "UPDATE alert SET state = ?, handle = NULL WHERE row = ?", [state, .integer(row)])
        let beyond = try connection.execute(
            """
            DELETE FROM alert WHERE state = ?1 AND row NOT IN (
                SELECT row FROM alert WHERE state = ?1 ORDER BY row DESC LIMIT ?2)
            """, [state, .integer(AlertTable.heldLimit)])
        if beyond > 0 { try count(Int64(beyond), in: state) }
        return alert.handle
    }

    /// How many wait for this digest.
    package func heldCount(_ hold: AlertDecision.Hold) throws(StoreError) -> Int64 {
        try connection.integer(
            """
            SELECT (SELECT count(*) FROM alert WHERE state = ?1)
                + ifnull((SELECT count FROM alert_beyond WHERE state = ?1), 0)
            """, [.integer(AlertRow.State(hold).rawValue)])
    }

    /// The newest first.
    package func held(_ hold: AlertDecision.Hold, limit: Int = Digest.lines) throws(StoreError) -> [AlertRow] {
        try rows("state = ? ORDER BY row DESC LIMIT ?", [.integer(AlertRow.State(hold).rawValue), .integer(limit)])
    }

    /// Makes one alert of all that wait for this digest, which is due now; `nil` if none does.
    ///
    /// - Parameter window: milliseconds. The digest before it takes its place on the screen, so it counts what that one
    ///   counted if that one was shown less than this long ago.
    package func release(
        _ hold: AlertDecision.Hold, at moment: EpochMilliseconds, joiningShownWithin window: EpochMilliseconds = 0,
        in language: AlertLanguage = .english
    ) throws(StoreError) -> AlertRow? {
        var count = try heldCount(hold)
        guard count > 0 else { return nil }
        let key = AlertKey(desktop: nil, id: Digest.id(hold))
        let earlier = try find(key)
        // A digest that has not been shown yet becomes part of this one.
        if let earlier, earlier.state == .due { count &+= Digest.count(earlier) ?? 0 }
        let held = try held(hold)
        // One alone comes as it is, with all that can be done with it; but not to where there was no room for it.
        if count == 1, hold != .tooMany, let only = held.first {
            try connection.execute(
                "UPDATE alert SET state = ? WHERE row = ?",
                [.integer(AlertRow.State.due.rawValue), .integer(only.row)])
            return try find(only.row)
        }
        if let earlier, earlier.state == .delivered, let shownAt = earlier.shownAt, shownAt <= moment,
            moment &- shownAt < window
        {
            count &+= Digest.count(earlier) ?? 0
        }
        let digest = Digest.content(of: held.map(\.content), count: count, hold: hold, in: language)
        try forget(hold)
        // As a reminder: it is the program's own, and what makes it late was heeded before.
        let added = try add(NewAlert(key, digest, dueAt: moment, isReminder: true))
        return try find(added.row)
    }

    /// Those that come late, when their digest would come in quiet hours: they wait for that one.
    package func moveLateToQuiet() throws(StoreError) {
        let count = try connection.integer("SELECT ifnull((SELECT count FROM alert_beyond WHERE state = 2), 0)")
        try connection.execute("DELETE FROM alert_beyond WHERE state = 2")
        if count > 0 { try self.count(count, in: 1) }
        try connection.execute("UPDATE alert SET state = 1 WHERE state = 2")
    }

    /// None of them waits any more, as when alerts are switched off.
    package func forget(_ hold: AlertDecision.Hold) throws(StoreError) {
        let state = Value.integer(AlertRow.State(hold).rawValue)
        try connection.execute("DELETE FROM alert WHERE state = ?", [state])
        try connection.execute("DELETE FROM alert_beyond WHERE state = ?", [state])
    }

    private func count(_ number: Int64, in state: Value) throws(StoreError) {
        try connection.execute(
            """
            INSERT INTO alert_beyond(state, count) VALUES (?, ?)
            ON CONFLICT(state) DO UPDATE SET count = count + excluded.count
            """, [state, .integer(number)])
    }
}
