package import Wire

/// Decides whether the person is asked, and what becomes of the answer.
///
/// A pure state machine; times are epoch milliseconds. Only ``request(provisional:now:)`` asks the user, and never
/// again after a denial. The program's settings page can set the authorization at any time.
package struct AuthorizationStateMachine: Sendable {
    package enum RequestAction: Sendable, Equatable {
        /// It is known: this is the answer.
        case answer(Authorization)
        /// The user has declined before: that is the answer, together with how to change it.
        case denied(Authorization)
        /// Ask; then ``decided(_:now:)`` or ``askFailed()``.
        case ask
        /// The person is being asked already: the answer will be this one's, too.
        case wait
        /// No question is needed: store it, announce it, and return it as the answer.
        case store(Authorization)
    }

    package enum DecideAction: Sendable, Equatable {
        /// It is another one now: store and announce it.
        case store(Authorization)
        case none
    }

    /// The stored and announced value; it may have expired since.
    private var announced: Authorization
    package var stored: Authorization { announced }
    /// A question is open: those who wait for it hear of what ends it.
    package private(set) var isAsking = false

    /// What was stored may have ended while nothing ran: ``expired(now:)`` tells.
    package init(stored: Authorization) { announced = stored }

    package func current(_ now: EpochMilliseconds) -> Authorization { announced.current(now) }

    /// When ``expired(now:)`` is to be called.
    package var nextEnd: EpochMilliseconds? { announced.until }

    /// The host wants the authorization.
    ///
    /// - Parameter provisional: quiet alerts are enough, so the user is not asked.
    package mutating func request(provisional: Bool, now: EpochMilliseconds) -> RequestAction {
        let current = current(now)
        switch current.status {
        case .authorized, .ephemeral: return .answer(current)
        case .denied: return .denied(current)
        case .provisional where provisional: return .answer(current)
        case .notDetermined where provisional && !isAsking:
            announced = .provisional
            return .store(.provisional)
        case .provisional, .notDetermined:
            guard !isAsking else { return .wait }
            isAsking = true
            return .ask
        }
    }

    /// The person has answered, or the host has set it. An open question is over: ``current(_:)`` is its answer.
    package mutating func decided(_ new: Authorization, now: EpochMilliseconds) -> DecideAction {
        isAsking = false
        return become(new.current(now))
    }

    /// There was no way to ask, or the question was closed without an answer: nothing changes, and the user may be
    /// asked again.
    package mutating func askFailed() { isAsking = false }

    /// An ephemeral authorization may have ended.
    package mutating func expired(now: EpochMilliseconds) -> DecideAction { become(current(now)) }

    private mutating func become(_ new: Authorization) -> DecideAction {
        guard new != announced else { return .none }
        announced = new
        return .store(new)
    }
}
