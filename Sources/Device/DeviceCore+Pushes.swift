import DeviceAlerts
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
            if let mark = incoming.mark, let seq = event.pushSeq {
                return admit(event, numbered: seq, from: desktop, isLate: isLate, mark, over: url)
            }
            return admit(event, from: desktop, isLate: isLate, incoming.mark)
        case .otherEvent(let name, let fields) where apply(event: name, fields, from: desktop, incoming.mark): return
        case .bellwire(PushSkip.type, let fields) where incoming.isSealed:
            guard let mark = incoming.mark, let skip = PushSkip(payload: fields) else { return save(incoming.mark) }
            return self.skip(through: skip.through, of: desktop, mark, over: url)
        case .bellwire("bellwire:unpair", _) where incoming.isSealed:
            return wasUnpaired(by: desktop, incoming.mark)
        case .iceConfig(let object): return update(desktop, ice: object, incoming.mark)
        case .response(let response):
            // Its id is good once, and nobody who asked waits for the disk.
            resolve(response, from: desktop)
            save(incoming.mark)
        case .bellwire, .otherEvent, .request, .other, .cancel, .pairAck, .pairingConfirmation,
            .pairingReject, .malformed:
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
            if malformed.kind == .event { dispatcher.drop(malformed) }
            channel.log(.warning, "a payload from \(desktop.name) was dropped: \(malformed)")
        }
    }

    private func tell(_ type: String, _ fields: JSONObject, from desktop: PairedDesktop) {
        var data: JSONObject = ["type": .string(type)]
        data.merge(fields)
        channel.post(HostEvent(.command, desktop: desktop.id.text, data: data))
    }

    private func admit(_ event: NotificationEvent, from desktop: PairedDesktop, isLate: Bool, _ mark: SealMark?) {
        guard dispatcher.admit(event, from: desktop.id, now: EventLoop.now) == .admitted else { return save(mark) }
        receive(Notification(event, receivedAt: .now, late: isLate), from: desktop.id, mark)
    }

    /// Stores a push that is new as far as memory goes.
    private func receive(_ notification: Notification, from id: PeerID, _ mark: SealMark?) {
        let alert = alertJudge?.judge(notification, from: id)
        store { (connection) throws(StoreError) -> Arrived in
            let inbox = Inbox(connection)
            if let mark, try !SealStates(connection).save(mark) {
                return Arrived(arrival: .duplicate, unread: try inbox.unreadCount())
            }
            return try Arrived(inbox.receive(notification, from: id), alert, connection)
        } then: { core, result in
            core.arrived(notification.id, from: id, result)
        }
    }

    /// What a push has brought about in the store.
    struct Arrived: Sendable {
        let arrival: Inbox.Arrival
        let unread: Int64
        /// Of one that is new, where alerts are shown.
        var alert: AlertJudge.Judged?

        init(arrival: Inbox.Arrival, unread: Int64) { (self.arrival, self.unread) = (arrival, unread) }

        /// With its alert, in the same transaction.
        init(
            _ arrival: Inbox.Arrival, _ alert: AlertJudge.Judged?, _ connection: Connection
        ) throws(StoreError) {
            self.init(arrival: arrival, unread: try Inbox(connection).unreadCount())
            if case .stored(_, let replaced) = arrival {
                self.alert = try alert?.saved(connection, replacing: replaced)
            }
        }
    }

    /// What has become of an admitted push.
    func arrived(
        _ notification: NotificationID, from desktop: PeerID, _ result: Result<Arrived, StoreError>
    ) {
        switch result {
        case .success(let arrived):
            switch arrived.arrival {
            case .stored:
                isInboxFull = false
                channel.pushesWait()
                tellInbox(of: desktop, unread: arrived.unread, isArrival: true)
                if let alert = arrived.alert { alerts.entered(alert) }
            case .duplicate: dispatcher.wasStoredBefore()
            case .full:
                dispatcher.release(notification, from: desktop)
                tellInboxFull()
            }
        case .failure(let error):
            guard error.code != .closed else { return }
            // Whoever sends it again shall find the slot free.
            dispatcher.release(notification, from: desktop)
            channel.problem("store_failed", "a push could not be stored: \(error.message)")
        }
    }

    private func tellInboxFull() {
        guard !isInboxFull else { return }
        isInboxFull = true
        channel.problem(
            "inbox_full",
            "\(Inbox.waitingLimit) pushes wait for the program, and no more are taken; subscribe to "
                + "notification.received and dispatch")
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
