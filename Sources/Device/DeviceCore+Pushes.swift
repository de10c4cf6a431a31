import Delivery
import Hosting
import Inbox
import JSON
import Notifications
import Pairing
import Sealing
import Signalling
import Store
import Transport
import Wire

// What comes in: from a paired desktop, or from the one that is being paired.
extension DeviceCore {
    func received(_ message: RelayMessage, over url: String) {
        guard let incoming = open(message) else { return }
        tellFlows(incoming)
        received(incoming, over: url)
    }

    func received(_ incoming: Incoming, over url: String) {
        guard let desktop = desktop(incoming.from) else {
            if !unstored.hold(incoming, over: url) { counters.unknownSenders &+= 1 }
            return
        }
        guard incoming.isSealed == desktop.isSecure else {
            // No way back to plain text (protocol.md 4.2); and a plain pairing gives no right to seal.
            if desktop.isSecure { counters.plainOfSecure &+= 1 } else { counters.unknownSenders &+= 1 }
            return
        }
        let isLive = incoming.delivery == .live
        heardLast[desktop.id] = EventLoop.now
        if isLive { markAbsent(desktop.id, false) }
        heard(of: desktop)
        let payload = Payload(decoding: incoming.payload)
        // These are stored with their mark; all others have an effect once they are recorded.
        switch payload {
        case .event(var event):
            open(&event, from: desktop)
            let isLate = !isLive || incoming.isLate(event)
            return pushes.received(
                ReceivedPush(
                    desktop: desktop.id, notification: Notification(event, receivedAt: .now, late: isLate),
                    // Numbers count in a seal only.
                    seq: incoming.isSealed ? event.pushSeq : nil, mark: incoming.mark, route: url))
        case .otherEvent(let name, let fields) where apply(event: name, fields, from: desktop, incoming.mark): return
        case .bellwire(PushSkip.type, let fields) where incoming.isSealed:
            guard let mark = incoming.mark, let skip = PushSkip(payload: fields) else { return save(incoming.mark) }
            return pushes.received(
                ReceivedSkip(desktop: desktop.id, through: skip.through, mark: mark, route: url))
        case .bellwire("bellwire:unpair", _) where incoming.isSealed:
            return wasUnpaired(by: desktop, incoming.mark)
        case .iceConfig(let object): return update(desktop, ice: object, incoming.mark)
        case .response(let response):
            // Its id is good once, and nobody who asked waits for the disk.
            resolve(response, from: desktop)
            save(incoming.mark)
        // Their flows have recorded those that made a pairing.
        case .pairAck, .pairingConfirmation, .pairingReject: once(incoming.mark, countsReplay: false) { _ in }
        case .bellwire, .otherEvent, .request, .other, .cancel, .malformed:
            once(incoming.mark) { core in
                // It may have been unpaired meanwhile.
                if core.desktop(desktop.id) != nil { core.take(payload, from: desktop) }
            }
        }
    }

    /// What comes of a payload, once.
    private func take(_ payload: Payload, from desktop: PairedDesktop) {
        switch payload {
        case .otherEvent(let name, let fields):
            tell("chainlesschain:event", ["event": .string(name), "payload": .object(fields)], from: desktop)
        case .request(let request): tell("chainlesschain:command:request", ["payload": request.payload], from: desktop)
        case .other(let type, let value): tell(type, ["payload": value], from: desktop)
        case .bellwire(let type, let fields): tell(type, ["payload": .object(fields)], from: desktop)
        case .event, .iceConfig, .response, .cancel, .pairAck, .pairingConfirmation, .pairingReject: break
        case .malformed(let malformed):
            counters.malformedPayloads &+= 1
            if malformed.kind == .event { pushes.droppedMalformed() }
            channel.log(.warning, "a payload from \(desktop.name) was dropped: \(malformed)")
        }
    }

    private func tell(_ type: String, _ fields: JSONObject, from desktop: PairedDesktop) {
        var data: JSONObject = ["type": .string(type)]
        data.merge(fields)
        channel.post(HostEvent(.command, desktop: desktop.id.text, data: data))
    }

    private func update(_ desktop: PairedDesktop, ice object: JSONObject, _ mark: SealMark?) {
        let config: ICEConfig
        do throws(PairingFailure) { config = try ICEConfig(payload: object) } catch {
            counters.malformedPayloads &+= 1
            return save(mark)
        }
        let id = desktop.id
        store { (connection) throws(StoreError) -> PairedDesktop? in
            if let mark, try !SealStates(connection).save(mark) { return nil }
            _ = try PairedDesktops(connection).update(id, with: config)
            return try PairedDesktops(connection).find(id)
        } then: { core, result in
            guard case .success(.some(let stored)) = result, core.desktop(id) != nil else { return }
            core.replace(stored)
        }
    }

    /// How often the store hears that a desktop was there, or that a relay works, in milliseconds.
    private static let noteInterval: UInt64 = 60_000

    private func heard(of desktop: PairedDesktop) {
        let now = EventLoop.now
        guard heardAt[desktop.id].map({ now &- $0 >= Self.noteInterval }) ?? true else { return }
        heardAt[desktop.id] = now
        let id = desktop.id
        let seenAt = EpochMilliseconds.now
        store { (connection) throws(StoreError) in
            try PairedDesktops(connection).touch(id, at: seenAt)
            return try PairedDesktops(connection).find(id)
        } then: { core, result in
            // Not if it was unpaired meanwhile.
            if case .success(.some(let stored)) = result, core.desktop(id) != nil { core.replace(stored) }
        }
    }

    /// We are registered there.
    func noteWorking(_ url: String) {
        let workedAt = EpochMilliseconds.now
        store { (connection) throws(StoreError) in
            try PairedDesktops(connection).worked(url, at: workedAt)
        } then: { _, _ in
        }
    }

    /// The list follows the store.
    func replace(_ desktop: PairedDesktop) {
        defer { tellPeers() }
        if let index = desktops.firstIndex(where: { $0.id == desktop.id }) {
            desktops[index] = desktop
        } else {
            desktops.append(desktop)
        }
    }
}
