import Alerts
package import Hosting
import JSON
import Notifications
import Signalling
package import Store
package import Transport
package import Wire

/// The alerts of a device: what its person sees of pushes and reminders, and how they respond.
///
/// The switchboard of authorization, reminders and ``AlertDelivery``: routes requests, the clock and what the presenter
/// reports. With `"alerts":"none"` it answers requests and does nothing by itself. Every method runs on the loop and
/// never suspends.
@EventLoop
package final class DeviceAlerts {
    private enum Phase { case opened, running, ended }
    /// `rest`: the clock may be followed again.
    private enum Timer { case authorization, rest }

    private let rules: AlertRules
    private let store: AlertStore
    private let channel: HostChannel
    private let screen: Screen
    private let delivery: AlertDelivery
    private var reminders: ReminderScheduler
    private var phase = Phase.opened
    private lazy var timers = AlertTimers<Timer> { [weak self] in self?.fired($0) }
    /// A reminder is due, or quiet hours or an authorization end, or the clock was set.
    private lazy var clock = WallClockTimer { [weak self] in self?.followClock() }

    /// How long the clock rests after the store failed, in milliseconds.
    private static let clockRest: UInt64 = 10_000

    /// - Parameter stored: `nil` = it is read with the first request.
    package init(
        _ configuration: AlertConfiguration, _ stored: StoredAlertState?, host: any AlertHost, inbox: any AlertInbox,
        _ channel: HostChannel, _ database: Database
    ) {
        self.channel = channel
        rules = AlertRules(configuration, stored)
        store = AlertStore(database, inbox, rules)
        screen = Screen(configuration, channel)
        delivery = AlertDelivery(rules, store, screen, channel, host: host)
        reminders = ReminderScheduler(stored?.reminders ?? [])
        screen.handler = { [weak self] in self?.take($0) }
        delivery.armClock = { [weak self] in self?.armClock() }
    }

    private var isOn: Bool { rules.configuration.isOn }

    // MARK: Begin and end

    /// Starts the presenter and takes up what an earlier process left. Further calls do nothing.
    package func begin() {
        guard isOn, phase == .opened else { return }
        phase = .running
        delivery.begin()
        perform(rules.authorization.expire(now: .now, announcesAlways: true))
        delivery.takeUp {
            self.perform(self.reminders.passed(now: .now, isStart: true))
            self.followClock()
        }
    }

    /// For good: nothing is shown any more, and those who wait get `closed`.
    package func end() {
        let wasRunning = phase == .running
        phase = .ended
        store.end()
        guard wasRunning else { return }
        timers.stopAll()
        clock.stop()
        delivery.end()
        perform(rules.authorization.end())
        screen.stop()
    }

    // MARK: The device

    /// Decides about pushes that are about to be stored; `nil` = nobody shows alerts. Make a new one for each transaction.
    package var judge: AlertJudge? { isOn ? rules.judge : nil }

    /// The alert was committed, with what becomes of it.
    package func entered(_ judged: AlertJudge.Judged) { delivery.entered(judged) }

    /// The desktop was unpaired.
    package func forget(_ desktop: PeerID) { delivery.forget(desktop) }

    /// The same for a device whose alerts were never needed in this process: removes what the store has of them.
    package nonisolated static func forget(_ desktop: PeerID, _ connection: Connection) throws(StoreError) {
        _ = try AlertTable(connection).remove(.desktop(desktop))
    }

    /// Something was read, deleted or cleared, here or elsewhere.
    package func inboxChanged() { delivery.inboxChanged() }

    /// - Parameter count: `nil` leaves the badge as it is.
    package func setBadge(_ count: Int64?) { delivery.setBadge(count) }

    /// Whether the host has a callback that answers these questions.
    package func hostAnswers(_ hook: HostHook, _ answers: Bool) {
        switch hook {
        case .authorize: rules.authorization.hostAsks = answers
        case .willPresent: delivery.hostDecides(answers)
        case .present: screen.hostPresents(answers)
        }
    }

    package func execute(_ request: AlertRequest, _ then: @escaping Then) {
        guard rules.preferences.isLoaded else {
            return store.run(LoadWork()) { result in
                switch result {
                case .failure(let error): then(.failure(HostError(error)))
                case .success(let stored):
                    if self.rules.load(stored) { self.reminders.load(stored.reminders) }
                    self.execute(request, then)
                }
            }
        }
        let now = EpochMilliseconds.now
        if request.needsAlerts, !isOn { return then(.failure(.noAlerts)) }
        switch request {
        case .state: then(.success(HostReply(delivery.state(now))))
        case .requestAuthorization(let isProvisional, let timeout):
            guard phase == .running else { return then(.failure(phase == .opened ? .notStarted : .closed)) }
            let loopNow = EventLoop.now
            perform(
                rules.authorization.request(
                    isProvisional: isProvisional, timeout: timeout, now: now, loopNow: loopNow, then))
        case .authorize(let status, let until):
            perform(rules.authorization.authorize(status: status, until: until, now: now, then))
        case .inFront(let isInFront):
            delivery.moved(toFront: isInFront)
            then(.success(.done))
        case .respond(let desktop, let id, let action, let text):
            guard rules.configuration.options.kind == .host else { return then(.failure(.noHostPresenter)) }
            delivery.respond(AlertKey(desktop: desktop.map { PeerID($0) }, id: AlertID(id)), action, text, then)
        case .categories(let value): perform(rules.preferences.register(value, then))
        case .settings: then(.success(HostReply(rules.preferences.effective.json)))
        case .change(let change): perform(rules.preferences.apply(change, then))
        case .delivered: delivery.list(then)
        case .remove(let desktop, let id, let thread):
            delivery.remove(desktop: desktop, id: id, thread: thread, then)
        case .badge(let count):
            setBadge(count)
            then(.success(.done))
        case .addReminder(let object):
            let id = AlertID(NotificationID(random: .random(in: 0 ... .max), .random(in: 0 ... .max)).text)
            perform(reminders.add(object, newID: id, now: now, then))
        case .reminders: then(.success(HostReply(.array(reminders.list.map { .object($0.json) }))))
        case .removeReminders(let id, let thread): perform(reminders.remove(id: id, thread: thread, then))
        case .position(let latitude, let longitude, let accuracy):
            perform(reminders.move(to: latitude, longitude, accuracy: accuracy, now: now, then))
        }
    }

    // MARK: Clock and presenter

    private func armClock() {
        guard phase == .running, !reminders.isResting else { return }
        let moments = [reminders.nextAt, rules.nextEnd]
        if let next = moments.compactMap({ $0 }).min() { clock.start(at: next) } else { clock.stop() }
    }

    private func followClock() {
        guard phase == .running, !reminders.isResting else { return }
        perform(rules.authorization.expire(now: .now))
        perform(reminders.passed(now: .now, isStart: false))
        delivery.redecide()
        delivery.releaseQuiet()
        armClock()
    }

    private func fired(_ timer: Timer) {
        switch timer {
        case .authorization: perform(rules.authorization.expireWaiters(loopNow: EventLoop.now))
        case .rest:
            reminders.rested()
            followClock()
        }
    }

    private func take(_ event: PresenterEvent) {
        guard phase != .ended else { return }
        let now = EpochMilliseconds.now
        switch event {
        case .ready:
            delivery.presenterReady()
            perform(rules.authorization.presenterReady(now: now))
        case .gone(let problem):
            channel.log(.info, "cannot show alerts at the moment: \(problem)")
            perform(rules.authorization.presenterGone(problem, now: now))
        case .closed(let key):
            // It expired or was taken away: it stays in the list, as in servers that have one.
            perform(rules.authorization.answered(key, nil, now: now) ?? [])
        case .lost(let isLost): delivery.lost(isLost)
        case .responded(let key, let action, let text):
            if let actions = rules.authorization.answered(key, action, now: now) { return perform(actions) }
            delivery.respond(key, action, text) { [channel] result in
                guard case .failure(let error) = result else { return }
                channel.log(.warning, "ignored a response to an alert: \(error.message)")
            }
        }
    }

    // MARK: Actions

    private func perform(_ actions: [AuthorizationPrompt.Action]) {
        for action in actions {
            switch action {
            case .reply(let waiters, let result): for then in waiters { then(result) }
            case .store(let save):
                store.run(save) { result in self.perform(self.rules.authorization.saved(save, result, now: .now)) }
                delivery.redecide()
            case .post(let event): channel.post(event)
            case .askHost(let json):
                channel.ask(
                    HostQuestion(.authorize, json: json) { [weak self] answer in
                        if answer == nil { EventLoop.post { self?.authorizationCallbackGone() } }
                    })
            case .askSystem: askSystem()
            case .show(let alert, let place):
                _ = screen.show(alert, replacing: place, ShowPermit()) { [weak self] result in
                    guard let self, phase != .ended else { return }
                    perform(rules.authorization.shown(alert.key, result, now: .now))
                }
            case .withdraw(let key, let handle): screen.withdraw(key, handle: handle)
            case .startTimer(let deadline): timers.start(.authorization, at: deadline)
            case .armClock: armClock()
            }
        }
    }

    private func authorizationCallbackGone() {
        if phase != .ended { perform(rules.authorization.hostGone(now: .now)) }
    }

    /// Right after the start, the screen is not there before the store has answered: this waits behind that.
    private func askSystem() {
        store.run(Barrier()) { _ in
            self.screen.findServer { [weak self] state in
                guard let self, phase != .ended else { return }
                let number = UInt64.random(in: 0 ... .max)
                perform(rules.authorization.serverKnown(state, number: number, now: .now))
            }
        }
    }

    private func perform(_ actions: [Preferences.Action]) {
        for action in actions {
            switch action {
            case .store(let change):
                store.run(change) { result in self.perform(self.rules.preferences.saved(change, result)) }
                delivery.redecide()
            case .reply(let then, let result): then(result)
            case .settingsChanged: followClock()
            }
        }
    }

    private func perform(_ actions: [ReminderScheduler.Action]) {
        for action in actions {
            switch action {
            case .store(let work):
                store.run(work) { result in self.perform(self.reminders.stored(work, result)) }
            case .reply(let then, let result): then(result)
            case .entered(let judged): entered(judged)
            case .armClock: armClock()
            case .rest:
                guard phase == .running else { break }
                reminders.rest()
                clock.stop()
                timers.start(.rest, after: Self.clockRest)
            case .report(let error): store.report(error, "could not store a reminder")
            }
        }
    }
}
