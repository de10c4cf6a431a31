import Alerts
import Hosting
import JSON
import Store
import Wire

/// The permission to show alerts, and the question to the user.
///
/// Decides only: each event returns what its owner does next, in order. `now` is wall-clock time, `loopNow` the loop's
/// monotonic milliseconds. A decision is stored before it is announced.
struct AuthorizationPrompt {
    indirect enum Action {
        case reply([Then], Result<HostReply, HostError>)
        /// Store it, then call ``saved(_:_:now:)``.
        case store(Save)
        case post(HostEvent)
        /// Put the question to the host's callback; call ``hostGone(now:)`` if it has none.
        case askHost(json: String)
        /// Wait until the notification server is known, then call ``serverKnown(_:number:now:)``.
        case askSystem
        /// Show the question, then call ``shown(_:_:now:)``.
        case show(PresentedAlert, replacing: String?)
        case withdraw(AlertKey, handle: String?)
        /// Call ``expireWaiters(loopNow:)`` then; `nil` stops the timer.
        case startTimer(at: UInt64?)
        /// The end of the authorization may be another one.
        case armClock
    }

    /// A decision on its way to the store, and what follows it.
    struct Save: StoreWork {
        enum Next: Sendable {
            case nothing
            /// Replies with the authorization.
            case answer(Then)
            /// Ends the question if it was open, then replies `{}`.
            case endQuestion(wasAsking: Bool, Then?)
        }

        let new: Authorization
        /// What holds if the store fails.
        let previous: AuthorizationStateMachine
        let next: Next

        func run(_ store: AlertTransaction) throws(StoreError) {
            try AlertPreferences(store.connection).save(new)
        }

        var isAwaited: Bool { true }
        var failureReport: String? { nil }
    }

    private static let allow = "bellwire.allow"
    private static let deny = "bellwire.deny"

    private let kind: AlertOptions.Kind
    private let programName: String
    private let language: AlertLanguage
    private var machine: AuthorizationStateMachine
    private var waiters = Waiters()
    /// The question on the screen: an id that nobody else knows, and its banner once that is there.
    private var question: (key: AlertKey, handle: String?)?
    /// No notification server could show the question: the next one gets it.
    private var waitsForServer = false
    /// The host has a callback that asks the person.
    var hostAsks = false

    init(_ configuration: AlertConfiguration, stored: Authorization) {
        kind = configuration.options.kind
        (programName, language) = (configuration.programName, configuration.language)
        machine = AuthorizationStateMachine(stored: stored)
    }

    /// Takes over what the store has.
    mutating func load(_ stored: Authorization) { machine = AuthorizationStateMachine(stored: stored) }

    func current(_ now: EpochMilliseconds) -> Authorization { machine.current(now) }

    /// When ``expire(now:announcesAlways:)`` is due.
    var nextEnd: EpochMilliseconds? { machine.nextEnd }

    // MARK: The host

    mutating func request(
        isProvisional: Bool, timeout: CallTimeout, now: EpochMilliseconds, loopNow: UInt64, _ then: @escaping Then
    ) -> [Action] {
        let previous = machine
        let action = machine.request(provisional: isProvisional, now: now)
        switch action {
        case .answer, .denied: return [.reply([then], answer(now))]
        case .store(let new):
            waitsForServer = false
            return [.store(Save(new: new, previous: previous, next: .answer(then)))]
        case .ask, .wait: break
        }
        // A question that nobody waits for may have disappeared without an answer: ask again.
        let isAbandoned = waiters.isEmpty
        waiters.add(until: loopNow &+ timeout.milliseconds, then)
        return [.startTimer(at: waiters.nextDeadline)] + (action == .ask || isAbandoned ? ask(now) : [])
    }

    /// `bw_alerts_authorize`: the host's answer, or its settings page.
    mutating func authorize(
        status: String, until: Int64, now: EpochMilliseconds, _ then: @escaping Then
    ) -> [Action] {
        do throws(AlertsError) {
            return decide(try Authorization(status: status, until: until), now, then)
        } catch {
            return [.reply([then], .failure(HostError(error)))]
        }
    }

    private mutating func decide(_ new: Authorization, _ now: EpochMilliseconds, _ then: Then?) -> [Action] {
        let (previous, wasAsking) = (machine, machine.isAsking)
        waitsForServer = false
        switch machine.decided(new, now: now) {
        case .none: return endQuestion(nil, now) + (then.map { [.reply([$0], .success(.done))] } ?? [])
        case .store(let new):
            return [.store(Save(new: new, previous: previous, next: .endQuestion(wasAsking: wasAsking, then)))]
        }
    }

    /// An ephemeral authorization may have ended.
    mutating func expire(now: EpochMilliseconds, announcesAlways: Bool = false) -> [Action] {
        switch machine.expired(now: now) {
        case .store(let new): [.store(Save(new: new, previous: machine, next: .nothing))]
        case .none: announcesAlways ? announce(now) : []
        }
    }

    mutating func saved(_ save: Save, _ result: Result<Void, StoreError>, now: EpochMilliseconds) -> [Action] {
        let error = result.hostError
        var actions: [Action] = []
        if error == nil {
            actions = announce(now) + [.armClock]
        } else {
            // As the disk has it, unless it was decided again in the meantime.
            if machine.stored == save.new { machine = save.previous }
            machine.askFailed()
        }
        switch save.next {
        case .nothing: break
        case .answer(let then): actions.append(.reply([then], error.map(Result.failure) ?? answer(now)))
        case .endQuestion(let wasAsking, let then):
            if wasAsking { actions += endQuestion(error, now) }
            if let then { actions.append(.reply([then], error.map(Result.failure) ?? .success(.done))) }
        }
        return actions
    }

    private func announce(_ now: EpochMilliseconds) -> [Action] {
        guard kind != .none else { return [] }
        return [.post(HostEvent(.authorizationChanged, data: machine.current(now).json(now)))]
    }

    private func answer(_ now: EpochMilliseconds) -> Result<HostReply, HostError> {
        let current = machine.current(now)
        if current.status == .denied { return .failure(.refused(current, now)) }
        return .success(HostReply(current.json(now)))
    }

    // MARK: The question

    private mutating func ask(_ now: EpochMilliseconds) -> [Action] {
        if hostAsks {
            let json: JSONObject = ["name": .string(programName)]
            return [.askHost(json: JSONValue.object(json).serialized())]
        }
        switch kind {
        case .system: return [.askSystem]
        case .host, .none:
            return fail(
                HostError(.unsupported, "no way to ask the user; set a callback with bw_alerts_on_authorize()"), now)
        }
    }

    /// The host's callback that asks is gone.
    mutating func hostGone(now: EpochMilliseconds) -> [Action] {
        fail(HostError(.offline, "the program removed its authorization callback"), now)
    }

    /// The notification server is known, or that there is none.
    ///
    /// - Parameter number: random. Anyone on the bus can claim that a banner was answered, so its id must not be guessable.
    mutating func serverKnown(_ state: PresenterState, number: UInt64, now: EpochMilliseconds) -> [Action] {
        // Somebody may have answered in the meantime.
        guard machine.isAsking else { return [] }
        waitsForServer = true
        guard state.isReady else {
            return fail(HostError(.offline, state.problem ?? "there is no notification server"), now)
        }
        guard state.capabilities?.contains("actions") == true else {
            return fail(
                HostError(
                    .unsupported,
                    "the notification server does not support buttons; set a callback with bw_alerts_on_authorize()"),
                now)
        }
        waitsForServer = false
        let content = AlertContent(
            title: language.question(of: programName), body: language.questionNote)
        let key = AlertKey(desktop: nil, id: AlertID("\(Reminder.reservedPrefix)authorization.\(number)"))
        let alert = PresentedAlert(
            key: key, content: content,
            actions: [
                Categories.Action(id: Self.allow, title: language.allow),
                Categories.Action(id: Self.deny, title: language.deny, isDestructive: true),
            ], presentation: .all, isQuiet: false, isReminder: false, isQuestion: true)
        let place = question?.handle
        question = (key, nil)
        return [.show(alert, replacing: place)]
    }

    mutating func shown(
        _ key: AlertKey, _ result: Result<String?, PresenterError>, now: EpochMilliseconds
    ) -> [Action] {
        let isCurrent = question?.key == key && machine.isAsking
        switch result {
        case .success(let handle):
            // It was answered, or asked again, before its banner appeared.
            guard isCurrent else { return [.withdraw(key, handle: handle)] }
            question = (key, handle)
            return []
        case .failure(let error):
            guard isCurrent else { return [] }
            waitsForServer = true
            return fail(HostError(.offline, error.message), now)
        }
    }

    /// The presenter is there for the first time, or again: a new server does not show what an earlier one asked.
    mutating func presenterReady(now: EpochMilliseconds) -> [Action] {
        guard question == nil else { return ask(now) }
        guard waitsForServer else { return [] }
        waitsForServer = false
        return machine.request(provisional: false, now: now) == .ask ? ask(now) : []
    }

    /// The presenter is gone, and the question with it.
    mutating func presenterGone(_ problem: String, now: EpochMilliseconds) -> [Action] {
        guard machine.isAsking, question?.handle != nil else { return [] }
        waitsForServer = true
        return fail(HostError(.offline, problem), now)
    }

    /// What the person did; `nil` unless it is about the question.
    ///
    /// - Parameter action: `nil` = the question was closed without an answer.
    mutating func answered(_ key: AlertKey, _ action: String?, now: EpochMilliseconds) -> [Action]? {
        guard key == question?.key, machine.isAsking else { return nil }
        let withdrawal = takeQuestion()
        switch action {
        case Self.allow: return withdrawal + decide(.authorized, now, nil)
        case Self.deny: return withdrawal + decide(.denied, now, nil)
        default:
            return withdrawal
                + fail(HostError(.timeout, "the question was closed without an answer; you can ask again"), now)
        }
    }

    /// Fails those who have waited too long. The question stays.
    mutating func expireWaiters(loopNow: UInt64) -> [Action] {
        let expired = waiters.takeExpired(now: loopNow)
        let error = HostError(.timeout, "the user has not answered yet; a later answer still counts")
        return [.startTimer(at: waiters.nextDeadline), .reply(expired, .failure(error))]
    }

    /// For good.
    mutating func end() -> [Action] { takeQuestion() + [.reply(waiters.takeAll(), .failure(.closed))] }

    private mutating func fail(_ error: HostError, _ now: EpochMilliseconds) -> [Action] {
        machine.askFailed()
        return endQuestion(error, now)
    }

    private mutating func endQuestion(_ error: HostError?, _ now: EpochMilliseconds) -> [Action] {
        takeQuestion() + [
            .startTimer(at: nil), .reply(waiters.takeAll(), error.map(Result.failure) ?? answer(now)),
        ]
    }

    /// Takes the question off the screen.
    private mutating func takeQuestion() -> [Action] {
        defer { question = nil }
        return question.map { [.withdraw($0.key, handle: $0.handle)] } ?? []
    }
}
