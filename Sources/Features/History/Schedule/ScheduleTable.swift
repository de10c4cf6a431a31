package import JSON
package import Store
package import Wire

/// The pushes that wait for their time. A push leaves the table in the transaction that stores its notification.
///
/// Lives for one job of the store, on its connection.
package struct ScheduleTable {
    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    static let migration = Migration(
        "schedule.1",
        sql: """
            CREATE TABLE schedule (
                id TEXT PRIMARY KEY,
                at INTEGER NOT NULL,
                method TEXT NOT NULL,
                params TEXT NOT NULL,
                device TEXT,
                bellwire INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX schedule_at ON schedule(at);
            """)

    /// `nil`: it is kept. Else the limit that is reached.
    func insert(_ push: ScheduledPush) throws(StoreError) -> Int64? {
        guard try connection.integer("SELECT count(*) FROM schedule") < ScheduledPush.limit else {
            return ScheduledPush.limit
        }
        if let publisher = push.publisher, let limit = try limitReached(by: publisher) { return limit }
        var (device, isBellwire): (String?, Bool) = (nil, true)
        if case .device(let peer, let flag) = push.caller { (device, isBellwire) = (peer.text, flag) }
        try connection.execute(
            "INSERT INTO schedule VALUES (?, ?, ?, ?, ?, ?)",
            [
                .text(push.id.text), .integer(push.moment), .text(push.method),
                .text(JSONValue.object(push.params).serialized()), .optional(device), .flag(isBellwire),
            ])
        return nil
    }

    /// The limit of publishers that is reached: one of them must not use up what is everybody's.
    private func limitReached(by publisher: String) throws(StoreError) -> Int64? {
        let publishers = try rows("WHERE device IS NULL", []).compactMap { $0.publisher }
        if publishers.count(where: { $0 == publisher }) >= ScheduledPush.publisherLimit {
            return ScheduledPush.publisherLimit
        }
        return publishers.count >= ScheduledPush.publishersLimit ? ScheduledPush.publishersLimit : nil
    }

    /// Takes one out, because it is pushed now or was withdrawn. `false`: it isn't there any more.
    package func remove(_ id: NotificationID) throws(StoreError) -> Bool {
        try connection.execute("DELETE FROM schedule WHERE id = ?", [.text(id.text)]) > 0
    }

    /// The first ones whose time has come, and the time of the first one whose time has not.
    package func due(
        at now: EpochMilliseconds, limit: Int64
    ) throws(StoreError) -> (pushes: [ScheduledPush], next: EpochMilliseconds?) {
        let pushes = try rows("WHERE at <= ? ORDER BY at, id LIMIT ?", [.integer(now), .integer(limit)])
        let next = try connection.first("SELECT min(at) FROM schedule WHERE at > ?", [.integer(now)]) {
            (row) throws(StoreError) in try row.optionalInteger(0)
        }
        return (pushes, next ?? nil)
    }

    /// `[{"id","scheduledAt","method","title","group"?,"deviceId"?,"by"?,"publisher"?}]`, the next one first.
    package func json() throws(StoreError) -> JSONValue {
        .array(
            try rows("ORDER BY at, id", []).map { push in
                var by: JSONValue?
                if case .device(let peer, _) = push.caller { by = .string(peer.text) }
                return [
                    "id": .string(push.id.text), "scheduledAt": .integer(push.moment), "method": .string(push.method),
                    "title": push.params["title"], "group": push.params["group"],
                    "deviceId": push.params["deviceId"], "by": by,
                    "publisher": push.publisher.map(JSONValue.string),
                ]
            })
    }

    /// What a device has scheduled doesn't outlive its pairing.
    package func forget(_ device: PeerID) throws(StoreError) {
        try connection.execute("DELETE FROM schedule WHERE device = ?", [.text(device.text)])
    }

    /// The device has another key (WireRekey, "Switch").
    package func move(_ old: PeerID, to new: PeerID) throws(StoreError) {
        try connection.execute("UPDATE schedule SET device = ? WHERE device = ?", [.text(new.text), .text(old.text)])
    }

    private func rows(_ condition: String, _ values: [Value]) throws(StoreError) -> [ScheduledPush] {
        try connection.query("SELECT id, at, method, params, device, bellwire FROM schedule \(condition)", values) {
            (row) throws(StoreError) in
            let device = try row.optionalText(4)
            let isBellwire = try row.integer(5) != 0
            return ScheduledPush(
                id: NotificationID(try row.text(0)), at: try row.integer(1), method: try row.text(2),
                params: (try? JSONValue(parsing: try row.text(3)))?.object ?? [:],
                caller: device.map { .device(PeerID($0), isBellwire: isBellwire) } ?? .host)
        }
    }
}
