import History
import Hosting
import JSON
import Pairing
import Store
import Transport
import Wire

/// Changes of a device's record, made in the store first: a device that has been unpaired in the meantime stays
/// unpaired.
@EventLoop
struct DeviceRecords {
    let store: DeviceStore
    let devices: DeviceBook

    /// Gives why it could not be renamed; `nil` = it was.
    func rename(_ device: PeerID, to name: String, then: @escaping @Sendable @EventLoop (HostError?) -> Void) {
        guard (1...256).contains(name.utf8.count) else {
            return then(HostError(.invalid, "a name must have 1 to 256 bytes", detail: ["field": "name"]))
        }
        guard devices.contains(device) else { return then(.noSuchDevice) }
        store.rename(device, to: name) { [devices] result in
            switch result {
            case .success(let stored?) where devices.contains(device):
                devices.put(stored)
                then(nil)
            case .success: then(.noSuchDevice)
            case .failure(let error): then(HostError(error))
            }
        }
    }

    /// What the device may do with a skill.
    func allow(_ allowance: Permissions.Allowance, _ skill: String, to device: PeerID, then: @escaping Then) {
        guard devices.contains(device) else { return then(.failure(.noSuchDevice)) }
        store.allow(allowance, skill, to: device, then: then)
    }

    /// Now and then the store hears that a device was there, and at once when its form has changed.
    func touch(_ device: PairedDevice, _ form: PayloadForm) {
        guard devices.isTouchDue(device, form) else { return }
        store.touch(device.did, form: form) { [devices] result in
            if case .success(let stored?) = result, devices.contains(stored.did) { devices.put(stored) }
        }
    }
}
