import JSON
import Sealing
import Store
import Wire

/// The push tokens of all devices, inside one piece of work of the store (WireSealing, "Push tokens").
///
/// A device has at most one token per service, and a token belongs to one device: the last that gave it. A token that
/// was taken back keeps its place in the order of that device's frames, because an older frame may come later over
/// another relay.
struct DeviceTokens {
    /// Maximum services per device, including revoked ones; beyond that the oldest is dropped.
    static let serviceLimit = 16

    static let migrations = [
        Migration(
            "tokens.1",
            sql: """
                CREATE TABLE device_token (
                    device TEXT NOT NULL,
                    service TEXT NOT NULL,
                    token TEXT,
                    device_id TEXT NOT NULL,
                    received_at INTEGER NOT NULL,
                    epoch INTEGER NOT NULL,
                    seq INTEGER NOT NULL,
                    PRIMARY KEY (device, service)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX device_token_of ON device_token (service, token);
                """)
    ]

    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// Applies the tokens in a device's frame with this seal mark. A frame older than the last one for a service is
    /// ignored for that service.
    func apply(
        _ statement: PushTokenStatement, _ mark: SealMark, deviceID: String, now: EpochMilliseconds
    ) throws(StoreError) {
        let (device, service) = (Value.text(mark.peer.text), Value.text(statement.service.text))
        let token = Value.optional(statement.token?.hex)
        let last = try connection.first(
            "SELECT epoch, seq FROM device_token WHERE device = ? AND service = ?", [device, service]
        ) { (row) throws(StoreError) in (try row.integer(0), try row.integer(1)) }
        // Sessions have no order among each other: only one at a time is current.
        if let last, !mark.isOfSession || mark.epoch == last.0, (mark.epoch, mark.seq) <= last { return }
        if statement.token != nil {
            try connection.execute(
                "UPDATE device_token SET token = NULL WHERE service = ? AND token = ? AND device <> ?",
                [service, token, device])
        }
        try connection.execute(
            """
            INSERT INTO device_token (device, service, token, device_id, received_at, epoch, seq)
            VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (device, service) DO UPDATE SET
                token = excluded.token, device_id = excluded.device_id, received_at = excluded.received_at,
                epoch = excluded.epoch, seq = excluded.seq
            """,
            [device, service, token, .text(deviceID), .integer(now), .integer(mark.epoch), .integer(mark.seq)])
        try connection.execute(
            """
            DELETE FROM device_token WHERE device = ?1 AND service NOT IN (
                SELECT service FROM device_token WHERE device = ?1 ORDER BY received_at DESC, epoch DESC, seq DESC LIMIT ?2)
            """, [device, .integer(Self.serviceLimit)])
    }

    /// Whether the device has a token of any service.
    func contains(_ device: PeerID) throws(StoreError) -> Bool {
        try connection.integer(
            "SELECT count(*) FROM device_token WHERE device = ? AND token IS NOT NULL", [.text(device.text)]) > 0
    }

    /// The device has another key, and maybe another id for itself (WireRekey, "Switch").
    func move(_ old: PeerID, to new: PeerID, deviceID: String) throws(StoreError) {
        try connection.execute(
            "UPDATE OR REPLACE device_token SET device = ?, device_id = ? WHERE device = ?",
            [.text(new.text), .text(deviceID), .text(old.text)])
    }

    /// It is not paired any more.
    func forget(_ device: PeerID) throws(StoreError) {
        try connection.execute("DELETE FROM device_token WHERE device = ?", [.text(device.text)])
    }

    /// As `bw_desktop_tokens()` gives them.
    func all() throws(StoreError) -> [JSONValue] {
        try connection.query(
            """
            SELECT device, device_id, service, token, received_at FROM device_token
            WHERE token IS NOT NULL ORDER BY device, service
            """
        ) { (row) throws(StoreError) in
            [
                "device": .string(try row.text(0)), "deviceId": .string(try row.text(1)),
                "service": .string(try row.text(2)), "token": .string(try row.text(3)),
                "receivedAt": .integer(try row.integer(4)),
            ]
        }
    }
}
