import Alerts
import DeviceAlerts
import Hosting
import Inbox
import JSON
import Notifications
import Pairing
import Peering
import Store
import Transport
import Wire

/// What push services bring to the program: pushes, silent pushes that the host works on, badges.
@EventLoop
final class PushServices {
    /// A push, decoded: it is stored with the work that it brings, which ``stored(_:_:then:)`` hears of.
    struct Delivery {
        let event: NotificationEvent
        let source: PeerID
        /// Its image may be fetched.
        let mayFetch: Bool
        let work: HostEvent?
    }

    enum Action {
        case push(Delivery, Then)
        case badge(Int64?)
    }

    private let context: DeviceContext
    private let book: DesktopBook
    private let open: @EventLoop (inout NotificationEvent, PeerID?) -> Void
    private let emit: @EventLoop (Action) -> Void
    private let silent = SilentPushes()

    /// - Parameter open: opens an encrypted body, of that desktop or of whichever has sent it.
    init(
        _ context: DeviceContext, _ book: DesktopBook,
        open: @escaping @EventLoop (inout NotificationEvent, PeerID?) -> Void,
        emit: @escaping @EventLoop (Action) -> Void
    ) {
        self.context = context
        self.book = book
        self.open = open
        self.emit = emit
    }

    var silentPushes: (total: Int64, failed: Int64) { (silent.total, silent.failed) }

    func close() { silent.end() }

    func receive(_ payload: JSONObject, service: String, _ then: @escaping Then) {
        guard let service = PushService(service)?.text else {
            return then(
                .failure(
                    HostError(
                        .invalid, "service must have 1 to 64 letters, digits and . _ -",
                        detail: ["field": "service"])))
        }
        guard let push = PushServicePayload.decode(payload) else {
            return then(
                .failure(
                    HostError(
                        .undecodable, "the payload says nothing that APNs or FCM would: no aps, notification or data")))
        }
        let id = push.id ?? NotificationID(random: .random(in: 0 ... .max), .random(in: 0 ... .max))
        let desktop = push.desktop.flatMap { book.peers.contains($0) ? $0 : nil }
        let source = desktop ?? PeerID("push:\(service)")
        switch push.kind {
        case .badge:
            emit(.badge(push.badge))
            then(.received(.badge))
        case .silent: receiveSilent(id, push, source, then)
        case .alert:
            var event = push.event(id: id)
            if push.isMutable, push.image == nil {
                // Also one that is no URL: the alert says so.
                event.richer.imageURL = ImageSource.best(in: payload["message"]?.object ?? payload)
            }
            open(&event, desktop)
            // There may be something to do as well.
            let work = push.isContentAvailable ? silentEvent(id, push, source) : nil
            emit(.push(Delivery(event: event, source: source, mayFetch: push.isMutable, work: work), then))
        }
    }

    /// A push is in the store with its work, or is not; `nil` = it came before.
    func stored(_ delivery: Delivery, _ result: Result<Inbox.Arrival?, StoreError>, then: Then) {
        let id = delivery.event.id
        switch result {
        case .failure(let error): then(.failure(HostError(error)))
        case .success(.full?):
            then(.failure(HostError(.limit, "too many pushes wait for the program; dispatch them first")))
        case .success(nil), .success(.duplicate?): then(.received(.alert, id, isDuplicate: true))
        case .success(.stored?):
            if delivery.work != nil {
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
        emit(.badge(push.badge))
        switch silent.begin(id) {
        case .begun: break
        case .underWay: return then(.received(.silent, id, isDuplicate: true))
        case .tooMany:
            return then(
                .failure(
                    HostError(.limit, "\(SilentPushDeadlines.capacity) silent pushes are under way; complete them first")))
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
                .failure(HostError(.notFound, "no such notification.silent is under way; each has 30 s")))
        }
        then(.success("{}"))
    }
}

extension Result<String, HostError> {
    /// `{"kind","id"?,"duplicate"}`
    fileprivate static func received(
        _ kind: PushServicePayload.Kind, _ id: NotificationID? = nil, isDuplicate: Bool = false
    ) -> Self {
        let name: JSONValue =
            switch kind {
            case .alert: "push"
            case .silent: "silent"
            case .badge: "badge"
            }
        let object: JSONObject = [
            "kind": name, "id": id.map { .string($0.text) }, "duplicate": .bool(isDuplicate),
        ]
        return .success(JSONValue.object(object).serialized())
    }
}
