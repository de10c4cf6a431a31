import History
import Hosting
import JSON
import Notifications
import Pairing
import Store
import Wire

extension Desktop {
    /// What the host asks about its own desktop; devices can't.
    struct OwnRequest: Sendable {
        fileprivate enum Kind: Sendable {
            case groups
            case setGroup(String, devices: [PeerID])
            case scheduled
        }

        fileprivate let kind: Kind

        /// Whether it changes nothing.
        var isReading: Bool {
            switch kind {
            case .groups, .scheduled: true
            case .setGroup: false
            }
        }

        /// `nil`: the name is not one of these.
        init?(_ name: String, _ params: JSONObject) throws(HostError) {
            switch name {
            case "desktop.groups": kind = .groups
            case "desktop.scheduled": kind = .scheduled
            case "desktop.setGroup":
                guard let group = params["name"]?.string, 1...GroupTable.nameLimit ~= group.utf8.count,
                    group.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f })
                else {
                    throw Self.invalid(
                        "name", "must have 1 to \(GroupTable.nameLimit) bytes, none of them control characters")
                }
                var devices: [PeerID] = []
                for element in params["devices"]?.array ?? [] {
                    guard let id = element.string else { throw Self.invalid("devices", "must be a list of ids") }
                    devices.append(PeerID(id))
                }
                kind = .setGroup(group, devices: devices)
            default: return nil
            }
        }

        fileprivate static func invalid(_ field: String, _ why: String) -> HostError {
            HostError(.invalid, "\(field) \(why)", detail: ["field": .string(field)])
        }

        /// Runs as one job of the store.
        fileprivate func answer(_ paired: Set<PeerID>, _ connection: Connection) throws(StoreError) -> Result<
            JSONValue, HostError
        > {
            switch kind {
            case .groups: return .success(["groups": try GroupTable(connection).json()])
            case .scheduled: return .success(["scheduled": try ScheduleTable(connection).json()])
            case .setGroup(let name, let devices):
                guard devices.allSatisfy(paired.contains) else { return .failure(.noSuchDevice) }
                guard try GroupTable(connection).set(name, to: devices) else {
                    return .failure(HostError(.limit, "a desktop has at most \(GroupTable.limit) groups"))
                }
                return .success(["groups": try GroupTable(connection).json()])
            }
        }
    }
}

extension DesktopSwitchboard {
    func answer(_ request: Desktop.OwnRequest, _ then: @escaping Then) {
        let paired = Set(devices.all.map(\.did))
        store.database.submit { (connection) throws(StoreError) in
            try request.answer(paired, connection)
        } then: { result in
            switch result {
            case .success(let answer): then(answer.map { HostReply($0) })
            case .failure(let error): then(.failure(HostError(error)))
            }
        }
    }
}
