import Listing
import Notifications
package import Store
package import Wire

/// Puts pushes in the outboxes, several in one piece of work: each device's position is read once and written once.
///
/// ``finish()`` belongs into the same piece of work.
package struct OutboxWriter {
    private struct Device {
        let number: Int64
        var last: Int64
        let acknowledged: Int64
    }

    private let connection: Connection
    private var devices: [PeerID: Device] = [:]

    package init(_ connection: Connection) { self.connection = connection }

    /// Puts a push in for each of them, and takes out what it replaces. Gives the number that it has for each that it is
    /// kept for: what is silenced is for the history alone, and a deployed phone would show it.
    ///
    /// - Parameter row: its row in the history, in this transaction; `nil` = the outbox keeps a copy.
    package mutating func enqueue(
        _ event: NotificationEvent, row: Int64?, to recipients: [Outbox.Recipient], now: EpochMilliseconds
    ) throws(StoreError) -> [PeerID: Int64] {
        var seqs: [PeerID: Int64] = [:]
        var places: [Outbox.Place] = []
        var push = row
        for recipient in recipients where recipient.isSealed || event.richer.silenced != true {
            guard seqs[recipient.device] == nil else { continue }
            if push == nil { push = try Outbox(connection).copy(event) }
            var device = try device(recipient.device)
            if let key = event.richer.collapseKey {
                try connection.execute(
                    "DELETE FROM outbox WHERE device = ? AND collapse_key = ?", [.integer(device.number), .text(key)])
            }
            let seq = device.last &+ 1
            device.last = seq
            let kept = now &+ (recipient.isSealed ? Outbox.lifetime : Outbox.plainLifetime)
            try connection.execute(
                "INSERT INTO outbox VALUES (?, ?, ?, ?, ?)",
                [
                    .integer(device.number), .integer(seq), .optional(push),
                    .integer(min(event.richer.expiresAt ?? kept, kept)), .optional(event.richer.collapseKey),
                ])
            // A device that is not so far behind has no more than that.
            if seq - device.acknowledged > Outbox.limit {
                try connection.execute(
                    "DELETE FROM outbox WHERE device = ? AND seq <= ?",
                    [.integer(device.number), .integer(seq - Outbox.limit)])
            }
            devices[recipient.device] = device
            seqs[recipient.device] = seq
            if let row { places.append(Outbox.Place(device: device.number, seq: seq, push: row)) }
        }
        if let row, !places.isEmpty { try Outbox(connection).note(places, of: row) }
        return seqs
    }

    /// Writes down how far the devices are now.
    package mutating func finish() throws(StoreError) {
        for device in devices.values {
            try connection.execute(
                "INSERT INTO push_count (peer, last) VALUES (?, ?) ON CONFLICT (peer) DO UPDATE SET last = excluded.last",
                [.integer(device.number), .integer(device.last)])
        }
        devices = [:]
    }

    private func device(_ peer: PeerID) throws(StoreError) -> Device {
        if let device = devices[peer] { return device }
        let stored = try connection.first(
            "SELECT number, last, acknowledged FROM peer JOIN push_count ON push_count.peer = number WHERE id = ?",
            [.text(peer.text)]
        ) { (row) throws(StoreError) in
            Device(number: try row.integer(0), last: try row.integer(1), acknowledged: try row.integer(2))
        }
        if let stored { return stored }
        return Device(number: try PeerNumbers(connection).number(of: peer), last: 0, acknowledged: 0)
    }
}
