import Commands
import Delivery
import History
import Hosting
import Identity
import JSON
import Listing
import Pairing
import Peering
import Sealing
import Signalling
import Store
import Transport
import Wire

/// The devices in the desktop's database. Each call is one transaction, with its outcome delivered on the loop.
struct DeviceStore: Sendable {
    typealias Outcome<T> = @Sendable @EventLoop (Result<T, StoreError>) -> Void

    let database: Database

    /// Stores a pairing, with the marks of the sealed frames that made it and its preshared key. Returns the stored device.
    func pair(_ record: PairingRecord<PairedDevice>, then: @escaping Outcome<PairedDevice>) {
        let device = record.peer
        database.perform { (connection) throws(StoreError) in
            try RevokedKeys(connection).check(device.did)
            try record.saveSeal(connection)
            try UnpairNotices(connection).remove(device.did)
            try DevicePrekeyTable(connection).forget(device.did)
            try Outbox(connection).forgetEpochs(of: device.did)
            return try PairedDevices(connection).upsert(device)
        } then: {
            then($0)
        }
    }

    /// Gives `nil` for a device that is not paired.
    func rename(_ device: PeerID, to name: String, then: @escaping Outcome<PairedDevice?>) {
        database.perform { (connection) throws(StoreError) in
            guard try PairedDevices(connection).rename(device, to: name) else { return nil }
            return try PairedDevices(connection).find(device)
        } then: {
            then($0)
        }
    }

    /// The device was heard, and wrote in that form. Gives `nil` for a device that is not paired.
    func touch(_ device: PeerID, form: PayloadForm, then: @escaping Outcome<PairedDevice?>) {
        let now = EpochMilliseconds.now
        database.perform { (connection) throws(StoreError) in
            try PairedDevices(connection).touch(device, at: now, form: form)
            return try PairedDevices(connection).find(device)
        } then: {
            then($0)
        }
    }

    /// These are unpaired; only a device that was paired sealed can tell that a reminder is ours.
    ///
    /// - Parameter everybody: includes devices that the loop does not know yet.
    func unpair(_ devices: [PairedDevice], everybody: Bool = false, then: @escaping Outcome<Void>) {
        database.perform { (connection) throws(StoreError) in
            let moves = try MoveTables(connection).peers()
            for device in devices {
                try Self.remove(device.did, connection, isTold: device.isSecure)
                guard device.isSecure else { continue }
                try UnpairNotices(connection).add(device.did, at: .now)
                for id in moves.successors(of: device.did) {
                    try SealPeers(connection).copy(device.did, to: id)
                    try UnpairNotices(connection).add(id, at: .now)
                }
            }
            guard everybody else { return }
            for device in try PairedDevices(connection).clear() {
                try GroupTable(connection).forget(device.did)
                try ScheduleTable(connection).forget(device.did)
                try SealPeers(connection).forget(device.did)
                try DevicePrekeyTable(connection).forget(device.did)
                try MoveTables(connection).forget(device.did)
            }
        } then: {
            then($0)
        }
    }

    /// The device has ended its pairing itself.
    func unpaired(by device: PeerID, _ mark: SealMark, then: @escaping Outcome<Void>) {
        database.perform { (connection) throws(StoreError) in
            try SealStates(connection).save(mark)
            try Self.remove(device, connection)
        } then: {
            then($0)
        }
    }

    /// A device's keys are refused. `false`: too many are already, and nothing has changed.
    func revoke(_ keys: [RevokedKey], then: @escaping Outcome<Bool>) {
        database.perform { (connection) throws(StoreError) in
            guard try RevokedKeys(connection).add(keys) else { return false }
            for key in keys {
                try UnpairNotices(connection).remove(key.id)
                try Self.remove(key.id, connection, isTold: true)
            }
            return true
        } then: {
            then($0)
        }
    }

    /// The key is not refused any more. Its device may believe that it is paired. `false`: it was not refused.
    func readmit(_ key: PeerID, then: @escaping Outcome<Bool>) {
        database.perform { (connection) throws(StoreError) in
            guard try RevokedKeys(connection).remove(key) else { return false }
            try UnpairNotices(connection).add(key, at: .now)
            return true
        } then: {
            then($0)
        }
    }

    /// A device has another key: everything goes on under that. Gives its outbox's position; `nil` = the move was made
    /// before, or can't be made, and nothing has changed.
    func move(_ move: PeerMove, to device: PairedDevice, then: @escaping Outcome<Outbox.Position?>) {
        database.perform { (connection) throws(StoreError) in
            let (old, new) = (move.old, move.new)
            guard try PeerNumbers(connection).find(new) == nil, try PairedDevices(connection).find(new) == nil,
                try MoveTables(connection).complete(move, name: device.name, at: .now)
            else { return nil }
            try PairedDevices(connection).move(old, to: device)
            _ = try PeerNumbers(connection).move(old, to: new)
            try Permissions(connection).move(old, to: new)
            try AnswerTable(connection).move(old, to: new)
            try SettingsTable(connection).move(old, to: new)
            try DeviceTokens(connection).move(old, to: new, deviceID: device.deviceID)
            try DevicePrekeyTable(connection).forget(old)
            try History(connection).moveTarget(old, to: new)
            try GroupTable(connection).move(old, to: new)
            try ScheduleTable(connection).move(old, to: new)
            return try Outbox(connection).positions()[new] ?? Outbox.Position(last: 0, acknowledged: 0)
        } then: {
            then($0)
        }
    }

    /// A device that believes it is paired, but is not.
    ///
    /// - Parameter presharedKey: proves what it is told.
    func remind(_ device: PeerID, _ presharedKey: PresharedKey) {
        database.perform { (connection) throws(StoreError) in
            // Another flow may have paired it in the meantime.
            guard try PairedDevices(connection).find(device) == nil else { return }
            try SealPeers(connection).begin(device, presharedKey: presharedKey)
            try UnpairNotices(connection).add(device, at: .now)
        } then: { _ in
        }
    }

    /// A device has given a push token, or taken one back (WireSealing, "Push tokens"). Gives `false` for a replayed
    /// frame.
    func apply(_ statement: PushTokenStatement, _ mark: SealMark, then: @escaping Outcome<Bool>) {
        database.perform { (connection) throws(StoreError) in
            guard try SealStates(connection).save(mark) else { return false }
            // It may have been unpaired in the meantime.
            guard let device = try PairedDevices(connection).find(mark.peer) else { return true }
            let tokens = DeviceTokens(connection)
            try tokens.apply(statement, mark, deviceID: device.deviceID, now: .now)
            // Without a token it has thrown its prekeys away: what is sealed to one can't be read any more.
            if try !tokens.contains(mark.peer) { try DevicePrekeyTable(connection).forget(mark.peer) }
            return true
        } then: {
            then($0)
        }
    }

    /// As `bw_desktop_tokens()` gives them.
    func tokens(then: @escaping Then) {
        answer(then) { (connection) throws(StoreError) in .array(try DeviceTokens(connection).all()) }
    }

    /// The replay window stays: the keys do too.
    ///
    /// - Parameter isTold: now, or once it is readmitted. The preshared key proves that, so it stays.
    private static func remove(
        _ device: PeerID, _ connection: Connection, isTold: Bool = false
    ) throws(StoreError) {
        try Permissions(connection).forget(device)
        try GroupTable(connection).forget(device)
        try ScheduleTable(connection).forget(device)
        try Outbox(connection).forget(device)
        try DeviceTokens(connection).forget(device)
        try DevicePrekeyTable(connection).forget(device)
        if !isTold { try SealPeers(connection).forget(device) }
        try MoveTables(connection).forget(device)
        _ = try PairedDevices(connection).remove(device)
    }

    private func answer(
        _ then: @escaping Then, _ query: @escaping @Sendable (Connection) throws(StoreError) -> JSONValue
    ) {
        database.submit(query) { result in then(result.map { HostReply($0) }.mapError { HostError($0) }) }
    }
}

// What the desktop's user lets its devices do.
extension DeviceStore {
    /// `{"skills":[…],"devices":[{"id","name","allowed":{skill: risk}}]}`
    func permissions(of devices: [PairedDevice], then: @escaping Then) {
        answer(then) { (connection) throws(StoreError) in
            let permissions = Permissions(connection)
            var rows: [JSONValue] = []
            for device in devices {
                var allowed: JSONObject = [:]
                for skill in permissions.skillNames {
                    allowed[skill] = .string(try permissions.allowance(of: device.did, for: skill).name)
                }
                rows.append([
                    "id": .string(device.did.text), "name": .string(device.name), "allowed": .object(allowed),
                ])
            }
            return ["skills": try permissions.registry(), "devices": .array(rows)]
        }
    }

    func allow(_ allowance: Permissions.Allowance, _ skill: String, to device: PeerID, then: @escaping Then) {
        change(then) { (permissions) throws(StoreError) in try permissions.allow(allowance, to: device, for: skill) }
    }

    func enable(_ skill: String, _ isEnabled: Bool, then: @escaping Then) {
        change(then) { (permissions) throws(StoreError) in try permissions.setEnabled(isEnabled, skill) }
    }

    /// - Parameter change: returns `false` if there is no such skill.
    private func change(
        _ then: @escaping Then, _ change: @escaping @Sendable (Permissions) throws(StoreError) -> Bool
    ) {
        database.submit { (connection) throws(StoreError) in
            try change(Permissions(connection))
        } then: { result in
            switch result {
            case .success(true): then(.success(.done))
            case .success(false): then(.failure(.noSuchSkill))
            case .failure(let error): then(.failure(HostError(error)))
            }
        }
    }
}

extension HostError {
    static var noSuchDevice: Self { HostError(.notFound, "no such device is paired") }

    fileprivate static var noSuchSkill: Self {
        HostError(
            .notFound, "no such skill; see bw_desktop_permissions()", detail: ["field": "skill"])
    }
}
