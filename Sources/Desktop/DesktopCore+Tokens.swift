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

// The devices' push tokens, and what they say of the alerts that they have shown (protocol.md 4.8).
extension DesktopCore {
    /// A device has given a token, or has taken one back.
    func received(tokenStatement type: String, _ fields: JSONObject, of device: PairedDevice, _ mark: SealMark) {
        let did = device.did
        guard let statement = PushTokenStatement(type: type, payload: fields, of: [device.deviceID, did.text]) else {
            counters.malformedPayloads &+= 1
            channel.log(.warning, "a device's push token was dropped: it is malformed, or another device's")
            return once(mark) { _ in }
        }
        store { (connection) throws(StoreError) -> Bool in
            guard try SealStates(connection).save(mark) else { return false }
            // It may have been unpaired meanwhile.
            guard let device = try PairedDevices(connection).find(did) else { return true }
            try DeviceTokens(connection).apply(statement, mark, deviceID: device.deviceID, now: .now)
            return true
        } then: { core, result in
            switch result {
            case .success(true): break
            case .success(false): core.counters.replayed &+= 1
            case .failure(let error):
                guard error.code != .closed else { return }
                core.channel.problem("store_failed", "a device's push token was dropped: \(error.message)")
            }
        }
    }

    /// A device has shown a push of ours to its user, or has not.
    func received(receipt fields: JSONObject, of device: PairedDevice, _ mark: SealMark) {
        guard let receipt = PushReceipt(payload: fields) else {
            counters.malformedPayloads &+= 1
            return once(mark) { _ in }
        }
        // Each would be an event: they count as commands do.
        guard limiter.take(device.did, now: EventLoop.now).refusal == nil else {
            counters.limitedCommands &+= 1
            return once(mark) { _ in }
        }
        let event = HostEvent(
            .notificationPresented,
            data: [
                "id": .string(receipt.id.text), "device": .string(device.did.text),
                "presented": .bool(receipt.isPresented), "at": .integer(receipt.at),
            ])
        once(mark) { core in core.channel.post(event) }
    }

    func describeTokens(_ then: @escaping Then) {
        store { (connection) throws(StoreError) in
            try DeviceTokens(connection).all()
        } then: { _, result in
            switch result {
            case .success(let tokens): then(.success(JSONValue.array(tokens).serialized()))
            case .failure(let error): then(.failure(HostError(error)))
            }
        }
    }
}
