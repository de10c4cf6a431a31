/// One alert, from the decision to show it until it is on the screen: enrichment, the program's decision, presentation.
///
/// It is shown once. A pure state machine; `now` is monotonic milliseconds. Each event gives at most one action. It
/// ends exactly once, with ``Action/finished(_:)``. Later events change nothing, except that a banner that is no longer
/// needed is closed. The caller answers each ``Action/present(_:)`` exactly once.
package struct AlertRunStateMachine: Sendable {
    package enum Action: Sendable, Equatable {
        /// Fetch the image, open the body; then ``enriched(now:)``.
        case enrich
        /// Ask the host what to show; then ``answered(_:now:)``.
        case ask
        /// Show the best content that there is; then ``presented(_:)``, ``presentFailed(now:)`` or ``noPresenter()``.
        case present(Presentation)
        case finished(Outcome)
        /// It was shown, and should not be any more.
        case close(handle: String)
    }

    package struct Outcome: Sendable, Equatable {
        package let presented: Bool
        /// Why it is not to be seen.
        package let reason: Reason?
        /// Of the banner, where its presenter has such.
        package let handle: String?
        /// What the host wants of it; also when nothing is to be seen: the badge may be set.
        package let presentation: Presentation

        package init(presented: Bool, reason: Reason?, handle: String?, presentation: Presentation) {
            self.presented = presented
            self.reason = reason
            self.handle = handle
            self.presentation = presentation
        }
    }

    /// As `notification.presented` says it.
    package enum Reason: String, Sendable, CaseIterable {
        /// The host wants nothing to be seen.
        case willPresent = "will_present"
        case presenterFailed = "presenter_failed"
        /// A newer one with its id, or its collapse key, has come.
        case replaced
        /// It was taken back: read elsewhere, deleted, unpaired.
        case removed
    }

    private enum State: Sendable, Equatable {
        case new
        case enriching(until: UInt64)
        case asking(until: UInt64)
        case presenting
        case pausing(until: UInt64)
        /// Alerts cannot be shown.
        case waiting
        case finished
    }

    /// All in all, from the start.
    package static let enrichmentTime: UInt64 = 30_000
    package static let askTime: UInt64 = 500
    /// After each failure of the presenter; the last one again and again.
    package static let pauses: [UInt64] = [1_000, 2_000, 5_000, 10_000, 30_000]
    /// From the first try on, unless it is patient. There is a last try when it is over.
    package static let patience: UInt64 = 60_000

    private var state = State.new
    /// The program is in front: the host is asked first.
    private var isInFront = false
    /// It is tried again without limit.
    private var isPatient = false
    /// The banner whose place it takes.
    private var place: String?
    private var wasReplaced = false
    private var presentation = Presentation.all
    private var failures = 0
    private var patienceEnds: UInt64 = 0

    package init() {}

    /// It is being put on the screen.
    package var isPresenting: Bool { state == .presenting }

    package var isFinished: Bool { state == .finished }

    /// When ``deadlineReached(now:)`` is to be called.
    package var deadline: UInt64? {
        switch state {
        case .enriching(let moment), .asking(let moment), .pausing(let moment): moment
        case .new, .presenting, .waiting, .finished: nil
        }
    }

    // MARK: Events

    /// Once, at first.
    ///
    /// - Parameters:
    ///   - isPatient: failures of the presenter don't end it, as is so for a reminder.
    ///   - replacing: the banner whose place it takes.
    ///   - end: when the enrichment is waited for no longer; `nil` = after ``enrichmentTime``.
    package mutating func start(
        hasEnrichment: Bool, isInFront: Bool, isPatient: Bool = false, replacing: String? = nil,
        until end: UInt64? = nil, now: UInt64
    ) -> Action? {
        guard state == .new else { return nil }
        (self.isInFront, self.isPatient) = (isInFront, isPatient)
        place = replacing
        guard hasEnrichment else { return ask(now) }
        state = .enriching(until: end ?? now &+ Self.enrichmentTime)
        return .enrich
    }

    /// The program came to the front, or left it.
    package mutating func moved(toFront isInFront: Bool) { self.isInFront = isInFront }

    /// The content is as good as it gets, whether or not all went well.
    package mutating func enriched(now: UInt64) -> Action? {
        guard case .enriching = state else { return nil }
        return ask(now)
    }

    /// The host's answer.
    package mutating func answered(_ presentation: Presentation, now: UInt64) -> Action? {
        guard case .asking = state else { return nil }
        self.presentation = presentation
        guard presentation.isVisible else { return finish(.willPresent) }
        return present(now)
    }

    /// It is shown.
    package mutating func presented(_ handle: String?) -> Action? {
        switch state {
        case .presenting:
            state = .finished
            return .finished(Outcome(presented: true, reason: nil, handle: handle, presentation: presentation))
        case .finished:
            // Its successor has taken its place, perhaps already: the server uses the same number for both.
            guard let handle, !(wasReplaced && handle == place) else { return nil }
            return .close(handle: handle)
        case .new, .enriching, .asking, .pausing, .waiting: return nil
        }
    }

    package mutating func presentFailed(now: UInt64) -> Action? {
        guard state == .presenting else { return nil }
        guard isPatient || now < patienceEnds else { return finish(.presenterFailed) }
        let end = now &+ Self.pauses[min(failures, Self.pauses.count - 1)]
        failures &+= 1
        state = .pausing(until: isPatient ? end : min(end, patienceEnds))
        return nil
    }

    /// The program has not set its presenting callback yet. That is not a failure, and has no deadline.
    package mutating func noPresenter() {
        if state == .presenting { state = .waiting }
    }

    /// A retry may succeed now: a server has appeared, or the program has set its presenting callback.
    package mutating func presenterReady(now: UInt64) -> Action? {
        switch state {
        case .pausing: return retry()
        case .waiting: return present(now)
        case .new, .enriching, .asking, .presenting, .finished: return nil
        }
    }

    /// It is not wanted any more.
    ///
    /// - Parameter reason: ``Reason/replaced`` or ``Reason/removed``.
    package mutating func withdraw(_ reason: Reason) -> Action? { isFinished ? nil : finish(reason) }

    package mutating func deadlineReached(now: UInt64) -> Action? {
        guard let deadline, deadline <= now else { return nil }
        switch state {
        case .enriching: return ask(now)
        case .asking: return present(now)
        case .pausing: return retry()
        case .new, .presenting, .waiting, .finished: return nil
        }
    }

    // MARK: Deciding

    private mutating func ask(_ now: UInt64) -> Action {
        guard isInFront else { return present(now) }
        state = .asking(until: now &+ Self.askTime)
        return .ask
    }

    private mutating func present(_ now: UInt64) -> Action {
        (failures, patienceEnds) = (0, now &+ Self.patience)
        return retry()
    }

    private mutating func retry() -> Action {
        state = .presenting
        return .present(presentation)
    }

    private mutating func finish(_ reason: Reason) -> Action {
        state = .finished
        wasReplaced = reason == .replaced
        return .finished(Outcome(presented: false, reason: reason, handle: nil, presentation: presentation))
    }
}
