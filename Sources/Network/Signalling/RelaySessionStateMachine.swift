package import Wire

/// One peer's session with one relay: connect, register, keep alive, reconnect (Wire, "Reconnecting").
///
/// Pure: time comes in as monotonic milliseconds, randomness as a generator. The owner performs the actions of each
/// event, and calls ``deadlineReached(now:using:)`` at ``deadline``, which it reads again after every event. A session
/// never gives up: only ``stop()`` ends it.
package struct RelaySessionStateMachine: Sendable {
    /// How long a relay may take to accept a registration, in milliseconds.
    package static let registrationTimeout: UInt64 = 10_000
    /// The time between two application pings, in milliseconds.
    package static let keepaliveInterval: UInt64 = 30_000
    /// Before a session that rests tries again: 10 minutes, in milliseconds.
    package static let restingInterval: UInt64 = 600_000
    /// A registration that held this long, in milliseconds, starts the backoff anew when it ends.
    package static let lastingRegistration: UInt64 = 10_000

    enum State: Sendable, Equatable {
        case stopped
        /// Started, and at rest until ``resume()``.
        case suspended
        case waiting(until: UInt64, OfflineReason)
        case connecting
        case registering(until: UInt64, ProofStep)
        case online(since: UInt64, nextPing: UInt64, isProved: Bool)
    }

    /// How far this connection has come with its proof (Wire, "Proof of an id").
    enum ProofStep: Sendable, Equatable {
        /// This registration is a plain one.
        case none
        /// Our register asked for a challenge; a relay that knows none registers us at once.
        case offered
        /// The one challenge of this connection was answered.
        case answered
    }

    /// What every connection registers. It never changes (Wire, "Reconnecting").
    package let registration: SignallingFrame.Register
    var state: State = .stopped
    var backoff = Backoff()
    var isSuspended = false
    /// Whether what it is for is reached another way: after a failure it waits long.
    package private(set) var isResting = false
    /// For this registration, unless it is a plain one or was proved: a relay that asks for proofs loses nobody and
    /// reports absent peers.
    var probes: Probes?
    var budget = SendBudget()

    struct Probes: Sendable, Equatable {
        var registration: RegistrationProbe
        var absence: AbsenceProbe
        var sender: SenderProbe
    }

    /// - Parameter proves: whether it asks for a challenge, and answers it. Then the registration says `bellwire`.
    package init(registration: SignallingFrame.Register, proves: Bool = false) {
        var registration = registration
        registration.bellwire = proves ? 1 : nil
        registration.proof = nil
        self.registration = registration
    }

    /// When ``deadlineReached(now:using:)`` is due; `nil` = no wait.
    package var deadline: UInt64? {
        switch state {
        case .stopped, .suspended, .connecting: nil
        case .waiting(let until, _): until
        case .registering(let until, _): until
        case .online(_, let nextPing, _):
            [
                nextPing, probes?.absence.deadline, probes?.sender.deadline,
                probes?.registration.deadline(pingedAt: nextPing.before(Self.keepaliveInterval)),
            ].compactMap(\.self).min()
        }
    }

    package var connectionState: LinkState {
        switch state {
        case .stopped: .offline(.stopped)
        case .suspended: .offline(.suspended)
        case .waiting(_, let reason): .offline(reason)
        case .connecting: .connecting
        case .registering: .registering
        case .online: .online
        }
    }

    /// Whether this relay reports absent peers, as far as this registration has shown.
    package var absenceReporting: AbsenceReporting { probes?.absence.result ?? .reports }

    /// Who names the sender of a message at this relay, as far as is known. A relay that asks for proofs does.
    package var senderNaming: SenderNaming { isProved ? .byRelay : probes?.sender.result ?? .unknown }

    /// Whether a frame of that size may be sent now, or has to wait because of a limit of the relay.
    package mutating func take(_ bytes: Int, now: UInt64) -> Bool {
        isProved || budget.take(bytes, isUndecided: probes?.sender.isAsking ?? false, now: now)
    }

    /// Whether the connection that ``ReceivedAction/sendAsStranger(_:)`` has asked for is still needed.
    package var needsStranger: Bool { probes?.sender.needsStranger ?? false }

    /// Registered, with a proof that the relay asked for.
    package var isProved: Bool {
        switch state {
        case .online(_, _, let isProved): isProved
        case .stopped, .suspended, .waiting, .connecting, .registering: false
        }
    }
}

// MARK: What the connection tells

extension RelaySessionStateMachine {
    package enum OpenedAction: Sendable, Equatable {
        case register(SignallingFrame.Register)
        /// Nobody waits for this connection any more.
        case closeConnection
    }

    package mutating func opened(now: UInt64) -> OpenedAction {
        switch state {
        case .connecting:
            state = .registering(
                until: now.advanced(by: Self.registrationTimeout), registration.bellwire == nil ? .none : .offered)
            return .register(registration)
        case .stopped, .suspended, .waiting, .registering, .online: return .closeConnection
        }
    }

    package enum ClosedAction: Sendable, Equatable {
        /// Down; the next attempt comes at ``deadline``.
        case offline(OfflineReason)
        case none
    }

    /// The connection ended, or could not be made.
    package mutating func closed(
        _ reason: OfflineReason, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ClosedAction {
        switch state {
        case .stopped, .suspended, .waiting: return .none
        case .connecting, .registering, .online:
            retry(reason, now: now, using: &generator)
            return .offline(reason)
        }
    }

    package enum DeadlineAction: Sendable, Equatable {
        case connect
        case sendPing
        /// Send this probe.
        case probe(SignallingFrame)
        case deliver(LinkEvent)
        /// Close the connection; the next attempt comes at ``deadline``.
        case drop(OfflineReason)
        case none
    }

    /// The time of ``deadline`` has come. Called too early, it does nothing.
    package mutating func deadlineReached(
        now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> DeadlineAction {
        switch state {
        case .waiting(let until, _) where now >= until:
            state = .connecting
            return .connect
        case .registering(let until, _) where now >= until:
            let reason = OfflineReason(.registrationTimedOut, "the relay did not answer the registration in 10 s")
            retry(reason, now: now, using: &generator)
            return .drop(reason)
        case .online(let since, let nextPing, let isProved):
            let pingedAt = nextPing.before(Self.keepaliveInterval)
            if let action = probe(pingedAt: pingedAt, now: now, using: &generator) { return action }
            guard now >= nextPing else { return .none }
            state = .online(
                since: since, nextPing: now.advanced(by: Self.keepaliveInterval), isProved: isProved)
            return .sendPing
        case .stopped, .suspended, .waiting, .connecting, .registering: return .none
        }
    }

    /// What a probe is due to do; `nil` = nothing.
    private mutating func probe(
        pingedAt: UInt64, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> DeadlineAction? {
        switch probes?.absence.deadlineReached(from: registration.peerID, now: now) {
        case .send(let frame): return .probe(frame)
        case .changed: return .deliver(.absenceReporting(absenceReporting))
        case .some(.none), nil: break
        }
        if probes?.sender.deadlineReached(now: now) == .changed { return .deliver(.senderNaming(senderNaming)) }
        guard let due = probes?.registration.deadline(pingedAt: pingedAt), due <= now else { return nil }
        return (probes?.registration.next(now: now, using: &generator)).map { .probe($0) }
    }
}

// MARK: Coming back

extension RelaySessionStateMachine {
    mutating func drop(
        _ code: OfflineReason.Code, _ why: String, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ReceivedAction {
        let reason = OfflineReason(code, why)
        retry(reason, now: now, using: &generator)
        return .drop(reason)
    }

    /// Everybody was sent away at once, so nobody comes back at once: the wait is drawn from two seconds or more.
    mutating func shutDown(
        now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ReceivedAction {
        let reason = OfflineReason(.serverShutdown, "the relay is shutting down")
        settle(now: now)
        backoff.raise(to: 2)
        state = .waiting(until: now.advanced(by: backoff.next(using: &generator)), reason)
        return .drop(reason)
    }

    mutating func retry(
        _ reason: OfflineReason, now: UInt64, using generator: inout some RandomNumberGenerator
    ) {
        settle(now: now)
        let wait = isResting ? Self.restingInterval : backoff.next(using: &generator)
        state = .waiting(until: now.advanced(by: wait), reason)
    }

    /// Whether it retries slowly while it is down: only after ten minutes, or when ``reconnectNow()`` reports a network
    /// change. An established session is not affected.
    package mutating func rest(
        _ isResting: Bool, now: UInt64, using generator: inout some RandomNumberGenerator
    ) {
        guard isResting != self.isResting else { return }
        self.isResting = isResting
        guard case .waiting(let until, let reason) = state else { return }
        // Needed again: it has been down for a while, so the growing waits begin anew.
        if !isResting { backoff.reset() }
        let wait = isResting ? Self.restingInterval : backoff.next(using: &generator)
        let next = now.advanced(by: wait)
        state = .waiting(until: isResting ? next : min(until, next), reason)
    }

    /// A relay that accepts us only to drop us is not asked faster for it: only a registration that lasted counts.
    private mutating func settle(now: UInt64) {
        if case .online(let since, _, _) = state, now >= since, now - since >= Self.lastingRegistration {
            backoff.reset()
        }
    }
}

extension UInt64 {
    /// Earlier by so much, or the beginning of time.
    func before(_ milliseconds: UInt64) -> UInt64 { self > milliseconds ? self - milliseconds : 0 }

    /// Later by so much, or the end of time.
    func advanced(by milliseconds: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(milliseconds)
        return overflow ? .max : sum
    }
}
