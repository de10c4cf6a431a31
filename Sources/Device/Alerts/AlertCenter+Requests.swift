import Alerts
import Hosting
import JSON
import Notifications
import Signalling
import Store
import Transport
import Wire

// What hosts ask of the alerts (`Device.AlertRequest`).
extension AlertCenter {
    func carryOut(_ request: Device.AlertRequest, timeout: Int64, _ then: @escaping Then) {
        guard isLoaded else {
            return load { center, error in
                if let error { return then(.failure(error)) }
                center.carryOut(request, timeout: timeout, then)
            }
        }
        switch request {
        case .state: describe(then)
        case .requestAuthorization(let isProvisional):
            requestAuthorization(isProvisional: isProvisional, timeout: timeout, then)
        case .authorize(let status, let until): authorize(status: status, until: until, then)
        case .inFront(let isInFront):
            self.isInFront = isInFront
            for run in runs.values { run.machine.moved(toFront: isInFront && answered.contains(.willPresent)) }
            then(.success("{}"))
        case .respond(let desktop, let id, let action, let text):
            guard options.alerts.kind == .host else {
                return then(
                    .failure(HostError(.unsupported, "the device was not opened with \"alerts\":\"host\"")))
            }
            respond(AlertKey(desktop: desktop.map { PeerID($0) }, id: AlertID(id)), action, text, then: then)
        case .categories(let value): register(value, then)
        case .settings: then(.success(JSONValue.object(settings.json).serialized()))
        case .change(let change): apply(change, then)
        case .delivered: describeDelivered(then)
        case .remove(let desktop, let id, let thread): remove(desktop: desktop, id: id, thread: thread, then)
        case .badge(let count):
            guard isOn else { return then(.failure(.noAlerts)) }
            setBadge(count)
            then(.success("{}"))
        case .addReminder(let object): addReminder(object, then)
        case .reminders:
            then(.success(JSONValue.array(schedule.list.map { .object($0.json) }).serialized()))
        case .removeReminders(let id, let thread): removeReminders(id: id, thread: thread, then)
        case .position(let latitude, let longitude, let accuracy):
            move(to: latitude, longitude, accuracy: accuracy, then)
        }
    }

    private func register(_ value: JSONValue, _ then: @escaping Then) {
        let new: Categories
        do throws(AlertsError) { new = try Categories(parsing: value) } catch {
            return then(.failure(HostError(error)))
        }
        let before = categories
        categories = new
        storeAlways { (connection) throws(StoreError) in
            try AlertPreferences(connection).save(new)
        } then: { center, result in
            guard let error = Self.failure(result) else { return then(.success("{}")) }
            if center.categories == new { center.categories = before }
            then(.failure(error))
        }
    }

    private func apply(_ change: JSONObject, _ then: @escaping Then) {
        var new = settings
        do throws(AlertsError) { try new.apply(change) } catch { return then(.failure(HostError(error))) }
        let before = settings
        settings = new
        storeAlways { [new] (connection) throws(StoreError) in
            try AlertPreferences(connection).save(new)
        } then: { center, result in
            if let error = Self.failure(result) {
                if center.settings == new { center.settings = before }
                return then(.failure(error))
            }
            // Quiet hours may have ended by it.
            center.clockFired()
            then(.success(JSONValue.object(new.json).serialized()))
        }
    }

    private func describeDelivered(_ then: @escaping Then) {
        storeAlways { (connection) throws(StoreError) in
            try AlertTable(connection).delivered()
        } then: { _, result in
            if let error = Self.failure(result) { return then(.failure(error)) }
            let rows = (try? result.get()) ?? []
            then(.success(JSONValue.array(rows.map { .object($0.deliveredJSON) }).serialized()))
        }
    }

    private func describe(_ then: @escaping Then) {
        let now = EpochMilliseconds.now
        let presenter = presenter?.state ?? PresenterState(kind: options.alerts.kind.rawValue, isReady: false)
        let object: JSONObject = [
            "authorization": .object(authorization.current(now).json(now)),
            "presenter": [
                "kind": .string(presenter.kind), "ready": .bool(presenter.isReady),
                "server": presenter.server.map(JSONValue.string),
                "capabilities": presenter.capabilities.map { .array($0.map(JSONValue.string)) },
                "problem": presenter.problem.map(JSONValue.string),
            ],
            "inFront": .bool(isInFront), "badge": .integer(badge), "waiting": .integer(Int64(runs.count)),
            "counters": [
                "shown": .integer(counters.shown), "hidden": .integer(counters.hidden),
                "failed": .integer(counters.failed), "responses": .integer(counters.responses),
                "images": .integer(counters.images), "imagesRefused": .integer(counters.imagesRefused),
            ],
        ]
        then(.success(JSONValue.object(object).serialized()))
    }
}
