import Hosting
import JSON
import Notifications
import Pairing
import Signalling
import Store
import Transport
import Wire

// What comes in: from a paired desktop, or from the one that is being paired.
extension DeviceCore {
    func received(_ message: RelayMessage, over url: String) {
        let payload = Payload(decoding: message.payload)
        scanReceived(
            PairingFrame(
                reading: message.payload, from: message.from,
                isOfSecurePeer: desktop(message.from)?.isSecure == true, delivery: message.delivery))
        guard let desktop = desktop(message.from) else {
            // While its pairing is being stored the desktop may be faster than the disk.
            if scanning.awaits(message.from) {
                scanning.hold(message, url)
            } else {
                counters.unknownSenders &+= 1
            }
            return
        }
        if message.delivery == .live { markAbsent(desktop.id, false) }
        switch payload {
        case .event(let event): admit(event, from: desktop, isLate: message.delivery != .live)
        case .response(let response): resolve(response, from: desktop)
        case .iceConfig(let object): update(desktop, ice: object)
        case .otherEvent(let name, let fields):
            tell("chainlesschain:event", ["event": .string(name), "payload": .object(fields)], from: desktop)
        case .request(let request): tell("chainlesschain:command:request", ["payload": request.payload], from: desktop)
        case .other(let type, let value): tell(type, ["payload": value], from: desktop)
        case .bellwire(let type, let fields): tell(type, ["payload": .object(fields)], from: desktop)
        case .cancel, .pairAck, .pairingConfirmation, .pairingReject: break
        case .malformed(let malformed):
            counters.malformedPayloads &+= 1
            if malformed.kind == .event { dispatcher.drop(malformed) }
            channel.log(.warning, "a payload from \(desktop.name) was dropped: \(malformed)")
        }
    }

    private func tell(_ type: String, _ fields: JSONObject, from desktop: PairedDesktop) {
        var data: JSONObject = ["type": .string(type)]
        data.merge(fields)
        channel.post(HostEvent(.command, desktop: desktop.id.text, data: data))
    }

    private func admit(_ event: NotificationEvent, from desktop: PairedDesktop, isLate: Bool) {
        guard dispatcher.admit(event, from: desktop.id, now: EventLoop.now) == .admitted else { return }
        let notification = Notification(event, receivedAt: .now, late: isLate)
        let id = desktop.id
        store { (connection) throws(StoreError) -> (Inbox.Insertion, Int64) in
            let inbox = Inbox(connection)
            let insertion = try inbox.insert(notification, from: id)
            return (insertion, try inbox.unreadCount())
        } then: { core, result in
            switch result {
            case .success((.inserted, let unread)):
                core.channel.pushesWait()
                core.channel.post(HostEvent(.unreadChanged, data: ["unread": .integer(unread)]))
            case .success((.duplicate, _)): core.dispatcher.wasStoredBefore()
            case .failure(let error):
                guard error.code != .closed else { return }
                // Whoever sends it again shall find the slot free.
                core.dispatcher.release(notification.id, from: id)
                core.channel.problem("store_failed", "a push could not be stored: \(error.message)")
            }
        }
    }

    private func update(_ desktop: PairedDesktop, ice object: JSONObject) {
        let config: ICEConfig
        do throws(PairingFailure) { config = try ICEConfig(payload: object) } catch {
            counters.malformedPayloads &+= 1
            return
        }
        let id = desktop.id
        store { (connection) throws(StoreError) in
            _ = try PairedDesktops(connection).update(id, with: config)
            return try PairedDesktops(connection).find(id)
        } then: { core, result in
            guard case .success(.some(let stored)) = result else { return }
            core.replace(stored)
        }
    }

    /// The list follows the store.
    func replace(_ desktop: PairedDesktop) {
        if let index = desktops.firstIndex(where: { $0.id == desktop.id }) {
            desktops[index] = desktop
        } else {
            desktops.append(desktop)
        }
    }
}
