import Commands
import History
import Hosting
import JSON
import Notifications
import Pairing
import Signalling
import Store
import Transport
import Wire

// What the desktop's user lets its devices do, and what is too old.
extension DesktopCore {
    /// `{"skills":[…],"devices":[{"id","name","allowed":{skill: risk}}]}`
    func describePermissions(_ then: @escaping Then) {
        let devices = devices
        store { (connection) throws(StoreError) -> JSONObject in
            let permissions = Permissions(connection)
            var rows: [JSONValue] = []
            for device in devices {
                var allowed: JSONObject = [:]
                for skill in permissions.skillNames {
                    allowed[skill] = .string(try permissions.allowance(of: device.did, for: skill).name)
                }
                rows.append(
                    .object([
                        "id": .string(device.did.text), "name": .string(device.name), "allowed": .object(allowed),
                    ]))
            }
            return ["skills": try permissions.registry(), "devices": .array(rows)]
        } then: { _, result in
            then(result.map { JSONValue.object($0).serialized() }.mapError { HostError($0) })
        }
    }

    func allow(_ allowance: Permissions.Allowance, _ skill: String, to device: PeerID, _ then: @escaping Then) {
        guard devices.contains(where: { $0.did == device }) else { return then(.failure(.noSuchDevice)) }
        changePermissions(then) { (permissions) throws(StoreError) in
            try permissions.allow(allowance, to: device, for: skill)
        }
    }

    func enable(_ skill: String, _ isEnabled: Bool, _ then: @escaping Then) {
        changePermissions(then) { (permissions) throws(StoreError) in try permissions.setEnabled(isEnabled, skill) }
    }

    /// `change` gives false when there is no such skill.
    private func changePermissions(
        _ then: @escaping Then, _ change: @escaping @Sendable (Permissions) throws(StoreError) -> Bool
    ) {
        store { (connection) throws(StoreError) in
            try change(Permissions(connection))
        } then: { _, result in
            switch result {
            case .success(true): then(.success("{}"))
            case .success(false): then(.failure(.noSuchSkill))
            case .failure(let error): then(.failure(HostError(error)))
            }
        }
    }

    // MARK: What is too old

    private static let day: UInt64 = 24 * 60 * 60 * 1_000

    func beginPruning() {
        guard !pruneTimer.isRunning else { return }
        prune()
        pruneTimer.start(after: Self.day, every: Self.day)
    }

    /// The history keeps so many rows, and so many days, as the settings say; answers are kept for two days.
    func prune() {
        let now = EpochMilliseconds.now
        store { (connection) throws(StoreError) in
            try AnswerTable(connection).prune(now: now)
            try HistoryCounts(connection).sweep()
            let history = History(connection)
            try history.prune(try SettingsTable(connection).current().settings, now: now)
            return try history.unreadCount()
        } then: { core, result in
            switch result {
            case .success(let unread): core.tell(unread: unread)
            case .failure(let error) where error.code != .closed:
                core.channel.problem("store_failed", "what is too old could not be removed: \(error.message)")
            case .failure: break
            }
        }
    }
}

extension HostError {
    fileprivate static let noSuchSkill = HostError(
        .notFound, "this desktop has no such skill; bw_desktop_permissions() has them", detail: ["field": "skill"])
}
