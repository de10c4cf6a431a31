import Commands
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
    /// What ends a sealed pairing, said by either side (protocol.md 4.8).
    static let unpairType = "bellwire:unpair"

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
        sendUnpair(to: device)
        drop(did)
        tellDevices()
        store { (connection) throws(StoreError) in
            try Permissions(connection).forget(did)
            try Outbox(connection).forget(did)
            return try PairedDevices(connection).remove(did)
        } then: { core, result in
            core.unpaired([device], result.map { _ in }, then)
        }
    }

    func clear(_ then: @escaping Then) {
        guard !isShutDown else { return then(.failure(.closed)) }
        let all = devices
        for device in all {
            sendUnpair(to: device)
            drop(device.did)
        }
        // Those that are on their way to the disk for the first time, too.
        for did in storing.keys { storing[did]?.isUnpaired = true }
        if !all.isEmpty { tellDevices() }
        store { (connection) throws(StoreError) in
            for device in all { try Permissions(connection).forget(device.did) }
            for device in all { try Outbox(connection).forget(device.did) }
            return try PairedDevices(connection).clear()
        } then: { core, result in
            core.unpaired(all, result.map { _ in }, then)
        }
    }

    /// The device has ended the pairing.
    func unpaired(by device: PairedDevice, mark: SealMark?) {
        let did = device.did
        drop(did)
        tellDevices()
        store { (connection) throws(StoreError) in
            if let mark { try SealStates(connection).save(mark) }
            try Permissions(connection).forget(did)
            try Outbox(connection).forget(did)
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
            for device in gone { replace(device) }
            if !isShutDown { tellDevices() }
            then(.failure(HostError(error)))
        }
    }

    /// Only a device that was paired sealed can tell that it was us.
    private func sendUnpair(to device: PairedDevice) {
        guard device.isSecure else { return }
        let payload: JSONValue = ["type": .string(Self.unpairType), "payload": [:]]
        for url in routes(to: device.did) {
            if let link = links[url] { _ = send(payload, to: device.did, sealed: true, over: link) }
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
        touchedAt[did] = nil
        storing[did]?.isUnpaired = true
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
