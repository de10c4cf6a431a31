package import Wire

/// Decides whether the person is asked, and what becomes of the answer.
///
/// A pure state machine; moments are epoch milliseconds. Nobody is asked but by ``request(provisional:now:)``; a denial is
/// not asked again; what a host sets on its page of settings holds at any time.
package struct AuthorizationStateMachine: Sendable {
    package enum RequestAction: Sendable, Equatable {
        /// It is known: this is the answer.
        case answer(Authorization)
        /// The person has said no before: this is the answer, and where to change it is to be said.
        case denied(Authorization)
        /// Ask; then ``decided(_:now:)`` or ``askFailed()``.
        case ask
        /// The person is being asked already: the answer will be this one's, too.
        case wait
        /// Nobody needs to be asked: store it, announce it, and it is the answer.
        case store(Authorization)
    }

    package enum DecideAction: Sendable, Equatable {
        /// It is another one now: store and announce it.
        case store(Authorization)
        case none
    }

    /// What is stored, and was announced; it may have ended since.
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
    /// - Parameter provisional: to be quiet is enough, so nobody is asked.
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

    /// Nobody could ask, or the question went away without an answer: all is as it was, and it may be asked again.
    package mutating func askFailed() { isAsking = false }

    /// An ephemeral authorization may have ended.
    package mutating func expired(now: EpochMilliseconds) -> DecideAction { become(current(now)) }

    private mutating func become(_ new: Authorization) -> DecideAction {
        guard new != announced else { return .none }
        announced = new
        return .store(new)
    }
}
