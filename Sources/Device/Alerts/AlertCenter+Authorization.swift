import Alerts
import Hosting
import JSON
import Signalling
import Store
import Transport
import Wire

// Whether alerts may be shown, and asking the person for it.
extension AlertCenter {
    private static let allow = "bellwire.allow"
    private static let deny = "bellwire.deny"

    func requestAuthorization(isProvisional: Bool, timeout: Int64, _ then: @escaping Then) {
        guard isOn else { return then(.failure(.noAlerts)) }
        guard isBegun else {
            return then(.failure(HostError(.offline, "the device has not been started; call bw_device_start() first")))
        }
        let now = EpochMilliseconds.now
        let before = authorization
        let action = authorization.request(provisional: isProvisional, now: now)
        switch action {
        case .answer(let answer): return then(.success(JSONValue.object(answer.json(now)).serialized()))
        case .denied(let answer): return then(.failure(.refused(answer, now)))
        case .store(let new):
            return save(new, insteadOf: before) { error in then(error.map(Result.failure) ?? self.answer) }
        case .ask, .wait: break
        }
        // A question that nobody waits for may have gone away unseen.
        let isForgotten = authorizationWaiters.isEmpty
        authorizationWaiters.add(until: EventLoop.now &+ UInt64(clamping: timeout), then)
        authorizationTimer.start(at: authorizationWaiters.nextDeadline)
        if action == .ask || isForgotten { askPerson() }
    }

    /// `bw_alerts_authorize`: the host's answer, or its page of settings.
    func authorize(status: String, until: Int64, _ then: @escaping Then) {
        let new: Authorization
        do throws(AlertsError) { new = try Authorization(status: status, until: until) } catch {
            return then(.failure(HostError(error)))
        }
        decide(new) { error in then(error.map(Result.failure) ?? .success("{}")) }
    }

    private func decide(_ new: Authorization, then: @escaping @EventLoop (HostError?) -> Void) {
        let before = authorization
        let wasAsking = authorization.isAsking
        switch authorization.decided(new, now: .now) {
        case .none:
            endQuestion(nil)
            then(nil)
        case .store(let new):
            save(new, insteadOf: before) { [weak self] error in
                if wasAsking { self?.endQuestion(error) }
                then(error)
            }
        }
    }

    /// Durable before it is told.
    private func save(
        _ new: Authorization, insteadOf before: AuthorizationStateMachine,
        then: @escaping @EventLoop (HostError?) -> Void
    ) {
        let then = LoopCallback(then)
        storeAlways { (connection) throws(StoreError) in
            try AlertPreferences(connection).save(new)
        } then: { center, result in
            if let error = Self.failure(result) {
                // As it is on the disk, unless it was decided anew meanwhile.
                if center.authorization.stored == new { center.authorization = before }
                center.authorization.askFailed()
                return then.call(error)
            }
            center.tellAuthorization()
            center.armClock()
            then.call(nil)
        }
    }

    /// It may have ended.
    func announce(_ action: AuthorizationStateMachine.DecideAction, always: Bool = false) {
        switch action {
        case .store(let new): save(new, insteadOf: authorization) { _ in }
        case .none: if always { tellAuthorization() }
        }
    }

    private func tellAuthorization() {
        guard isOn else { return }
        let now = EpochMilliseconds.now
        channel.post(HostEvent(.authorizationChanged, data: authorization.current(now).json(now)))
    }

    private var answer: Result<String, HostError> {
        let now = EpochMilliseconds.now
        let current = authorization.current(now)
        if current.status == .denied { return .failure(.refused(current, now)) }
        return .success(JSONValue.object(current.json(now)).serialized())
    }

    // MARK: The question

    func askPerson() {
        if answered.contains(.authorize) {
            let json: JSONObject = ["name": .string(options.common.name)]
            return channel.ask(
                HostQuestion(.authorize, json: JSONValue.object(json).serialized()) { [weak self] code in
                    guard code == nil else { return }
                    EventLoop.post {
                        self?.failQuestion(
                            HostError(.offline, "the program's callback that asks is not there any more"))
                    }
                })
        }
        guard options.alerts.kind == .system else {
            return failQuestion(
                HostError(.unsupported, "nobody can ask the person; set a callback with bw_alerts_on_authorize()"))
        }
        // Right after the start the presenter is not there before the store has answered.
        store { _ in
        } then: { center, _ in
            guard let system = center.presenter as? SystemPresenter else { return }
            system.decide { [weak center] in center?.ask(on: system) }
        }
    }

    /// By an alert of the desktop environment.
    private func ask(on system: SystemPresenter) {
        // Somebody may have answered meanwhile.
        guard !isEnded, authorization.isAsking else { return }
        guard system.state.isReady else {
            return failQuestion(HostError(.offline, system.state.problem ?? "there is no notification server"))
        }
        guard system.state.capabilities?.contains("actions") == true else {
            return failQuestion(
                HostError(
                    .unsupported,
                    "the notification server shows no buttons; set a callback with bw_alerts_on_authorize()"))
        }
        // It stays until it is answered.
        let content = AlertContent(
            title: "\(options.common.name) would like to send you notifications",
            body: "You can change this later in the program's settings.")
        // An id that nobody can guess: whoever is on the bus can say that something was answered.
        let number = UInt64.random(in: 0 ... .max)
        let key = AlertKey(desktop: nil, id: AlertID("\(Reminder.reservedPrefix)authorization.\(number)"))
        let alert = PresentedAlert(
            key: key, content: content,
            actions: [
                Categories.Action(id: Self.allow, title: "Allow"),
                Categories.Action(id: Self.deny, title: "Don't allow", isDestructive: true),
            ], presentation: .all, isQuiet: false, isReminder: false, isQuestion: true)
        let place = question?.handle
        question = (key, nil)
        system.show(alert, replacing: place) { [weak self] result in
            guard let self, !isEnded else { return }
            switch result {
            case .success(let handle):
                // It was answered, or asked anew, while it was on its way.
                guard question?.key == key, authorization.isAsking else {
                    presenter?.withdraw(key, handle: handle)
                    return
                }
                question = (key, handle)
            case .failure(let error):
                guard question?.key == key, authorization.isAsking else { return }
                failQuestion(HostError(.offline, error.message))
            }
        }
    }

    /// From the screen.
    func takeQuestionAway() {
        if let question { presenter?.withdraw(question.key, handle: question.handle) }
        question = nil
    }

    /// Who asked is not on the screen any more, and with it the question.
    func presenterGone(_ problem: String) {
        guard authorization.isAsking, question?.handle != nil else { return }
        failQuestion(HostError(.offline, problem))
    }

    /// Whether what the person did was the answer to our own question.
    func isAnswer(_ key: AlertKey, _ action: String?) -> Bool {
        guard key == question?.key, authorization.isAsking else { return false }
        takeQuestionAway()
        switch action {
        case Self.allow: decide(.authorized) { _ in }
        case Self.deny: decide(.denied) { _ in }
        default:
            failQuestion(HostError(.timeout, "the question was closed without an answer; it may be asked again"))
        }
        return true
    }

    private func failQuestion(_ error: HostError) {
        guard !isEnded else { return }
        authorization.askFailed()
        endQuestion(error)
    }

    private func endQuestion(_ error: HostError?) {
        takeQuestionAway()
        let result = error.map(Result.failure) ?? answer
        authorizationTimer.stop()
        for then in authorizationWaiters.takeAll() { then(result) }
    }

    func expireAuthorizationWaiters() {
        let expired = authorizationWaiters.takeExpired(now: EventLoop.now)
        authorizationTimer.start(at: authorizationWaiters.nextDeadline)
        let error = HostError(.timeout, "the person has not answered yet; the answer will count when it comes")
        for then in expired { then(.failure(error)) }
    }
}

extension HostError {
    static let noAlerts = HostError(.unsupported, "the device was opened with \"alerts\":\"none\"")

    static func refused(_ authorization: Authorization, _ now: EpochMilliseconds) -> HostError {
        HostError(
            .denied,
            "the person does not want alerts; only they can change it, in the program's settings, which calls "
                + "bw_alerts_authorize()", detail: authorization.json(now))
    }

    init(_ error: AlertsError) {
        self.init(.invalid, error.message, detail: ["field": error.field.map(JSONValue.string)])
    }
}

/// A callback of the loop's, carried past the store's thread.
struct LoopCallback<Value>: @unchecked Sendable {
    let call: @EventLoop (Value) -> Void

    init(_ call: @escaping @EventLoop (Value) -> Void) { self.call = call }
}
