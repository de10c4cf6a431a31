package import JSON
package import Store
package import Wire

/// Named sets of devices, to which one may push together.
///
/// Lives for one job of the store, on its connection. A group without devices doesn't exist.
package struct GroupTable {
    /// Groups of a desktop at most.
    package static let limit: Int64 = 256
    /// Of a name, in bytes of UTF-8.
    package static let nameLimit = 64

    private let connection: Connection

    package init(_ connection: Connection) { self.connection = connection }

    static let migration = Migration(
        "group.1",
        sql: """
            CREATE TABLE device_group (
                name TEXT NOT NULL,
                device TEXT NOT NULL,
                PRIMARY KEY (name, device)
            ) STRICT, WITHOUT ROWID;
            """)

    /// Empty if there is no such group.
    package func members(of name: String) throws(StoreError) -> Set<PeerID> {
        Set(
            try connection.query("SELECT device FROM device_group WHERE name = ?", [.text(name)]) {
                (row) throws(StoreError) in PeerID(try row.text(0))
            })
    }

    /// Replaces the devices of a group; none removes it. `false`: there would be more than ``limit`` groups, and nothing
    /// has changed.
    package func set(_ name: String, to devices: [PeerID]) throws(StoreError) -> Bool {
        let others = try connection.integer(
            "SELECT count(DISTINCT name) FROM device_group WHERE name <> ?", [.text(name)])
        guard devices.isEmpty || others < Self.limit else { return false }
        try connection.execute("DELETE FROM device_group WHERE name = ?", [.text(name)])
        for device in devices {
            try connection.execute(
                "INSERT OR IGNORE INTO device_group VALUES (?, ?)", [.text(name), .text(device.text)])
        }
        return true
    }

    /// `[{"name","devices":[id]}]`, by name.
    package func json() throws(StoreError) -> JSONValue {
        let rows = try connection.query("SELECT name, device FROM device_group ORDER BY name, device") {
            (row) throws(StoreError) in (name: try row.text(0), device: try row.text(1))
        }
        var groups: [(name: String, devices: [JSONValue])] = []
        for row in rows {
            if groups.last?.name != row.name { groups.append((row.name, [])) }
            groups[groups.count - 1].devices.append(.string(row.device))
        }
        return .array(groups.map { ["name": .string($0.name), "devices": .array($0.devices)] })
    }

    /// Forgets a device that was unpaired.
    package func forget(_ device: PeerID) throws(StoreError) {
        try connection.execute("DELETE FROM device_group WHERE device = ?", [.text(device.text)])
    }

    /// The device has another key (WireRekey, "Switch").
    package func move(_ old: PeerID, to new: PeerID) throws(StoreError) {
        try connection.execute(
            "UPDATE OR REPLACE device_group SET device = ? WHERE device = ?", [.text(new.text), .text(old.text)])
    }
}
