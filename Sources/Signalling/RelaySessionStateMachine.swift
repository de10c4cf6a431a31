package import Wire

/// One peer's session with one relay: connect, register, keep alive, come back (protocol.md 1).
///
/// Pure: time comes in as monotonic milliseconds, randomness as a generator. The owner carries out what each event
/// answers, and calls ``deadlineReached(now:using:)`` when ``deadline`` has come; it looks at `deadline` again after every
/// event. There is no giving up: only ``stop()`` ends a session.
package struct RelaySessionStateMachine: Sendable {
    /// How long a relay may take to accept a registration, in milliseconds.
    package static let registrationTimeout: UInt64 = 10_000
    /// The time between two application pings, in milliseconds.
    package static let keepaliveInterval: UInt64 = 30_000
    /// A registration that held this long, in milliseconds, starts the backoff anew when it ends.
    package static let lastingRegistration: UInt64 = 10_000

    enum State: Sendable, Equatable {
        case stopped
        case waiting(until: UInt64, OfflineReason)
        case connecting
        case registering(until: UInt64)
        case online(since: UInt64, nextPing: UInt64)
    }

    /// What every connection registers. It never changes: the invariant of protocol.md 1.
    package let registration: SignallingFrame.Register
    private(set) var state: State = .stopped
    private(set) var backoff = Backoff()

    package init(registration: SignallingFrame.Register) { self.registration = registration }

    /// When ``deadlineReached(now:using:)`` is due; `nil` = no wait.
    package var deadline: UInt64? {
        switch state {
        case .stopped, .connecting: nil
        case .waiting(let until, _): until
        case .registering(let until): until
        case .online(_, let nextPing): nextPing
        }
    }

    package var connectionState: RelayConnectionState {
        switch state {
        case .stopped: .offline(.stopped)
        case .waiting(_, let reason): .offline(reason)
        case .connecting: .connecting
        case .registering: .registering
        case .online: .online
        }
    }
}

// MARK: The owner's wishes

extension RelaySessionStateMachine {
    package enum StartAction: Sendable, Equatable {
        case connect
        case none
    }

    /// Begins; nothing happens where it has begun already.
    package mutating func start() -> StartAction {
        switch state {
        case .stopped:
            backoff.reset()
            state = .connecting
            return .connect
        case .waiting, .connecting, .registering, .online: return .none
        }
    }

    package enum StopAction: Sendable, Equatable {
        case closeConnection
        case none
    }

    /// Ends, until the next ``start()``.
    package mutating func stop() -> StopAction {
        defer { state = .stopped }
        return switch state {
        case .stopped, .waiting: .none
        case .connecting, .registering, .online: .closeConnection
        }
    }

    package enum ReconnectAction: Sendable, Equatable {
        case connect
        /// Give up the connection there is, and make a new one.
        case replaceConnection
        case none
    }

    /// Connects anew without a wait: the network has changed, or the machine has woken. A stopped session stays so.
    package mutating func reconnectNow() -> ReconnectAction {
        switch state {
        case .stopped: return .none
        case .waiting:
            backoff.reset()
            state = .connecting
            return .connect
        case .connecting, .registering, .online:
            backoff.reset()
            state = .connecting
            return .replaceConnection
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
            state = .registering(until: now.advanced(by: Self.registrationTimeout))
            return .register(registration)
        case .stopped, .waiting, .registering, .online: return .closeConnection
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
        case .stopped, .waiting: return .none
        case .connecting, .registering, .online:
            retry(reason, now: now, using: &generator)
            return .offline(reason)
        }
    }

    package enum DeadlineAction: Sendable, Equatable {
        case connect
        case sendPing
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
        case .registering(let until) where now >= until:
            let reason = OfflineReason(.registrationTimedOut, "the relay did not answer the registration in 10 s")
            retry(reason, now: now, using: &generator)
            return .drop(reason)
        case .online(let since, let nextPing) where now >= nextPing:
            state = .online(since: since, nextPing: now.advanced(by: Self.keepaliveInterval))
            return .sendPing
        case .stopped, .waiting, .connecting, .registering, .online: return .none
        }
    }

    package enum ReceivedAction: Sendable, Equatable {
        /// Registered: the owner may send.
        case online
        case deliver(RelayEvent)
        case sendPong
        /// Close the connection; the next attempt comes at ``deadline``.
        case drop(OfflineReason)
        /// Nothing to do; not an error.
        case ignore
    }

    package mutating func received(
        _ frame: SignallingFrame, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ReceivedAction {
        switch state {
        case .stopped, .waiting, .connecting: .ignore
        case .registering: receivedWhileRegistering(frame, now: now, using: &generator)
        case .online: receivedWhileOnline(frame, now: now, using: &generator)
        }
    }
}

extension RelaySessionStateMachine {
    private mutating func receivedWhileRegistering(
        _ frame: SignallingFrame, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ReceivedAction {
        switch frame {
        case .registered(let registered):
            guard registered.peerID == nil || registered.peerID == registration.peerID else {
                let reason = OfflineReason(.registrationRefused, "the relay registered another id than ours")
                retry(reason, now: now, using: &generator)
                return .drop(reason)
            }
            state = .online(since: now, nextPing: now.advanced(by: Self.keepaliveInterval))
            return .online
        case .error(let text):
            let reason = OfflineReason(
                .registrationRefused, text.isEmpty ? "the relay refused us" : "the relay refused us: \(text)")
            retry(reason, now: now, using: &generator)
            return .drop(reason)
        case .serverShutdown: return shutDown(now: now, using: &generator)
        case .ping: return .sendPong
        // A relay that delivers before it says `registered` would have its frames lost otherwise.
        case .message, .routed, .offlineMessage, .peerOffline, .peerStatus: return event(of: frame)
        case .register, .pong, .other: return .ignore
        }
    }

    private mutating func receivedWhileOnline(
        _ frame: SignallingFrame, now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ReceivedAction {
        switch frame {
        case .error(let text): .deliver(.refused(text))
        case .serverShutdown: shutDown(now: now, using: &generator)
        case .ping: .sendPong
        case .message, .routed, .offlineMessage, .peerOffline, .peerStatus: event(of: frame)
        case .register, .registered, .pong, .other: .ignore
        }
    }

    /// What the owner is told of a frame. One that was stored is unwrapped, and told with its time.
    private func event(of frame: SignallingFrame) -> ReceivedAction {
        switch frame {
        case .message(let message): deliver(message, .live)
        case .routed(let routed): .deliver(.routed(routed, delivery: .live))
        case .offlineMessage(let stored):
            switch stored.original {
            case .message(let message): deliver(message, .stored(at: stored.storedAt))
            case .routed(let routed): .deliver(.routed(routed, delivery: .stored(at: stored.storedAt)))
            }
        case .peerOffline(let offline): .deliver(.peerOffline(offline.peerID))
        case .peerStatus(let status): .deliver(.peerStatus(status.peerID, isOnline: status.isOnline))
        case .register, .registered, .ping, .pong, .error, .serverShutdown, .other: .ignore
        }
    }

    private func deliver(_ message: SignallingFrame.Message, _ delivery: SignallingDelivery) -> ReceivedAction {
        guard let from = message.from else {
            return .deliver(
                .malformed(SignallingFrameError(.missingField, "a \"message\" frame came without a usable \"from\"")))
        }
        return .deliver(
            .message(
                RelayMessage(
                    from: from, payload: message.payload, timestamp: message.timestamp, delivery: delivery)))
    }

    /// Everybody was sent away at once, so nobody comes back at once: the wait is drawn from two seconds or more.
    private mutating func shutDown(
        now: UInt64, using generator: inout some RandomNumberGenerator
    ) -> ReceivedAction {
        let reason = OfflineReason(.serverShutdown, "the relay is going down")
        settle(now: now)
        backoff.raise(to: 2)
        state = .waiting(until: now.advanced(by: backoff.next(using: &generator)), reason)
        return .drop(reason)
    }

    private mutating func retry(
        _ reason: OfflineReason, now: UInt64, using generator: inout some RandomNumberGenerator
    ) {
        settle(now: now)
        state = .waiting(until: now.advanced(by: backoff.next(using: &generator)), reason)
    }

    /// A relay that accepts us only to drop us is not asked faster for it: only a registration that lasted counts.
    private mutating func settle(now: UInt64) {
        if case .online(let since, _) = state, now >= since, now - since >= Self.lastingRegistration {
            backoff.reset()
        }
    }
}

extension UInt64 {
    /// Later by so much, or the end of time.
    fileprivate func advanced(by milliseconds: UInt64) -> UInt64 {
        let (sum, overflow) = addingReportingOverflow(milliseconds)
        return overflow ? .max : sum
    }
}
