import Alerts
import DeviceAlerts
import Hosting
import JSON
import Notifications
import Pairing
import Peering
import Sealing
import Signalling
import Store
import Transport
import Wire

/// Push services: the tokens and prekeys that desktops have of them, and their payloads for the program, which are pushes,
/// silent pushes that the host works on, or badges.
@EventLoop
final class PushServices {
    enum Action {
        case push(Notification, from: PeerID, PushCarrier.Call)
        case badge(Int64?)
    }

    private let context: DeviceContext
    private let book: DesktopBook
    private let open: @EventLoop (inout NotificationEvent, PeerID?) -> Void
    let tokens: PushTokens
    /// What desktops seal pushes to.
    let prekeys: DevicePrekeys
    private let emit: @EventLoop (Action) -> Void
    private let silent = SilentPushes()

    /// - Parameter open: opens an encrypted body, of that desktop or of whichever has sent it.
    init(
        _ context: DeviceContext, _ book: DesktopBook, _ tokens: PushTokens, _ prekeys: DevicePrekeys,
        open: @escaping @EventLoop (inout NotificationEvent, PeerID?) -> Void,
        emit: @escaping @EventLoop (Action) -> Void
    ) {
        self.context = context
        self.book = book
        self.tokens = tokens
        self.prekeys = prekeys
        self.open = open
        self.emit = emit
    }

    var silentPushes: (total: Int64, failed: Int64) { (silent.total, silent.failed) }

    func close() {
        silent.end()
        tokens.stop()
    }

    // MARK: Tokens

    func give(_ token: PushToken, for service: PushService, _ then: @escaping Then) {
        tokens.give(token, for: service) { [prekeys] result in
            if case .success = result { EventLoop.post { prekeys.tokenGiven() } }
            then(result)
        }
    }

    /// - Parameter service: `nil` = of all services.
    func takeBack(_ service: PushService?, _ then: @escaping Then) {
        tokens.takeBack(service, ended: { [prekeys] in prekeys.tokensTakenBack() }, then)
    }

    /// It was paired, maybe anew. The greeting goes first.
    func paired(_ desktop: PeerID, greet: () -> Void) {
        prekeys.paired(desktop)
        greet()
        tokens.paired(desktop)
    }

    // MARK: Payloads

    func receive(_ payload: JSONObject, service: String, _ then: @escaping Then) {
        guard let service = PushService(service)?.text else { return then(.failure(.invalidPushService)) }
        guard let sealed = SealedPush.text(in: payload) else { return receive(payload, by: service, then) }
        prekeys.open(sealed) { [weak self] opening in
            switch opening {
            case .opened(let event, let desktop, let use, let isLate):
                self?.receive(event, from: desktop, use, isLate: isLate, then)
            case .replayed(let id): then(.received(.alert, id, isDuplicate: true))
            // What can't be opened is a payload like any other.
            case .refused: self?.receive(payload, by: service, then)
            case .failed(let error): then(.failure(HostError(error)))
            }
        }
    }

    /// A push that a desktop sealed. The session will bring it too (WirePrekeys, "Hints").
    private func receive(
        _ event: NotificationEvent, from desktop: PeerID, _ use: PrekeyUse, isLate: Bool, _ then: @escaping Then
    ) {
        if let expiresAt = event.richer.expiresAt, expiresAt <= ExpiryMoment.current.now {
            prekeys.record(use)
            return then(.received(.alert, event.id, isExpired: true))
        }
        var event = event
        open(&event, desktop)
        let number = event.pushSeq ?? 0
        event.pushSeq = nil
        var notification = Notification(event, receivedAt: .now, late: isLate)
        notification.isHint = true
        var call = PushCarrier.Call(mayFetch: true, work: nil) { [weak self] end in
            // Else it is recorded together with its row, or the push may not be stored in the end.
            if case .duplicate = end { self?.prekeys.record(use) }
            self?.ended(event.id, hasWork: false, end, then)
        }
        call.seal = (use, number)
        emit(.push(notification, from: desktop, call))
    }

    /// A payload that nothing authenticates.
    private func receive(_ payload: JSONObject, by service: String, _ then: @escaping Then) {
        guard let push = PushServicePayload.decode(payload) else {
            return then(
                .failure(
                    HostError(
                        .undecodable, "neither an APNs nor an FCM payload: it has no aps, notification or data")))
        }
        let id = push.id ?? NotificationID(random: .random(in: 0 ... .max), .random(in: 0 ... .max))
        let desktop = push.desktop.flatMap { book.peers.contains($0) ? $0 : nil }
        let source = source(of: desktop, service)
        switch push.kind {
        case .badge:
            emit(.badge(push.richer.badge))
            then(.received(.badge))
        case .silent: receiveSilent(id, push, source, then)
        case .alert:
            var event = push.event(id: id)
            if push.isMutable, push.richer.imageURL == nil {
                // Also one that is no URL: the alert says so.
                event.richer.imageURL = ImageSource.best(in: payload["message"]?.object ?? payload)
            }
            open(&event, desktop)
            // There may be something to do as well.
            let work = push.isContentAvailable ? silentEvent(id, push, source) : nil
            let call = PushCarrier.Call(mayFetch: push.isMutable, work: work) { [weak self] end in
                self?.ended(id, hasWork: work != nil, end, then)
            }
            emit(.push(Notification(event, receivedAt: .now), from: source, call))
        }
    }

    /// Whose push it is.
    ///
    /// Nothing authenticates a payload, so none counts as the word of a desktop that seals (WirePushServices, "Whose
    /// push it is"): under an id of its own it shares neither ids nor collapse keys with that desktop.
    private func source(of desktop: PeerID?, _ service: String) -> PeerID {
        guard let desktop, book.peers.peer(desktop)?.isSecure == false else { return PeerID("push:\(service)") }
        return desktop
    }

    private func ended(_ id: NotificationID, hasWork: Bool, _ end: PushCarrier.CallEnd, _ then: Then) {
        switch end {
        case .failed(let error): then(.failure(HostError(error)))
        case .full: then(.failure(HostError(.limit, "too many pushes wait for the program; dispatch them first")))
        case .forgotten:
            let text = "the push's desktop was unpaired, or moved to a new key, in the meantime"
            then(.failure(HostError(.notFound, text)))
        case .duplicate, .recent: then(.received(.alert, id, isDuplicate: true))
        case .stored:
            if hasWork {
                _ = silent.begin(id)
                context.channel.waits(.notificationSilent)
            }
            then(.received(.alert, id))
        }
    }

    // MARK: Silent pushes

    /// The host hears of it when it is on the disk.
    private func receiveSilent(
        _ id: NotificationID, _ push: PushServicePayload, _ source: PeerID, _ then: @escaping Then
    ) {
        emit(.badge(push.richer.badge))
        switch silent.begin(id) {
        case .begun: break
        case .underWay: return then(.received(.silent, id, isDuplicate: true))
        case .tooMany:
            let limit = SilentPushDeadlines.capacity
            return then(
                .failure(HostError(.limit, "\(limit) silent pushes are in progress; complete them first")))
        }
        let event = silentEvent(id, push, source)
        context.store { (connection) throws(StoreError) in
            _ = try KeptEvents(connection).add(event)
        } then: { [silent, context] result in
            switch result {
            case .success:
                context.channel.waits(.notificationSilent)
                then(.received(.silent, id))
            case .failure(let error):
                _ = silent.complete(id, .failed)
                then(.failure(HostError(error)))
            }
        }
    }

    private func silentEvent(_ id: NotificationID, _ push: PushServicePayload, _ source: PeerID) -> HostEvent {
        HostEvent(
            .notificationSilent, desktop: source.text,
            data: [
                "id": .string(id.text), "userInfo": .object(push.data),
                "timeoutMs": .integer(Int64(SilentPushDeadlines.limit)),
            ])
    }

    func complete(_ id: String, _ result: String, _ then: @escaping Then) {
        guard let result = SilentPushDeadlines.Result(rawValue: result) else {
            return then(
                .failure(
                    HostError(
                        .invalid, "result must be \"new_data\", \"no_data\" or \"failed\"",
                        detail: ["field": "result"])))
        }
        guard silent.complete(NotificationID(id), result) else {
            return then(
                .failure(HostError(.notFound, "no such notification.silent in progress; each expires after 30 s")))
        }
        then(.success(.done))
    }
}

extension Result<HostReply, HostError> {
    /// `{"kind","id"?,"duplicate","expired"?}`
    fileprivate static func received(
        _ kind: PushServicePayload.Kind, _ id: NotificationID? = nil, isDuplicate: Bool = false,
        isExpired: Bool = false
    ) -> Self {
        let name: JSONValue =
            switch kind {
            case .alert: "push"
            case .silent: "silent"
            case .badge: "badge"
            }
        let object: JSONObject = [
            "kind": name, "id": id.map { .string($0.text) }, "duplicate": .bool(isDuplicate),
            "expired": isExpired ? true : nil,
        ]
        return .success(HostReply(object))
    }
}
