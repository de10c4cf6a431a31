package import JSON
package import Notifications
package import Store
package import Wire

/// The permissions that the desktop's user gives each device.
///
/// Lives for one job of the store, on its connection. By default a paired device may call safe and mutating methods.
package struct Permissions {
    private let connection: Connection
    private let skills: [Skill]

    package init(_ connection: Connection, skills: [Skill] = [.notification]) {
        self.connection = connection
        self.skills = skills
    }

    static let migration = Migration(
        "permission.1",
        sql: """
            CREATE TABLE skill_off (name TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
            CREATE TABLE allowance (
                device TEXT NOT NULL,
                skill TEXT NOT NULL,
                risk INTEGER NOT NULL,
                PRIMARY KEY (device, skill)
            ) STRICT, WITHOUT ROWID;
            """)

    /// How far a device may go with a skill.
    package enum Allowance: Sendable, Hashable {
        case nothing
        /// Methods of at most this risk.
        case upTo(Risk)

        /// Of a device of which the user has said nothing.
        package static let initial = Allowance.upTo(.mutating)

        package var name: String {
            switch self {
            case .nothing: "nothing"
            case .upTo(let risk): risk.name
            }
        }

        package init?(name: String) {
            if let risk = Risk(name: name) {
                self = .upTo(risk)
            } else if name == "nothing" {
                self = .nothing
            } else {
                return nil
            }
        }

        fileprivate var number: Int64 {
            switch self {
            case .nothing: 0
            case .upTo(let risk): risk.rawValue
            }
        }

        func covers(_ risk: Risk) -> Bool { risk.rawValue <= number }
    }

    package enum Verdict: Sendable, Equatable {
        case allowed
        /// What the device is told: -32001.
        case refused(RemoteError)
        /// No skill has this method.
        case unknown
    }

    /// May this device call this method?
    package func check(_ method: String, by device: PeerID) throws(StoreError) -> Verdict {
        for skill in skills {
            guard let risk = skill.methods[method] else { continue }
            guard try isEnabled(skill.name) else {
                return .refused(RemoteError(.permissionDenied, "the desktop's user has disabled this skill"))
            }
            guard try allowance(of: device, for: skill.name).covers(risk) else {
                return .refused(
                    RemoteError(.permissionDenied, "the desktop's user does not allow this device to do that"))
            }
            return .allowed
        }
        return .unknown
    }

    package func allowance(of device: PeerID, for skill: String) throws(StoreError) -> Allowance {
        let number = try connection.first(
            "SELECT risk FROM allowance WHERE device = ? AND skill = ?", [.text(device.text), .text(skill)]
        ) { (row) throws(StoreError) in try row.integer(0) }
        guard let number else { return .initial }
        // A number that no version of ours has written allows nothing.
        return Risk(rawValue: number).map(Allowance.upTo) ?? .nothing
    }

    /// - Returns: false when there is no such skill.
    package func allow(_ allowance: Allowance, to device: PeerID, for skill: String) throws(StoreError) -> Bool {
        guard skills.contains(where: { $0.name == skill }) else { return false }
        try connection.execute(
            """
            INSERT INTO allowance(device, skill, risk) VALUES (?, ?, ?)
            ON CONFLICT(device, skill) DO UPDATE SET risk = excluded.risk
            """, [.text(device.text), .text(skill), .integer(allowance.number)])
        return true
    }

    /// Forgets a device that was unpaired.
    package func forget(_ device: PeerID) throws(StoreError) {
        try connection.execute("DELETE FROM allowance WHERE device = ?", [.text(device.text)])
    }

    /// The device has another key: its rows go on under that id (WireRekey, "Switch").
    package func move(_ old: PeerID, to new: PeerID) throws(StoreError) {
        let ids: [Value] = [.text(new.text), .text(old.text)]
        try connection.execute("UPDATE OR REPLACE allowance SET device = ? WHERE device = ?", ids)
    }

    package func isEnabled(_ skill: String) throws(StoreError) -> Bool {
        try connection.integer("SELECT count(*) FROM skill_off WHERE name = ?", [.text(skill)]) == 0
    }

    /// - Returns: false when there is no such skill.
    package func setEnabled(_ isEnabled: Bool, _ skill: String) throws(StoreError) -> Bool {
        guard skills.contains(where: { $0.name == skill }) else { return false }
        if isEnabled {
            try connection.execute("DELETE FROM skill_off WHERE name = ?", [.text(skill)])
        } else {
            try connection.execute("INSERT OR IGNORE INTO skill_off(name) VALUES (?)", [.text(skill)])
        }
        return true
    }

    package var skillNames: [String] { skills.map(\.name) }

    /// The registry for the host: `[{"name","risk","enabled","methods"}]`.
    package func registry() throws(StoreError) -> JSONValue {
        var entries: [JSONValue] = []
        for skill in skills { entries.append(.object(skill.json(isEnabled: try isEnabled(skill.name)))) }
        return .array(entries)
    }
}
