import Delivery
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

// The pushes of sealed desktops: each is stored when it is the next one, and acknowledged (protocol.md 4.4).
extension DeviceCore {
    /// We are registered there: each desktop that is reached over it hears what was stored last, and sends what comes
    /// after.
    func sayHello(over url: String) {
        for desktop in desktops where routes(of: desktop).contains(url) { sayHello(to: desktop, over: links[url]) }
    }

    func sayHello(to desktop: PairedDesktop, over link: RelayConnection?) {
        guard desktop.isSecure else { return }
        _ = send(hello(to: desktop.id), to: desktop.address, sealed: true, over: link)
    }

    func hello(to desktop: PeerID) -> JSONValue { PairingHello(lastPushSeq: lastPushSeqs[desktop] ?? 0).json }

    // MARK: What comes

    private enum Numbered {
        case taken(Arrived)
        case duplicate(last: Int64)
        /// One before it is missing: the desktop hears what the last one was, and sends it.
        case gap(last: Int64)
        /// Its seal has come before.
        case replayed
    }

    /// A push of a desktop with an outbox. Its seal is remembered where it had an effect: one that is dropped has none,
    /// however often it comes.
    func admit(
        _ event: NotificationEvent, numbered seq: Int64, from desktop: PairedDesktop, isLate: Bool, _ mark: SealMark,
        over url: String
    ) {
        let isKnown = dispatcher.admit(event, from: desktop.id, now: EventLoop.now) == .duplicate
        let notification = Notification(event, receivedAt: .now, late: isLate)
        let id = desktop.id
        let alert = alertJudge?.judge(notification, from: id)
        store { (connection) throws(StoreError) -> Numbered in
            let received = ReceivedPushes(connection)
            switch try received.verdict(on: seq, of: id) {
            case .duplicate(let last): return .duplicate(last: last)
            case .gap(let last): return .gap(last: last)
            case .next: break
            }
            let inbox = Inbox(connection)
            guard try SealStates(connection).save(mark) else { return .replayed }
            let arrival = try inbox.receive(notification, from: id)
            if arrival != .full { try received.set(seq, of: id) }
            return .taken(try Arrived(arrival, alert, connection))
        } then: { core, result in
            switch result {
            case .success(.taken(let arrived)):
                if arrived.arrival != .full { core.acknowledge(seq, to: id, over: url) }
                // In the store, though not in the memory of the last moments, or the other way: it counts once.
                if !isKnown || arrived.arrival != .duplicate {
                    core.arrived(notification.id, from: id, .success(arrived))
                }
            case .success(.duplicate(let last)):
                if !isKnown { core.dispatcher.wasStoredBefore() }
                core.acknowledge(last, to: id, over: url)
            case .success(.gap(let last)):
                if !isKnown { core.dispatcher.release(notification.id, from: id) }
                core.acknowledge(last, to: id, over: url)
            case .success(.replayed):
                if !isKnown { core.dispatcher.wasStoredBefore() }
            case .failure(let error): core.arrived(notification.id, from: id, .failure(error))
            }
        }
    }

    /// The desktop has nothing more up to there.
    func skip(through seq: Int64, of desktop: PairedDesktop, _ mark: SealMark, over url: String) {
        let id = desktop.id
        store { (connection) throws(StoreError) -> Int64? in
            guard try SealStates(connection).save(mark) else { return nil }
            return try ReceivedPushes(connection).skip(through: seq, of: id)
        } then: { core, result in
            switch result {
            case .success(let last?): core.acknowledge(last, to: id, over: url)
            case .success(nil): break
            case .failure(let error):
                guard error.code != .closed else { return }
                core.channel.problem("store_failed", "a desktop's skip could not be recorded: \(error.message)")
            }
        }
    }

    // MARK: What is said

    /// Said once for all that has come meanwhile.
    private func acknowledge(_ last: Int64, to desktop: PeerID, over url: String) {
        guard desktops.contains(where: { $0.id == desktop }) else { return }
        lastPushSeqs[desktop] = last
        if dueAcknowledgements.isEmpty { acknowledgementTimer.start(after: 0) }
        dueAcknowledgements[desktop] = url
    }

    func sayAcknowledgements() {
        let due = dueAcknowledgements
        dueAcknowledgements = [:]
        for (id, url) in due {
            guard let desktop = desktops.first(where: { $0.id == id }), let last = lastPushSeqs[id] else { continue }
            let link = links[url].flatMap { $0.state.isOnline ? $0 : nil } ?? bestLink(to: desktop)
            FailPoint.beforeAcknowledgement.reach()
            // What is not sent now, the next hello says.
            _ = send(PushAcknowledgement(pushSeq: last).json, to: desktop.address, sealed: true, over: link)
            FailPoint.afterAcknowledgement.reach()
        }
    }
}

extension Incoming {
    /// Sent so long after it was made, a push has waited for us. Both moments are by its sender's clock.
    private static let liveTime: Int64 = 2_000

    func isLate(_ event: NotificationEvent) -> Bool {
        guard let sealedAt, let madeAt = event.timestamp else { return false }
        return sealedAt &- madeAt > Self.liveTime
    }
}
