import JSON
import Listing
import Notifications
package import Store
package import Wire

/// The pushes that each device has not acknowledged, in the desktop's file (WireSealing, "Delivery of pushes").
///
/// Made for one piece of work on the store, over its connection: a push enters in the transaction of its row in the
/// history, and refers to that row. When the history lets the row go before the devices have it, the outbox takes a copy
/// (``release(_:)``). An entry that has gone - acknowledged, expired, replaced, withdrawn - leaves a gap, and a gap is what
/// devices are told to skip.
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
        /// Those that were let go just now, because they have expired.
        package let expired: [NotificationID]

        package init(from: Int64, through: Int64, entries: [Entry], expired: [NotificationID] = []) {
            self.from = from
            self.through = through
            self.entries = entries
            self.expired = expired
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
        /// The device has named the epoch of what it acknowledges.
        package var namesEpochs = false

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

    /// All devices that have, or had, entries, or have named an epoch.
    package func positions() throws(StoreError) -> [PeerID: Position] {
        let rows = try connection.query(
            """
            SELECT id, ifnull(last, 0), ifnull(acknowledged, 0), epoch.device IS NOT NULL FROM peer
            LEFT JOIN push_count AS position ON position.peer = number
            LEFT JOIN outbox_epoch AS epoch ON epoch.device = number
            WHERE position.peer IS NOT NULL OR epoch.device IS NOT NULL
            """
        ) { (row) throws(StoreError) in
            var position = Position(last: try row.integer(1), acknowledged: try row.integer(2))
            position.namesEpochs = try row.integer(3) != 0
            return (PeerID(try row.text(0)), position)
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// Puts one push in, as a piece of work of its own; several in one go through an ``OutboxWriter``.
    package func enqueue(
        _ event: NotificationEvent, row: Int64? = nil, to recipients: [Recipient], now: EpochMilliseconds
    ) throws(StoreError) -> [PeerID: Int64] {
        var writer = OutboxWriter(connection)
        let seqs = try writer.enqueue(event, row: row, to: recipients, now: now)
        try writer.finish()
        return seqs
    }

    /// What there is for a device from `first` through `last`, or the first part of it.
    package func page(
        of device: PeerID, from first: Int64, through last: Int64, now: ExpiryMoment
    ) throws(StoreError) -> Page {
        guard let number = try PeerNumbers(connection).find(device) else {
            return Page(from: first, through: last, entries: [])
        }
        let rows = try connection.query(
            "SELECT seq, expires_at, push FROM outbox WHERE device = ? AND seq BETWEEN ? AND ? ORDER BY seq LIMIT ?",
            [.integer(number), .integer(first), .integer(last), .integer(Self.pageLimit)]
        ) { (row) throws(StoreError) in
            (seq: try row.integer(0), expiresAt: try row.integer(1), push: try row.integer(2))
        }
        var entries: [Entry] = []
        var expired: [NotificationID] = []
        for row in rows {
            let event = try event(row.push, seq: row.seq)
            if let event, !now.hasPassed(row.expiresAt) {
                entries.append(Entry(seq: row.seq, event: event))
            } else {
                if let event { expired.append(event.id) }
                try remove(row.seq, of: device)
            }
        }
        let isWhole = rows.count < Self.pageLimit
        return Page(
            from: first, through: isWhole ? last : rows.last?.seq ?? last, entries: entries, expired: expired)
    }

    /// A push that a device doesn't have yet, by its id; `nil` = none waits, or not any more.
    package func entry(
        of id: NotificationID, for device: PeerID, now: ExpiryMoment
    ) throws(StoreError) -> Entry? {
        guard let number = try PeerNumbers(connection).find(device) else { return nil }
        guard let place = try places(of: id).filter({ $0.device == number }).max(by: { $0.seq < $1.seq }) else {
            return nil
        }
        let expiresAt = try connection.integer(
            "SELECT expires_at FROM outbox WHERE device = ? AND seq = ?", place.values)
        guard !now.hasPassed(expiresAt), let event = try event(place.push, seq: place.seq) else { return nil }
        return Entry(seq: place.seq, event: event)
    }

    // MARK: What leaves

    /// A device has everything through `seq`, or never will. It may also be less far than it was known to be.
    ///
    /// For what the machine has decided from memory (``OutboxStateMachine/Action/settle(through:)``): when this is lost,
    /// the entries are sent once more, and the device answers that it has them.
    package func settle(through seq: Int64, by device: PeerID) throws(StoreError) {
        guard let number = try PeerNumbers(connection).find(device) else { return }
        try connection.execute(
            "DELETE FROM outbox WHERE device = ? AND seq <= ?", [.integer(number), .integer(seq)])
        try connection.execute(
            "UPDATE push_count SET acknowledged = ? WHERE peer = ?", [.integer(seq), .integer(number)])
    }

    /// A device has said how far it is.
    ///
    /// Where that is further than we have ever counted - this file is younger than what it has from us - everything that
    /// waits is counted on from there, so that it does not take it for something that it has.
    package func acknowledge(through seq: Int64, by device: PeerID) throws(StoreError) -> Position {
        var position = try position(of: device)
        guard seq > position.last else {
            if seq != position.acknowledged { try settle(through: seq, by: device) }
            position.acknowledged = seq
            return position
        }
        try count(device, on: &position, after: seq)
        return position
    }

    /// A device has numbers through `seq` from an earlier start of ours, of which nothing is known: everything that waits is
    /// counted on from there, and nothing is settled.
    package func recount(after seq: Int64, by device: PeerID) throws(StoreError) -> Position {
        var position = try position(of: device)
        if seq > position.acknowledged { try count(device, on: &position, after: seq) }
        return position
    }

    private func count(_ device: PeerID, on position: inout Position, after seq: Int64) throws(StoreError) {
        let number = try PeerNumbers(connection).number(of: device)
        position.shift = seq - position.acknowledged
        position.last += position.shift
        position.acknowledged = seq
        // Twice, so that no two rows have one number meanwhile.
        try connection.execute(
            "UPDATE outbox SET seq = -(seq + ?) WHERE device = ?", [.integer(position.shift), .integer(number)])
        try connection.execute("UPDATE outbox SET seq = -seq WHERE device = ?", [.integer(number)])
        try connection.execute(
            """
            INSERT INTO push_count (peer, last, acknowledged) VALUES (?, ?, ?) ON CONFLICT (peer) DO UPDATE
            SET last = excluded.last, acknowledged = excluded.acknowledged
            """, [.integer(number), .integer(position.last), .integer(position.acknowledged)])
        let places = try connection.query(
            "SELECT seq, push FROM outbox WHERE device = ? AND push > 0", [.integer(number)]
        ) { (row) throws(StoreError) in Place(device: number, seq: try row.integer(0), push: try row.integer(1)) }
        for place in places {
            let sent = try sent(place.push).filter { $0.device != number } + [place]
            try note(sent, of: place.push)
        }
    }

    /// The device has named the epoch of what it acknowledges: from now on it is expected to.
    package func noteEpochs(of device: PeerID) throws(StoreError) {
        let number = try PeerNumbers(connection).number(of: device)
        try connection.execute("INSERT OR IGNORE INTO outbox_epoch VALUES (?)", [.integer(number)])
    }

    /// The device was paired again, possibly with a program that sends no epochs.
    package func forgetEpochs(of device: PeerID) throws(StoreError) {
        guard let number = try PeerNumbers(connection).find(device) else { return }
        try connection.execute("DELETE FROM outbox_epoch WHERE device = ?", [.integer(number)])
    }

    /// Gives an entry up, as one that can never be sent.
    package func remove(_ seq: Int64, of device: PeerID) throws(StoreError) {
        guard let number = try PeerNumbers(connection).find(device) else { return }
        try connection.execute(
            "DELETE FROM outbox WHERE device = ? AND seq = ?", [.integer(number), .integer(seq)])
    }

    /// A notification is being deleted: whoever has not got it yet never will. Before its row leaves the history.
    package func withdraw(_ id: NotificationID) throws(StoreError) {
        for place in try places(of: id) {
            try connection.execute("DELETE FROM outbox WHERE device = ? AND seq = ?", place.values)
        }
    }

    /// The history was cleared.
    package func withdrawAll() throws(StoreError) { try connection.execute("DELETE FROM outbox") }

    /// These rows of the history were cleared. What was put in behind them stays.
    package func withdrawAll(_ extent: HistoryExtent) throws(StoreError) {
        try connection.execute(
            """
            DELETE FROM outbox WHERE NOT (push > 0 AND \(HistoryExtent.leavesOut("push"))) AND seq <= (
                SELECT max(seq) FROM outbox AS cleared
                WHERE cleared.device = outbox.device AND push > 0 AND \(HistoryExtent.contains("cleared.push")))
            """, extent.values)
    }

    /// The oldest row of the history that this device has not acknowledged; `nil` = none.
    package func oldestRow(waitingFor device: PeerID) throws(StoreError) -> Int64? {
        guard let number = try PeerNumbers(connection).find(device) else { return nil }
        let row = try connection.integer(
            "SELECT ifnull(min(push), 0) FROM outbox WHERE device = ? AND push > 0", [.integer(number)])
        return row > 0 ? row : nil
    }

    /// For a device that was unpaired.
    package func forget(_ device: PeerID) throws(StoreError) {
        guard let number = try PeerNumbers(connection).find(device) else { return }
        try connection.execute("DELETE FROM outbox WHERE device = ?", [.integer(number)])
        try connection.execute("DELETE FROM push_count WHERE peer = ?", [.integer(number)])
        try forgetEpochs(of: device)
    }

    // MARK: The history's rows

    /// Rows are about to leave the history, and devices wait for some of them: those are copied.
    ///
    /// - Parameter rows: a query for their numbers, with its values.
    package func release(_ rows: String, _ values: [Value]) throws(StoreError) {
        let leaving = try connection.query(
            "SELECT row, sent FROM history WHERE row IN (\(rows)) AND sent IS NOT NULL", values
        ) { (row) throws(StoreError) in (row: try row.integer(0), sent: try row.text(1)) }
        for push in leaving {
            let waiting = try waiting(Place.all(in: push.sent, push.row))
            guard !waiting.isEmpty, let event = try event(push.row, seq: nil) else { continue }
            let copy = Value.integer(try copy(event))
            for place in waiting {
                try connection.execute("UPDATE outbox SET push = ? WHERE device = ? AND seq = ?", [copy] + place.values)
            }
        }
    }

    // MARK: Places of a push

    /// An entry for a push, which may be gone. A row of the history says under which numbers it was sent, so that no index
    /// of the entries has to be written for each push.
    struct Place {
        let device: Int64
        let seq: Int64
        let push: Int64

        var values: [Value] { [.integer(device), .integer(seq)] }

        static func text(_ places: [Place]) -> String {
            places.map { "\($0.device):\($0.seq)" }.joined(separator: " ")
        }

        static func all(in text: String, _ push: Int64) -> [Place] {
            text.split(separator: " ").compactMap { place in
                let parts = place.split(separator: ":")
                guard parts.count == 2, let device = Int64(parts[0]), let seq = Int64(parts[1]) else { return nil }
                return Place(device: device, seq: seq, push: push)
            }
        }
    }

    /// Notes under which numbers a push of the history was sent.
    func note(_ places: [Place], of row: Int64) throws(StoreError) {
        try connection.execute(
            "UPDATE history SET sent = ? WHERE row = ?", [.text(Place.text(places)), .integer(row)])
    }

    private func sent(_ row: Int64) throws(StoreError) -> [Place] {
        let text = try connection.first("SELECT sent FROM history WHERE row = ?", [.integer(row)]) {
            (row) throws(StoreError) in try row.optionalText(0)
        }
        return Place.all(in: (text ?? nil) ?? "", row)
    }

    /// Those of them that are still there.
    private func waiting(_ places: [Place]) throws(StoreError) -> [Place] {
        var waiting: [Place] = []
        for place in places {
            let push = try connection.first("SELECT push FROM outbox WHERE device = ? AND seq = ?", place.values) {
                (row) throws(StoreError) in try row.integer(0)
            }
            if push == place.push { waiting.append(place) }
        }
        return waiting
    }

    /// The entries that devices don't have yet, by the push's id.
    private func places(of id: NotificationID) throws(StoreError) -> [Place] {
        let row = try connection.first("SELECT row FROM history WHERE id = ?", [.text(id.text)]) {
            (row) throws(StoreError) in try row.integer(0)
        }
        var places: [Place] = []
        if let row { places = try waiting(sent(row)) }
        return try places
            + connection.query(
                """
                SELECT device, seq, push FROM outbox
                WHERE push < 0 AND push IN (SELECT -row FROM outbox_push WHERE id = ?)
                """, [.text(id.text)]
            ) { (row) throws(StoreError) in
                Place(device: try row.integer(0), seq: try row.integer(1), push: try row.integer(2))
            }
    }

    /// Keeps a copy of a push; gives what its entries refer to.
    func copy(_ event: NotificationEvent) throws(StoreError) -> Int64 {
        try connection.execute(
            "INSERT INTO outbox_push (id, payload) VALUES (?, ?)",
            [.text(event.id.text), .text(event.payload(as: .bellwire).serialized())])
        return -connection.lastInsertRow
    }

    private func event(_ push: Int64, seq: Int64?) throws(StoreError) -> NotificationEvent? {
        var event: NotificationEvent?
        if push > 0 {
            event = try connection.first(
                "SELECT \(StoredNotification.columns) FROM history WHERE row = ?", [.integer(push)]
            ) { (row) throws(StoreError) in try StoredNotification.read(row).event }
        } else {
            let payload = try connection.first("SELECT payload FROM outbox_push WHERE row = ?", [.integer(-push)]) {
                (row) throws(StoreError) in try row.text(0)
            }
            if let payload, let value = try? JSONValue(parsing: payload),
                case .event(let copy) = Payload(decoding: value)
            {
                event = copy
            }
        }
        event?.pushSeq = seq
        return event
    }

    private func position(of device: PeerID) throws(StoreError) -> Position {
        try connection.first(
            "SELECT last, acknowledged FROM push_count JOIN peer ON number = push_count.peer WHERE id = ?",
            [.text(device.text)]
        ) { (row) throws(StoreError) in
            Position(last: try row.integer(0), acknowledged: try row.integer(1))
        } ?? Position(last: 0, acknowledged: 0)
    }
}
