import Identity
package import JSON
package import Wire

/// The sessions with one peer (WireSessions, "Handshake" and "Limits").
///
/// A pure state machine; `now` is monotonic milliseconds. New ids and ephemeral keys are passed in as a seed, which is
/// made only when a handshake needs one. It holds at most one pending handshake and two live sessions: the current one,
/// and for 60 s the one before it. Nothing of it is stored.
///
/// A handshake changes nothing before the other side has proved that it has the keys: to the device that is step 2, to
/// the desktop the device's first frame in the new session.
package struct SessionStateMachine {
    package enum Action: Sendable, Equatable {
        /// Send this frame, in plain text.
        case send(HandshakeFrame)
        /// The device's part: a session begins. Send a hello in it before anything else.
        case greet
    }

    package struct Opened: Sendable, Equatable {
        package let body: JSONObject
        /// The start of the peer; `nil` = it doesn't say.
        package let epoch: Int64?
        /// When it was sealed: informs, decides nothing.
        package let timestamp: EpochMilliseconds?
        /// The first frame of its session: the peer has confirmed the keys (``SealPolicy/sessionCompleted()``).
        package let isFirst: Bool
    }

    package enum Opening: Sendable, Equatable {
        case opened(Opened, [Action])
        case refused(SealError, [Action])
    }

    package enum Sealing: Sendable, Equatable {
        case sealed(SessionFrame, [Action])
        /// There is no session: the payload waits for one.
        case waiting([Action])
        /// It fits into no frame. Retrying can't help.
        case refused(SealError)
    }

    /// Indirect, because a handshake is large and seldom there.
    private indirect enum Pending {
        case none
        /// The device's part: step 1 was sent.
        case initiated(InitiatedHandshake)
        /// The desktop's part: step 2 was sent, and the device has not confirmed the keys.
        case answered(AnsweredHandshake)
    }

    /// Version 1 never counts with this peer, so a missing session is begun again and again. The device's part.
    package var isRequired: Bool
    private let pair: SessionPair
    /// Of our start, told in each frame.
    private let epoch: Int64?
    private let limits: SessionLimits
    private var pending = Pending.none
    private var current: Session?
    private var draining: (session: Session, until: UInt64)?
    /// What reading step 1 may cost: one that anyone may have written, one that a relay with proofs has named, and one with
    /// the tag that was asked for.
    private var reading: [HandshakeBudget]
    /// The nonce that a step 1 with a tag has to cover.
    private var challenge: HandshakeChallenge?
    /// What has been done about a missing session.
    private var search: SessionSearch?
    private var causing: HandshakePace
    /// When an old session may next get a successor.
    private var renewalAt: UInt64 = 0
    /// The device's part: answers that its keys didn't open, since the last one that they did.
    private var refusals: UInt64 = 0
    /// Until then a peer causes no handshake.
    private var pausedUntil: UInt64 = 0

    /// - Parameter epoch: of this start of the role; `nil` = it isn't told.
    package init(
        _ pair: SessionPair, epoch: Int64? = nil, isRequired: Bool = false, limits: SessionLimits = SessionLimits()
    ) {
        self.pair = pair
        self.isRequired = isRequired
        self.epoch = epoch
        self.limits = limits
        reading = Array(
            repeating: HandshakeBudget(
                burst: limits.initiationsPerMinute, interval: 60_000 / UInt64(max(1, limits.initiationsPerMinute))),
            count: 3)
        causing = HandshakePace(limits)
    }

    // MARK: State

    package var hasSession: Bool { current != nil }
    /// Whether the pairing's secret protects the sessions.
    package var hasPresharedKey: Bool { pair.hasPresharedKey }

    /// Whether the desktop's last answer was made with other keys. Either the relay made it, or the two sides keep different
    /// preshared keys, as after a restored backup: then they have to pair again.
    package var isRefused: Bool { refusals > 0 }

    /// Whether a session has been missing for long, although the other side seems to be there: either it is not, or the
    /// relay drops the handshakes.
    package var isUnanswered: Bool { search?.isUnanswered == true }

    /// The sessions that are held: at most a current one, a draining one and a pending one.
    package var held: Int {
        let pendingCount =
            switch pending {
            case .none: 0
            case .initiated, .answered: 1
            }
        return pendingCount + (current == nil ? 0 : 1) + (draining == nil ? 0 : 1)
    }

    /// When ``deadlineReached(now:seed:)`` is to be called.
    package var deadline: UInt64? {
        let pendingDeadline: UInt64? =
            switch pending {
            case .none: nil
            case .initiated(let handshake): handshake.deadline(limits)
            case .answered(let handshake): handshake.begin + limits.pending
            }
        let currentDeadline = current.map { session in
            pair.role == .initiator && pendingDeadline == nil && !isSpent(session)
                ? max(session.begin + limits.age, renewalAt)
                : session.begin + limits.lastAge
        }
        return [pendingDeadline, draining?.until, currentDeadline, causing.dueAt, search?.nextAt].compactMap { $0 }
            .min()
    }

    // MARK: Events

    /// This side has registered at a relay. The device begins a handshake; one that is under way is sent again.
    package mutating func registered(now: UInt64, seed: () -> SessionSeed) -> [Action] {
        expire(now)
        switch pair.role {
        case .initiator:
            if let again = sendAgain(now) { return again }
            return begin(now, seed)
        case .responder: return []
        }
    }

    /// The desktop's part: the device has just said that it uses sessions, or was paired. Asks for one, again and again.
    package mutating func wanted(now: UInt64) -> [Action] {
        expire(now)
        guard pair.role == .responder, current == nil else { return [] }
        return ask(.heard, now)
    }

    /// The desktop's part: a step 1 was not read, because there were too many. Asks for one that proves where it comes
    /// from. Needs a preshared key.
    package mutating func tooManyCame(nonce: () -> [UInt8], now: UInt64) -> [Action] {
        guard pair.role == .responder, pair.hasPresharedKey else { return [] }
        if let challenge, now < challenge.askedAt + limits.spacing { return [] }
        let nonce = challenge?.nonce ?? nonce()
        challenge = HandshakeChallenge(nonce: nonce, askedAt: now)
        return [.send(.challenge(nonce))]
    }

    /// The peer used version 1, which counts no more: it doesn't know of the sessions, or has forgotten them.
    package mutating func versionOneRefused(now: UInt64, seed: () -> SessionSeed) -> [Action] {
        expire(now)
        return recover(from: .frame, now, seed)
    }

    /// A time has come: sessions end, step 1 is sent again, what came too soon is made up for, an old session gets a
    /// successor.
    package mutating func deadlineReached(now: UInt64, seed: () -> SessionSeed) -> [Action] {
        expire(now)
        if case .initiated(let handshake) = pending, handshake.nextRepetition(limits).map({ $0 <= now }) ?? false {
            return sendAgain(now) ?? []
        }
        if causing.isDue(now: now) { return recover(from: .frame, now, seed) }
        if let search, search.nextAt <= now {
            switch pair.role {
            case .initiator: return begin(now, seed)
            case .responder: return ask(.due, now)
            }
        }
        return renewal(now, seed)
    }

    /// A handshake's frame in the name of this peer. Nothing proves who wrote it.
    ///
    /// - Parameter isNamed: a relay that verifies the ids of its peers has named the sender.
    ///
    /// Throws `unexpected_step`, `conflicting_step`, `unknown_suite`, `weak_point`, `forged`, `too_many_handshakes`.
    package mutating func receive(
        _ frame: HandshakeFrame, isNamed: Bool = false, now: UInt64, seed: () -> SessionSeed
    ) throws(SealError) -> [Action] {
        expire(now)
        switch (pair.role, frame) {
        case (.initiator, .request): return recover(from: .frame, now, seed)
        case (.initiator, .challenge(let nonce)): return tagged(recover(from: .frame, now, seed), nonce)
        case (.initiator, .answer(let answer)): return try finish(answer, now)
        case (.responder, .initiation(let initiation)): return try self.answer(initiation, isNamed, now, seed)
        case (.initiator, .initiation), (.responder, .request), (.responder, .challenge), (.responder, .answer):
            throw SealError(.unexpectedStep, "a handshake's step came from the wrong side")
        }
    }

    /// Opens a frame of a session. Each opens once.
    package mutating func open(_ frame: SessionFrame, now: UInt64, seed: () -> SessionSeed) -> Opening {
        expire(now)
        do throws(SealError) {
            guard let opened = try opened(frame, now) else {
                let error = SealError(.unknownSession, "a frame came in a session that does not exist here")
                return .refused(error, recover(from: .frame, now, seed))
            }
            return .opened(opened, renewal(now, seed))
        } catch {
            return .refused(error, [])
        }
    }

    /// Seals a payload in the current session, anew each time: also what is sent again.
    package mutating func seal(
        _ body: JSONObject, timestamp: EpochMilliseconds, now: UInt64, seed: () -> SessionSeed
    ) -> Sealing {
        expire(now)
        guard current != nil else { return .waiting(recover(from: .payload, now, seed)) }
        do throws(SealError) {
            let plaintext = SessionPlaintext(epoch: epoch, timestamp: timestamp, body: body)
            guard let frame = try current?.seal(plaintext, lastCounter: limits.lastCounter) else { return .waiting([]) }
            return .sealed(frame, renewal(now, seed))
        } catch {
            guard error.code == .exhausted else { return .refused(error) }
            current = nil
            return .waiting(recover(from: .payload, now, seed))
        }
    }
}

// MARK: Transitions

extension SessionStateMachine {
    /// Ends what is over. Its keys are wiped.
    private mutating func expire(_ now: UInt64) {
        if let until = draining?.until, until <= now { draining = nil }
        if let begin = current?.begin, begin + limits.lastAge <= now { current = nil }
        switch pending {
        case .none: break
        case .initiated(let handshake):
            if handshake.isOver(now, limits) {
                search?.failed(now)
                pending = .none
            }
        case .answered(let handshake): if handshake.begin + limits.pending <= now { pending = .none }
        }
    }

    /// Something shows that the peers don't share a session. The device begins a handshake, the desktop asks for one; both
    /// a few times at once and then once an interval, whatever comes.
    private mutating func recover(
        from cause: HandshakePace.Cause, _ now: UInt64, _ seed: () -> SessionSeed
    ) -> [Action] {
        guard now >= pausedUntil, causing.take(cause, now: now) else { return [] }
        switch pair.role {
        case .initiator: return sendAgain(now) ?? begin(now, seed)
        case .responder:
            // What is not being searched for is asked for again with the next payload or frame.
            guard current == nil, search != nil else { return [.send(.request)] }
            return ask(cause == .frame ? .heard : .payload, now)
        }
    }

    /// The desktop asks the device for a session that is missing.
    private mutating func ask(_ cause: SessionSearch.Cause, _ now: UInt64) -> [Action] {
        search(cause, pause: limits.repetition, now)
        return [.send(.request)]
    }

    private mutating func search(_ cause: SessionSearch.Cause, pause: UInt64, _ now: UInt64) {
        var search = search ?? SessionSearch(now, pause: pause)
        search.tried(cause, now)
        self.search = search
    }

    /// The same actions; a step 1 gets the tag that the desktop has asked for.
    private func tagged(_ actions: [Action], _ nonce: [UInt8]) -> [Action] {
        guard pair.hasPresharedKey else { return actions }
        return actions.map { action in
            guard case .send(.initiation(var initiation)) = action else { return action }
            initiation.tag = pair.tag(of: initiation, nonce)
            return .send(.initiation(initiation))
        }
    }

    /// The device replaces a session that has served its time.
    private mutating func renewal(_ now: UInt64, _ seed: () -> SessionSeed) -> [Action] {
        guard pair.role == .initiator, case .none = pending, let current,
            isSpent(current) || current.begin + limits.age <= now, renewalAt <= now
        else { return [] }
        return begin(now, seed)
    }

    private func isSpent(_ session: Session) -> Bool { session.frames >= limits.frames }

    private mutating func begin(_ now: UInt64, _ seed: () -> SessionSeed) -> [Action] {
        // Without a key there is no session, and nothing a carrier could do about it: the pair was checked when it was made.
        guard let handshake = try? InitiatedHandshake(pair, seed(), now) else { return [] }
        pending = .initiated(handshake)
        if current == nil, isRequired {
            search(search == nil ? .payload : .due, pause: limits.pending, now)
        }
        causing.begun()
        renewalAt = now + limits.interval
        return [.send(.initiation(handshake.frame))]
    }

    /// The same step 1, byte by byte. `nil` = none is under way.
    private mutating func sendAgain(_ now: UInt64) -> [Action]? {
        guard case .initiated(var handshake) = pending else { return nil }
        handshake.repeated(now)
        pending = .initiated(handshake)
        causing.begun()
        return [.send(.initiation(handshake.frame))]
    }

    private mutating func finish(_ answer: HandshakeFrame.Answer, _ now: UInt64) throws(SealError) -> [Action] {
        guard case .initiated(let handshake) = pending, handshake.frame.id == answer.id else {
            throw SealError(.unexpectedStep, "a handshake's answer came without its beginning")
        }
        let session: Session
        do throws(SealError) { session = try handshake.finish(answer, now) } catch {
            if error.code == .forged { pause(now) }
            throw error
        }
        (refusals, pausedUntil) = (0, 0)
        pending = .none
        replace(with: session, now)
        return [.greet]
    }

    /// The answer doesn't fit our keys: the next ones probably won't either.
    private mutating func pause(_ now: UInt64) {
        refusals += 1
        pausedUntil = now + min(limits.interval << min(refusals, 16), limits.longestPause)
    }

    private mutating func answer(
        _ initiation: HandshakeFrame.Initiation, _ isNamed: Bool, _ now: UInt64, _ seed: () -> SessionSeed
    ) throws(SealError) -> [Action] {
        if case .answered(let handshake) = pending, handshake.session.id == initiation.id {
            guard handshake.initiation.isSame(as: initiation) else {
                throw SealError(.conflictingStep, "a handshake began twice in different ways")
            }
            return [.send(.answer(handshake.frame))]
        }
        guard current?.id != initiation.id, draining?.session.id != initiation.id else {
            throw SealError(.unexpectedStep, "a handshake that is complete began again")
        }
        guard initiation.suites.contains(.x25519) else {
            throw SealError(.unknownSuite, "the device offers no suite that is known here")
        }
        let isTagged = challenge.map { pair.verifies(initiation, $0.nonce) } ?? false
        guard reading[isTagged ? 2 : isNamed ? 1 : 0].take(now: now) else {
            throw SealError(.tooManyHandshakes, "the peer begins too many handshakes")
        }
        // Each nonce is for one.
        if isTagged { challenge = nil }
        let handshake = try AnsweredHandshake(pair, initiation, seed().ephemeral, now)
        pending = .answered(handshake)
        return [.send(.answer(handshake.frame))]
    }

    private mutating func replace(with session: Session, _ now: UInt64) {
        if let current { draining = (current, now + limits.draining) }
        current = session
        search = nil
        causing.completed()
    }

    /// `nil` = no session of this id.
    private mutating func opened(_ frame: SessionFrame, _ now: UInt64) throws(SealError) -> Opened? {
        if current?.id == frame.id {
            let isFirst = current?.received == 0
            return try current?.open(frame, lastCounter: limits.lastCounter).opened(isFirst: isFirst)
        }
        if draining?.session.id == frame.id {
            return try draining?.session.open(frame, lastCounter: limits.lastCounter).opened(isFirst: false)
        }
        guard case .answered(let handshake) = pending, handshake.session.id == frame.id else { return nil }
        var session = handshake.session
        let plaintext = try session.open(frame, lastCounter: limits.lastCounter)
        // The device has the keys: now the handshake counts.
        pending = .none
        replace(with: session, now)
        return plaintext.opened(isFirst: true)
    }
}

extension SessionPlaintext {
    fileprivate func opened(isFirst: Bool) -> SessionStateMachine.Opened {
        SessionStateMachine.Opened(body: body, epoch: epoch, timestamp: timestamp, isFirst: isFirst)
    }
}
