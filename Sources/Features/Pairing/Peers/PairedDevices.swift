import Identity
package import Store
package import Wire

/// The table of the devices that this desktop is paired with, inside one piece of work of the store.
package struct PairedDevices {
    package static let migrations = [
        Migration(
            "pairing.devices.1",
            sql: """
                CREATE TABLE paired_device (
                    did TEXT PRIMARY KEY NOT NULL,
                    device_id TEXT NOT NULL,
                    name TEXT NOT NULL,
                    platform TEXT NOT NULL,
                    paired_at INTEGER NOT NULL,
                    last_seen_at INTEGER NOT NULL,
                    secure INTEGER NOT NULL CHECK (secure IN (0, 1)),
                    text_payload INTEGER NOT NULL CHECK (text_payload IN (0, 1))
                ) STRICT;
                CREATE INDEX paired_device_device_id ON paired_device (device_id);
                """),
        // 20 bits: what both users can compare. NULL where it was not paired sealed.
        Migration("pairing.devices.2", sql: "ALTER TABLE paired_device ADD COLUMN sas INTEGER;"),
    ]

    private static let columns = "did, device_id, name, platform, paired_at, last_seen_at, secure, text_payload, sas"

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// Adds the device, or brings its row up to date. Gives what is stored now.
    ///
    /// An existing device keeps its `pairedAt`. A plain pairing never changes a row that was paired sealed: then the
    /// old row is returned unchanged (WireSealing, "After a sealed pairing").
    package func upsert(_ device: PairedDevice) throws(StoreError) -> PairedDevice {
        try connection.execute(
            """
            INSERT INTO paired_device (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (did) DO UPDATE SET
                device_id = excluded.device_id,
                name = excluded.name,
                platform = excluded.platform,
                last_seen_at = max(last_seen_at, excluded.last_seen_at),
                secure = excluded.secure,
                text_payload = excluded.text_payload,
                sas = excluded.sas
            WHERE excluded.secure >= secure
            """,
            [
                .text(device.did.text), .text(device.deviceID), .text(device.name), .text(device.platform),
                .integer(device.pairedAt), .integer(device.lastSeenAt), .flag(device.isSecure),
                .flag(device.payloadForm == .text), .optional(device.shortString.map { Int64($0.bits) }),
            ])
        return try find(device.did) ?? device
    }

    /// The oldest pairing first.
    package func all() throws(StoreError) -> [PairedDevice] {
        try connection.query("SELECT \(Self.columns) FROM paired_device ORDER BY paired_at, did", [], Self.read)
    }

    /// By its DID.
    package func find(_ did: PeerID) throws(StoreError) -> PairedDevice? {
        try connection.first(
            "SELECT \(Self.columns) FROM paired_device WHERE did = ?", [.text(did.text)], Self.read)
    }

    /// By its own id for itself, as `notification.sendToMobile` names it. The newest pairing, should two share the id.
    package func find(deviceID: String) throws(StoreError) -> PairedDevice? {
        try connection.first(
            "SELECT \(Self.columns) FROM paired_device WHERE device_id = ? ORDER BY paired_at DESC LIMIT 1",
            [.text(deviceID)], Self.read)
    }

    /// `false` if there is no such device. The name is cleaned for display.
    package func rename(_ did: PeerID, to name: String) throws(StoreError) -> Bool {
        try connection.execute(
            "UPDATE paired_device SET name = ? WHERE did = ?", [.text(DisplayText.clean(name)), .text(did.text)]) > 0
    }

    /// `false` if there was no such device.
    package func remove(_ did: PeerID) throws(StoreError) -> Bool {
        try connection.execute("DELETE FROM paired_device WHERE did = ?", [.text(did.text)]) > 0
    }

    /// The device has another key, and maybe another id for itself (WireRekey, "Switch").
    package func move(_ old: PeerID, to device: PairedDevice) throws(StoreError) {
        try connection.execute(
            "UPDATE paired_device SET did = ?, device_id = ? WHERE did = ?",
            [.text(device.did.text), .text(device.deviceID), .text(old.text)])
    }

    /// Every device is unpaired. Gives those that were there.
    package func clear() throws(StoreError) -> [PairedDevice] {
        let devices = try all()
        try connection.execute("DELETE FROM paired_device")
        return devices
    }

    /// The device was heard of, and wrote so. The time never goes back.
    package func touch(_ did: PeerID, at time: EpochMilliseconds, form: PayloadForm) throws(StoreError) {
        try connection.execute(
            "UPDATE paired_device SET last_seen_at = max(last_seen_at, ?) WHERE did = ?",
            [.integer(time), .text(did.text)])
        // By itself, since a change of it is a change of the pairing (PairingCopy).
        try connection.execute(
            "UPDATE paired_device SET text_payload = ?1 WHERE did = ?2 AND text_payload <> ?1",
            [.flag(form == .text), .text(did.text)])
    }

    private static func read(_ row: borrowing Row) throws(StoreError) -> PairedDevice {
        PairedDevice(
            did: PeerID(try row.text(0)), deviceID: try row.text(1), name: try row.text(2),
            platform: try row.text(3), pairedAt: try row.integer(4), lastSeenAt: try row.integer(5),
            isSecure: try row.flag(6), payloadForm: try row.flag(7) ? .text : .object,
            shortString: ShortAuthenticationString(stored: try row.optionalInteger(8)))
    }
}
