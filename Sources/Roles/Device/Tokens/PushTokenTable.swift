import Pairing
import Store
import Wire

/// The part of the push tokens' state that survives a restart, inside one store job: the services of which a desktop
/// may have one, and the removals that are still to be said. Never a token.
struct PushTokenTable {
    static let migrations = [
        Migration(
            "tokens.device.1",
            sql: """
                CREATE TABLE push_service (
                    service TEXT PRIMARY KEY NOT NULL
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE push_token_removal (
                    desktop TEXT NOT NULL,
                    service TEXT NOT NULL,
                    PRIMARY KEY (desktop, service)
                ) STRICT, WITHOUT ROWID;
                """)
    ]

    private let connection: Connection

    init(_ connection: Connection) { self.connection = connection }

    /// From now on desktops may have a token of that service. `false`: there are too many.
    func give(_ service: PushService) throws(StoreError) -> Bool {
        let services = try services()
        if !services.contains(service) {
            guard services.count < PushTokensStateMachine.serviceLimit else { return false }
            try connection.execute("INSERT INTO push_service VALUES (?)", [.text(service.text)])
        }
        try connection.execute("DELETE FROM push_token_removal WHERE service = ?", [.text(service.text)])
        return true
    }

    /// The sealed desktops are to hear that there is none any more; `nil` = of any service. Gives the services that had
    /// one, and all removals that are still to be said.
    func takeBack(
        _ service: PushService?
    ) throws(StoreError) -> (services: [PushService], removals: [PushTokensStateMachine.Removal]) {
        let services = try services().filter { service == nil || $0 == service }
        for desktop in try PairedDesktops(connection).all() where desktop.isSecure {
            for service in services {
                try connection.execute(
                    "INSERT OR IGNORE INTO push_token_removal VALUES (?, ?)",
                    [.text(desktop.id.text), .text(service.text)])
            }
        }
        for service in services {
            try connection.execute("DELETE FROM push_service WHERE service = ?", [.text(service.text)])
        }
        return (services, try removals())
    }

    func removals() throws(StoreError) -> [PushTokensStateMachine.Removal] {
        let rows = try connection.query("SELECT desktop, service FROM push_token_removal ORDER BY desktop, service") {
            (row) throws(StoreError) in (PeerID(try row.text(0)), PushService(try row.text(1)))
        }
        return rows.compactMap { desktop, service in
            service.map { PushTokensStateMachine.Removal(desktop: desktop, service: $0) }
        }
    }

    /// It was said.
    func forget(_ removal: PushTokensStateMachine.Removal) throws(StoreError) {
        try connection.execute(
            "DELETE FROM push_token_removal WHERE desktop = ? AND service = ?",
            [.text(removal.desktop.text), .text(removal.service.text)])
    }

    /// The desktop is not paired any more: it forgets the tokens by itself.
    func forget(_ desktop: PeerID) throws(StoreError) {
        try connection.execute("DELETE FROM push_token_removal WHERE desktop = ?", [.text(desktop.text)])
    }

    /// The desktop has another key: its rows go on under that id (WireRekey, "Switch").
    func move(_ old: PeerID, to new: PeerID) throws(StoreError) {
        let ids: [Value] = [.text(new.text), .text(old.text)]
        try connection.execute(
            "UPDATE OR REPLACE push_token_removal SET desktop = ? WHERE desktop = ?",
            ids)
    }

    /// Whether desktops may have a token.
    func isInUse() throws(StoreError) -> Bool { try !services().isEmpty }

    private func services() throws(StoreError) -> [PushService] {
        try connection.query("SELECT service FROM push_service ORDER BY service") { (row) throws(StoreError) in
            PushService(try row.text(0))
        }.compactMap(\.self)
    }
}
