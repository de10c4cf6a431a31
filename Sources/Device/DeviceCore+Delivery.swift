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

// Where pushes stand: told to each desktop by a hello, then by acknowledgements (protocol.md 4.4).
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

    func hello(to desktop: PeerID) -> JSONValue {
        PairingHello(lastPushSeq: pushes.committed(of: desktop)).json
    }

    /// What has become of pushes that came.
    func pushesDid(_ event: PushCarrier.Event) {
        switch event {
        case .acknowledge(let id, let through, let url): acknowledge(through, to: id, over: url)
        case .stored(let desktops, let unread, let judged):
            isInboxFull = false
            for desktop in desktops { tellInbox(of: desktop, unread: unread, isArrival: true) }
            for alert in judged { alerts.entered(alert) }
        case .full: tellInboxFull()
        case .failed(let error): channel.problem("store_failed", "pushes could not be stored: \(error.message)")
        }
    }

    private func acknowledge(_ last: Int64, to id: PeerID, over url: String?) {
        guard let desktop = desktops.first(where: { $0.id == id }) else { return }
        let link = url.flatMap { links[$0] }.flatMap { $0.state.isOnline ? $0 : nil } ?? bestLink(to: desktop)
        FailPoint.beforeAcknowledgement.reach()
        // What is not sent now, the next hello says.
        _ = send(PushAcknowledgement(pushSeq: last).json, to: desktop.address, sealed: true, over: link)
        FailPoint.afterAcknowledgement.reach()
    }

    private func tellInboxFull() {
        guard !isInboxFull else { return }
        isInboxFull = true
        channel.problem(
            "inbox_full",
            "\(Inbox.waitingLimit) pushes wait for the program, and no more are taken; subscribe to "
                + "notification.received and dispatch")
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
