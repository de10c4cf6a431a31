import JSON
import Notifications
package import Store
package import Wire

/// The pushes that each device has not acknowledged, in the desktop's file (`protocol.md` 4.4).
///
/// Made for one piece of work on the store, over its connection: a push enters in the transaction of its row in the
/// history. An entry that has gone - acknowledged, expired, replaced, withdrawn - leaves a gap, and a gap is what devices
/// are told to skip.
package struct Outbox {
    /// For whom a push is.
    package struct Recipient: Sendable, Equatable {
        package let device: PeerID
        /// Paired sealed: it acknowledges, and knows what is silenced. A deployed phone does neither.
        package let isSealed: Bool

        package init(_ device: PeerID, isSealed: Bool) {
            self.device = device
            self.isSealed = isSealed
        }
    }

    /// A push on its way to a device; its event carries the number.
    package struct Entry: Sendable, Equatable {
        package let seq: Int64
        package let event: NotificationEvent

        package init(seq: Int64, event: NotificationEvent) {
            self.seq = seq
            self.event = event
        }
    }

    /// What there is from one number through another: what is not among the entries is gone.
    package struct Page: Sendable, Equatable {
        package let from: Int64
        package let through: Int64
        package let entries: [Entry]

        package init(from: Int64, through: Int64, entries: [Entry]) {
            self.from = from
            self.through = through
            self.entries = entries
        }
    }

    /// How far a device is.
    package struct Position: Sendable, Equatable {
        /// The number that was given last; 0 = none.
        package var last: Int64
        /// Everything through this one it has, or will never get.
        package var acknowledged: Int64
        /// By how much all its entries have been counted up just now.
        package var shift: Int64 = 0

        package init(last: Int64, acknowledged: Int64) {
            self.last = last
            self.acknowledged = acknowledged
        }
    }

    /// Of one device. Beyond it the oldest are given up; they stay in the history.
    package static let limit: Int64 = 10_000
    /// How long an entry is kept that does not expire before, in milliseconds: of a device that acknowledges, and of a
    /// deployed phone, whose relays keep nothing longer than a day either.
    package static let lifetime: Int64 = 30 * 86_400_000
    package static let plainLifetime: Int64 = 86_400_000
    /// Entries that a page has at most: with everything at its largest they take 7 MiB.
    package static let pageLimit = 16

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// All devices that have, or had, entries.
    package func positions() throws(StoreError) -> [PeerID: Position] {
        let rows = try connection.query("SELECT device, last, acknowledged FROM outbox_device") {
            (row) throws(StoreError) in
            (PeerID(try row.text(0)), Position(last: try row.integer(1), acknowledged: try row.integer(2)))
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// Puts a push in for each of them, and takes out what it replaces. Gives the number that it has for each that it is
    /// kept for: what is silenced is for the history alone, and a deployed phone would show it.
    package func enqueue(
        _ event: NotificationEvent, to recipients: [Recipient], now: EpochMilliseconds
    ) throws(StoreError) -> [PeerID: Int64] {
        let recipients = recipients.filter { $0.isSealed || event.richer.silenced != true }
        guard !recipients.isEmpty else { return [:] }
        var seqs: [PeerID: Int64] = [:]
        try connection.execute(
            "INSERT INTO outbox_push (id, payload) VALUES (?, ?)",
            [.text(event.id.text), .text(event.payload(as: .bellwire).serialized())])
        let push = connection.lastInsertRow
        for recipient in recipients where seqs[recipient.device] == nil {
            let device = Value.text(recipient.device.text)
            if let key = event.richer.collapseKey {
                try connection.execute(
                    "DELETE FROM outbox WHERE device = ? AND collapse_key = ?", [device, .text(key)])
            }
            let seq = try connection.integer(
                """
                INSERT INTO outbox_device VALUES (?, 1, 0) ON CONFLICT (device) DO UPDATE SET last = last + 1
                RETURNING last
                """, [device])
            let kept = now &+ (recipient.isSealed ? Self.lifetime : Self.plainLifetime)
            try connection.execute(
                "INSERT INTO outbox VALUES (?, ?, ?, ?, ?)",
                [
                    device, .integer(seq), .integer(push), .integer(min(event.richer.expiresAt ?? kept, kept)),
                    .optional(event.richer.collapseKey),
                ])
            try connection.execute(
                "DELETE FROM outbox WHERE device = ? AND seq <= ?", [device, .integer(seq - Self.limit)])
            seqs[recipient.device] = seq
        }
        return seqs
    }

    /// What there is for a device from `first` through `last`, or the first part of it.
    package func page(
        of device: PeerID, from first: Int64, through last: Int64, now: EpochMilliseconds
    ) throws(StoreError) -> Page {
        let rows = try connection.query(
            """
            SELECT seq, expires_at, payload FROM outbox JOIN outbox_push ON outbox_push.row = push
            WHERE device = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?
            """, [.text(device.text), .integer(first), .integer(last), .integer(Self.pageLimit)]
        ) { (row) throws(StoreError) in
            (seq: try row.integer(0), expiresAt: try row.integer(1), payload: try row.text(2))
        }
        var entries: [Entry] = []
        for row in rows {
            if row.expiresAt > now, let event = Self.event(row.payload, seq: row.seq) {
                entries.append(Entry(seq: row.seq, event: event))
            } else {
                try remove(row.seq, of: device)
            }
        }
        let isWhole = rows.count < Self.pageLimit
        return Page(from: first, through: isWhole ? last : rows.last?.seq ?? last, entries: entries)
    }

    /// A device has said how far it is.
    ///
    /// Where that is further than we have ever counted - this file is younger than what it has from us - everything that
    /// waits is counted on from there, so that it does not take it for something that it has.
    package func acknowledge(through seq: Int64, by device: PeerID) throws(StoreError) -> Position {
        var position = try position(of: device)
        if seq > position.last {
            position.shift = seq - position.acknowledged
            position.last += position.shift
            // Twice, so that no two rows have one number meanwhile.
            let values: [Value] = [.integer(position.shift), .text(device.text)]
            try connection.execute("UPDATE outbox SET seq = -(seq + ?) WHERE device = ?", values)
            try connection.execute("UPDATE outbox SET seq = -seq WHERE device = ?", [.text(device.text)])
        } else if seq == position.acknowledged {
            return position
        } else {
            try connection.execute(
                "DELETE FROM outbox WHERE device = ? AND seq <= ?", [.text(device.text), .integer(seq)])
        }
        position.acknowledged = seq
        try connection.execute(
            """
            INSERT INTO outbox_device VALUES (?, ?, ?) ON CONFLICT (device) DO UPDATE
            SET last = excluded.last, acknowledged = excluded.acknowledged
            """, [.text(device.text), .integer(position.last), .integer(position.acknowledged)])
        return position
    }

    /// Gives an entry up, as one that can never be sent.
    package func remove(_ seq: Int64, of device: PeerID) throws(StoreError) {
        try connection.execute(
            "DELETE FROM outbox WHERE device = ? AND seq = ?", [.text(device.text), .integer(seq)])
    }

    /// A notification was deleted: whoever has not got it yet never will.
    package func withdraw(_ id: NotificationID) throws(StoreError) {
        try connection.execute(
            "DELETE FROM outbox WHERE push IN (SELECT row FROM outbox_push WHERE id = ?)", [.text(id.text)])
    }

    /// The history was cleared.
    package func withdrawAll() throws(StoreError) { try connection.execute("DELETE FROM outbox") }

    /// For a device that was unpaired.
    package func forget(_ device: PeerID) throws(StoreError) {
        try connection.execute("DELETE FROM outbox WHERE device = ?", [.text(device.text)])
        try connection.execute("DELETE FROM outbox_device WHERE device = ?", [.text(device.text)])
    }

    /// How many entries wait for a device.
    package func count(of device: PeerID) throws(StoreError) -> Int64 {
        try connection.integer("SELECT count(*) FROM outbox WHERE device = ?", [.text(device.text)])
    }

    private func position(of device: PeerID) throws(StoreError) -> Position {
        try connection.first(
            "SELECT last, acknowledged FROM outbox_device WHERE device = ?", [.text(device.text)]
        ) { (row) throws(StoreError) in
            Position(last: try row.integer(0), acknowledged: try row.integer(1))
        } ?? Position(last: 0, acknowledged: 0)
    }

    private static func event(_ text: String, seq: Int64) -> NotificationEvent? {
        guard let value = try? JSONValue(parsing: text), case .event(var event) = Payload(decoding: value) else {
            return nil
        }
        event.pushSeq = seq
        return event
    }
}
