import Alerts
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

// What a push service has brought to the program, and the texts that it was not to read.
extension DeviceCore {
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
        let desktop = push.desktop.flatMap { named in desktops.first { $0.id == named || $0.address == named } }
        let source = desktop?.id ?? PeerID("push:\(service)")
        switch push.kind {
        case .badge:
            alerts.setBadge(push.badge)
            then(.received(.badge))
        case .silent: receiveSilent(id, push, source, then)
        case .alert:
            var event = push.event(id: id)
            if push.isMutable, push.image == nil {
                // One that is no address: the alert says so.
                event.richer.imageURL = ImageSource.best(in: payload["message"]?.object ?? payload)
            }
            open(&event, from: desktop)
            guard dispatcher.admit(event, from: source, now: EventLoop.now) == .admitted else {
                return then(.received(.alert, id, isDuplicate: true))
            }
            let notification = Notification(event, receivedAt: .now)
            // There may be something to do as well.
            let work = push.isContentAvailable ? silentEvent(id, push, source) : nil
            take(notification, from: source, mayFetch: push.isMutable, with: work, then)
        }
    }

    /// Stores a push, and with it the work that it brings.
    private func take(
        _ notification: Notification, from source: PeerID, mayFetch: Bool, with work: HostEvent?, _ then: @escaping Then
    ) {
        let id = notification.id
        let alert = alertJudge?.judge(notification, from: source, isMutable: mayFetch)
        store { (connection) throws(StoreError) -> Arrived in
            let arrived = try Arrived(Inbox(connection).receive(notification, from: source), alert, connection)
            if let work, case .stored = arrived.arrival { try KeptEvents(connection).add(work) }
            return arrived
        } then: { core, result in
            core.arrived(id, from: source, result)
            switch result {
            case .failure(let error): then(.failure(HostError(error)))
            case .success(let arrived):
                switch arrived.arrival {
                case .full:
                    then(.failure(HostError(.limit, "too many pushes wait for the program; dispatch them first")))
                case .duplicate: then(.received(.alert, id, isDuplicate: true))
                case .stored:
                    if work != nil {
                        _ = core.silentPushes.begin(id)
                        core.channel.waits(.notificationSilent)
                    }
                    then(.received(.alert, id))
                }
            }
        }
    }

    // MARK: Silent ones

    /// The host hears of it when it is on the disk.
    private func receiveSilent(
        _ id: NotificationID, _ push: PushServicePayload, _ source: PeerID, _ then: @escaping Then
    ) {
        alerts.setBadge(push.badge)
        switch silentPushes.begin(id) {
        case .begun: break
        case .underWay: return then(.received(.silent, id, isDuplicate: true))
        case .tooMany:
            let limit = SilentPushDeadlines.capacity
            return then(
                .failure(HostError(.limit, "\(limit) silent pushes are under way; complete them first")))
        }
        let event = silentEvent(id, push, source)
        store { (connection) throws(StoreError) in
            _ = try KeptEvents(connection).add(event)
        } then: { core, result in
            switch result {
            case .success:
                core.channel.waits(.notificationSilent)
                then(.received(.silent, id))
            case .failure(let error):
                _ = core.silentPushes.complete(id, .failed)
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
        guard silentPushes.complete(NotificationID(id), result) else {
            return then(
                .failure(HostError(.notFound, "no such notification.silent is under way; each has 30 s")))
        }
        then(.success("{}"))
    }

    // MARK: Encrypted texts

    /// Opens `encrypted_body` with the keys of the pairing; what cannot be opened leaves the text as it was.
    func open(_ event: inout NotificationEvent, from desktop: PairedDesktop?) {
        guard let encrypted = event.richer.encryptedBody else { return }
        let candidates = desktop.map { [$0] } ?? desktops
        for candidate in candidates where candidate.isSecure {
            guard let text = sealer.openText(encrypted, from: candidate.address) else { continue }
            event.body = text
            event.richer.encryptedBody = nil
            return
        }
        counters.unopenedBodies &+= 1
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
