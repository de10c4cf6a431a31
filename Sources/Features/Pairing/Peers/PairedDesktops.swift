import Identity
package import Store
package import Wire

/// The table of the desktops that this device is paired with, inside one piece of work of the store.
///
/// ```swift
/// database.submit { connection throws(StoreError) in try PairedDesktops(connection).all() } then: { … }
/// ```
package struct PairedDesktops {
    package static let migrations = [
        Migration(
            "pairing.desktops.1",
            sql: """
                CREATE TABLE paired_desktop (
                    address TEXT PRIMARY KEY NOT NULL,
                    pc_peer_id TEXT NOT NULL,
                    name TEXT NOT NULL,
                    platform TEXT NOT NULL,
                    lan_signaling_url TEXT,
                    relay_url TEXT,
                    ice_servers_json TEXT,
                    ice_expiry INTEGER, -- epoch seconds
                    paired_at INTEGER NOT NULL,
                    last_seen_at INTEGER NOT NULL,
                    secure INTEGER NOT NULL CHECK (secure IN (0, 1))
                ) STRICT;
                CREATE INDEX paired_desktop_pc_peer_id ON paired_desktop (pc_peer_id);
                """),
        Migration(
            "pairing.desktops.2",
            sql: """
                -- When we were last registered there; NULL = never.
                ALTER TABLE paired_desktop ADD COLUMN lan_worked_at INTEGER;
                ALTER TABLE paired_desktop ADD COLUMN relay_worked_at INTEGER;
                -- 20 bits: what both users can compare. NULL where it was not paired sealed.
                ALTER TABLE paired_desktop ADD COLUMN sas INTEGER;
                """),
        Migration(
            "pairing.desktops.3",
            sql: """
                ALTER TABLE paired_desktop ADD COLUMN confirmed INTEGER NOT NULL DEFAULT 1 CHECK (confirmed IN (0, 1))
                """),
    ]

    private static let columns = """
        address, pc_peer_id, name, platform, lan_signaling_url, relay_url, ice_servers_json, ice_expiry, paired_at, \
        last_seen_at, secure, lan_worked_at, relay_worked_at, sas, confirmed
        """

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    /// Adds the desktop, or brings its row up to date. Gives what is stored now.
    ///
    /// An existing desktop keeps its `pairedAt`, and every value that is `nil` in the new one. A plain pairing never
    /// changes a row that was paired sealed: then the old row is returned unchanged (WireSealing, "After a sealed
    /// pairing").
    package func upsert(_ desktop: PairedDesktop) throws(StoreError) -> PairedDesktop {
        try connection.execute(
            """
            INSERT INTO paired_desktop (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (address) DO UPDATE SET
                pc_peer_id = excluded.pc_peer_id,
                -- A typed code of a deployed desktop says neither.
                name = iif(excluded.name = '', name, excluded.name),
                platform = iif(excluded.platform = '', platform, excluded.platform),
                lan_signaling_url = coalesce(excluded.lan_signaling_url, lan_signaling_url),
                relay_url = coalesce(excluded.relay_url, relay_url),
                ice_expiry = iif(excluded.ice_servers_json IS NULL, ice_expiry, excluded.ice_expiry),
                ice_servers_json = coalesce(excluded.ice_servers_json, ice_servers_json),
                last_seen_at = max(last_seen_at, excluded.last_seen_at),
                secure = excluded.secure,
                -- A url that is another one has its own past.
                lan_worked_at = iif(
                    coalesce(excluded.lan_signaling_url, lan_signaling_url) IS lan_signaling_url,
                    coalesce(excluded.lan_worked_at, lan_worked_at), excluded.lan_worked_at),
                relay_worked_at = iif(
                    coalesce(excluded.relay_url, relay_url) IS relay_url,
                    coalesce(excluded.relay_worked_at, relay_worked_at), excluded.relay_worked_at),
                sas = excluded.sas,
                confirmed = excluded.confirmed
            WHERE excluded.secure >= secure
            """,
            [
                .text(desktop.address.text), .text(desktop.pcPeerID.text), .text(desktop.name),
                .text(desktop.platform), .optional(desktop.lanSignalingURL), .optional(desktop.relayURL),
                .optional(desktop.iceServersJSON), .optional(desktop.iceExpiry), .integer(desktop.pairedAt),
                .integer(desktop.lastSeenAt), .flag(desktop.isSecure),
                .optional(desktop.lanWorkedAt), .optional(desktop.relayWorkedAt),
                .optional(desktop.shortString.map { Int64($0.bits) }), .flag(desktop.isConfirmed),
            ])
        return try find(desktop.address) ?? desktop
    }

    /// The oldest pairing first.
    package func all() throws(StoreError) -> [PairedDesktop] {
        try connection.query("SELECT \(Self.columns) FROM paired_desktop ORDER BY paired_at, address", [], Self.read)
    }

    /// By its address, else by what it calls itself.
    package func find(_ id: PeerID) throws(StoreError) -> PairedDesktop? {
        try connection.first(
            """
            SELECT \(Self.columns) FROM paired_desktop WHERE address = ?1 OR pc_peer_id = ?1
            ORDER BY address = ?1 DESC, paired_at LIMIT 1
            """, [.text(id.text)], Self.read)
    }

    /// `false` if there is no such desktop. The name is cleaned for display.
    package func rename(_ id: PeerID, to name: String) throws(StoreError) -> Bool {
        try connection.execute(
            "UPDATE paired_desktop SET name = ? WHERE address = ?",
            [.text(DisplayText.clean(name)), .text(id.text)]) > 0
    }

    /// Names a desktop that has no name yet.
    package func name(_ id: PeerID, _ info: PairingDeviceInfo) throws(StoreError) {
        try connection.execute(
            """
            UPDATE paired_desktop SET name = ?, platform = iif(platform = '', ?, platform)
            WHERE address = ? AND name = ''
            """, [.text(info.name), .text(info.platform), .text(id.text)])
    }

    /// `false` if there was no such desktop.
    package func remove(_ id: PeerID) throws(StoreError) -> Bool {
        try connection.execute("DELETE FROM paired_desktop WHERE address = ?", [.text(id.text)]) > 0
    }

    /// The desktop has another key: its rows go on under that id (WireRekey, "Switch").
    package func move(_ old: PeerID, to new: PeerID) throws(StoreError) {
        let ids: [Value] = [.text(new.text), .text(old.text)]
        try connection.execute(
            "UPDATE paired_desktop SET pc_peer_id = ?1 WHERE pc_peer_id = ?2 AND address = ?2",
            ids)
        try connection.execute("UPDATE paired_desktop SET address = ? WHERE address = ?", ids)
    }

    /// Every desktop is unpaired. Gives those that were there.
    package func clear() throws(StoreError) -> [PairedDesktop] {
        let desktops = try all()
        try connection.execute("DELETE FROM paired_desktop")
        return desktops
    }

    /// We are registered at this relay: whichever desktops are reached over it, it works.
    package func worked(_ url: String, at time: EpochMilliseconds) throws(StoreError) {
        try connection.execute(
            """
            UPDATE paired_desktop SET
                lan_worked_at = iif(lan_signaling_url = ?1, max(coalesce(lan_worked_at, ?2), ?2), lan_worked_at),
                relay_worked_at = iif(relay_url = ?1, max(coalesce(relay_worked_at, ?2), ?2), relay_worked_at)
            WHERE lan_signaling_url = ?1 OR relay_url = ?1
            """, [.text(url), .integer(time)])
    }

    /// The relay that worked last, of any desktop: where a device without one of its own shows a code.
    package func lastWorkingURL() throws(StoreError) -> String? {
        try connection.first(
            """
            SELECT url FROM (
                SELECT relay_url AS url, relay_worked_at AS at, 1 AS relay FROM paired_desktop
                UNION ALL SELECT lan_signaling_url, lan_worked_at, 0 FROM paired_desktop
            ) WHERE url IS NOT NULL AND at IS NOT NULL ORDER BY at DESC, relay DESC, url LIMIT 1
            """, []
        ) { (row) throws(StoreError) in try row.text(0) }
    }

    /// The desktop was heard of. The time never goes back.
    package func touch(_ id: PeerID, at time: EpochMilliseconds) throws(StoreError) {
        try connection.execute(
            "UPDATE paired_desktop SET last_seen_at = max(last_seen_at, ?) WHERE address = ?",
            [.integer(time), .text(id.text)])
    }

    /// The desktop has sent something that it sends to its devices alone.
    package func confirm(_ id: PeerID) throws(StoreError) {
        try connection.execute("UPDATE paired_desktop SET confirmed = 1 WHERE address = ?", [.text(id.text)])
    }

    /// The desktop has sent its ICE servers. `false` if there is no such desktop.
    package func update(_ id: PeerID, with ice: ICEConfig) throws(StoreError) -> Bool {
        try connection.execute(
            "UPDATE paired_desktop SET ice_servers_json = ?, ice_expiry = ? WHERE address = ?",
            [.text(ice.iceServersJSON), .optional(ice.iceExpiry), .text(id.text)]) > 0
    }

    private static func read(_ row: borrowing Row) throws(StoreError) -> PairedDesktop {
        PairedDesktop(
            address: PeerID(try row.text(0)), pcPeerID: PeerID(try row.text(1)), name: try row.text(2),
            platform: try row.text(3), lanSignalingURL: try row.optionalText(4), relayURL: try row.optionalText(5),
            lanWorkedAt: try row.optionalInteger(11), relayWorkedAt: try row.optionalInteger(12),
            iceServersJSON: try row.optionalText(6), iceExpiry: try row.optionalInteger(7),
            pairedAt: try row.integer(8), lastSeenAt: try row.integer(9), isSecure: try row.flag(10),
            isConfirmed: try row.flag(14),
            shortString: ShortAuthenticationString(stored: try row.optionalInteger(13)))
    }
}
