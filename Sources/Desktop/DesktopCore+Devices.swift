import Commands
import Delivery
import History
import Hosting
import JSON
import Notifications
import Pairing
import Sealing
import Signalling
import Store
import Transport
import Wire

// Renaming and unpairing.
extension DesktopCore {
    func rename(_ did: PeerID, to name: String, _ then: @escaping Then) {
        guard !isShutDown else { return then(.failure(.closed)) }
        guard (1...256).contains(name.utf8.count) else {
            return then(.failure(HostError(.invalid, "a name has 1 to 256 bytes", detail: ["field": "name"])))
        }
        guard devices.contains(where: { $0.did == did }) else { return then(.failure(.noSuchDevice)) }
        store { (connection) throws(StoreError) -> PairedDevice? in
            guard try PairedDevices(connection).rename(did, to: name) else { return nil }
            return try PairedDevices(connection).find(did)
        } then: { core, result in
            switch result {
            case .success(.some(let stored)) where core.devices.contains(where: { $0.did == did }):
                core.replace(stored)
                core.tellDevices()
                then(.success("{}"))
            case .success: then(.failure(.noSuchDevice))
            case .failure(let error): then(.failure(HostError(error)))
            }
        }
    }

    func unpair(_ did: PeerID, _ then: @escaping Then) {
        guard !isShutDown else { return then(.failure(.closed)) }
        guard let device = devices.first(where: { $0.did == did }) else { return then(.failure(.noSuchDevice)) }
        let notices = tellUnpaired([device])
        drop(did)
        tellDevices()
        store { (connection) throws(StoreError) in
            try Permissions(connection).forget(did)
            try Outbox(connection).forget(did)
            try DeviceTokens(connection).forget(did)
            for did in notices { try UnpairNotices(connection).add(did, at: .now) }
            return try PairedDevices(connection).remove(did)
        } then: { core, result in
            core.unpaired([device], result.map { _ in }, then)
        }
    }

    func clear(_ then: @escaping Then) {
        guard !isShutDown else { return then(.failure(.closed)) }
        let all = devices
        let notices = tellUnpaired(all)
        for device in all { drop(device.did) }
        // Those that are on their way to the disk for the first time, too.
        for did in storing.keys { storing[did]?.unpair() }
        if !all.isEmpty { tellDevices() }
        store { (connection) throws(StoreError) in
            for device in all { try Permissions(connection).forget(device.did) }
            for device in all { try Outbox(connection).forget(device.did) }
            for device in all { try DeviceTokens(connection).forget(device.did) }
            for did in notices { try UnpairNotices(connection).add(did, at: .now) }
            return try PairedDevices(connection).clear()
        } then: { core, result in
            core.unpaired(all, result.map { _ in }, then)
        }
    }

    /// The device has ended the pairing.
    func unpaired(by device: PairedDevice, mark: SealMark) {
        let did = device.did
        drop(did)
        tellDevices()
        store { (connection) throws(StoreError) in
            try SealStates(connection).save(mark)
            try Permissions(connection).forget(did)
            try Outbox(connection).forget(did)
            try DeviceTokens(connection).forget(did)
            return try PairedDevices(connection).remove(did)
        } then: { core, result in
            guard case .failure(let error) = result, error.code != .closed else { return }
            core.channel.problem("store_failed", "a device has unpaired, but is still stored: \(error.message)")
        }
    }

    private func unpaired(_ gone: [PairedDevice], _ result: Result<Void, StoreError>, _ then: Then) {
        switch result {
        case .success: then(.success("{}"))
        case .failure(let error):
            // They are still in the store: as they are listed, it can be tried again.
            for device in gone {
                notices[device.did] = nil
                replace(device)
            }
            if !isShutDown { tellDevices() }
            then(.failure(HostError(error)))
        }
    }

    /// From here on it may do nothing, and nothing goes to it. Its replay window stays: the keys do too.
    private func drop(_ did: PeerID) {
        rights.removeValue(forKey: did)?.revoke()
        devices.removeAll { $0.did == did }
        heardOver[did] = nil
        limiter.forget(did)
        clockLeads.forget(did)
        absentOver[did] = nil
        outboxes[did] = nil
        acknowledgements.forget(did)
        touchedAt[did] = nil
        storing[did]?.unpair()
        offering.removed(did)
        scanning.removed(did)
        coding.removed(did)
        sealer.dropBox(of: did)
    }

    func tellDevices() {
        channel.post(HostEvent(.peersChanged, data: ["devices": .array(devices.map { .object($0.json) })]))
    }
}

extension HostError {
    static let noSuchDevice = HostError(.notFound, "no such device is paired")
}
