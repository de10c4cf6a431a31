package import Identity
package import Wire

/// A typed code on the device (WirePairing, "Typed codes").
///
/// Pure: `now` is the wall clock in epoch milliseconds, timers are requested by actions. Every code ends: the relay has
/// 15 s, the desktop a minute. A newer code replaces the one before.
///
/// With twelve digits the two sides agree on a key by CPace, over the desktop's alias, and then pair sealed; of plain
/// frames only the steps count. With six, and only if the host allows it, the plain ack goes to the alias; then the
/// desktop's ICE servers are the only sign that it arrived.
package struct DeviceTypedCodeStateMachine: Sendable {
    /// What the relay has until we are registered, in milliseconds, like all of these.
    package static let connectTime: UInt64 = 15_000
    /// What the desktop has once it was written to.
    package static let waitTime: UInt64 = 60_000
    /// So often what was sent last is repeated in that time; it changes nothing where it had come.
    package static let repeatTime: UInt64 = 3_000

    indirect enum State: Sendable {
        case entering
        case trying(DeviceTypedCodeAttempt)
        /// The process sleeps; nothing is open.
        case suspended(DeviceTypedCodeAttempt, since: EpochMilliseconds)
        case storing(PairedDesktop, DeviceTypedCodeAttempt)
        case success(PairedDesktop)
        case failed(PairingFailure)
    }

    private(set) var state: State = .entering
    package private(set) var dropped = DroppedFrames()

    package init() {}

    package var reported: DeviceTypedCodeState {
        switch state {
        case .entering: .entering
        case .trying(let attempt), .suspended(let attempt, _), .storing(_, let attempt): attempt.reported
        case .success(let desktop): .success(desktop)
        case .failed(let failure): .failed(failure)
        }
    }

    /// Of the sessions with the desktop that is being stored (``PairingBond/presharedKey``).
    package var presharedKey: PresharedKey? {
        guard case .storing(_, let attempt) = state, case .ack(let bond) = attempt.stage else { return nil }
        return bond.presharedKey
    }

    /// Is a code under way?
    package var isActive: Bool {
        switch state {
        case .trying, .suspended, .storing: true
        case .entering, .success, .failed: false
        }
    }

    /// The connection that the code needs at present. After a success it is the desktop's.
    package var heldRoute: PairingRoute? {
        switch state {
        case .trying(let attempt), .storing(_, let attempt): attempt.route
        case .entering, .suspended, .success, .failed: nil
        }
    }
}

// MARK: The host

extension DeviceTypedCodeStateMachine {
    /// A code was typed.
    ///
    /// `route` is the host's own relay, else the one that worked last, else one that was found; `nil` = there is none. The
    /// code that is under way already is joined.
    ///
    /// - Parameters:
    ///   - versions: what this side offers; `nil` = nothing, like a peer without sessions.
    ///   - generator: `SecureRandomNumberGenerator`; another one only in tests.
    package mutating func submit(
        _ text: String, identity: PairingIdentity?, over route: PairingRoute?, legacy: LegacyPairing = .qr,
        versions: SealVersions? = .own,
        using generator: inout some RandomNumberGenerator
    ) -> [PairingStep<PairedDesktop>] {
        let code: PairingTypedCode
        do throws(PairingFailure) { code = try PairingTypedCode(parsing: text) } catch { return end(error) }
        switch state {
        case .trying(let attempt) where attempt.code == code: return []
        case .suspended(let attempt, _) where attempt.code == code: return []
        case .storing(_, let attempt) where attempt.code == code: return []
        case .entering, .trying, .suspended, .storing, .success, .failed: break
        }
        guard let identity else { return end(PairingFailure(.noIdentity)) }
        let stage: DeviceTypedCodeAttempt.Stage
        switch code {
        case .plain:
            guard legacy.allowsTypedCode else { return end(PairingFailure(.notSecure)) }
            stage = .plain
        case .sealed(_, let password):
            guard identity.did.isKey,
                let run = try? CPaceInitiator(
                    password: password.digits, alias: code.alias.text, deviceID: identity.did.text,
                    mark: versions == nil ? [] : OfferedVersions.sessionMark, using: &generator)
            else { return end(PairingFailure(.noIdentity)) }
            stage = .share(run)
        }
        guard let route else { return end(PairingFailure(.noRelay)) }
        let released = release()
        let isPlain = code == .plain(code.nameplate)
        let attempt = DeviceTypedCodeAttempt(
            code: code, identity: identity, route: route, versions: versions, stage: stage,
            waitsLeft: isPlain ? 1 : Int(Self.waitTime / Self.repeatTime), breaksLeft: isPlain ? 2 : 8)
        state = .trying(attempt)
        return released + [.report(.deviceCode(.submitting(code))), .startTimer(after: Self.connectTime), .open(route)]
    }

    /// Ends the code that is under way; `.timeout` where the host's time has run out. Too late once the desktop is being
    /// stored.
    package mutating func cancel(_ reason: PairingReason = .cancelled) -> [PairingStep<PairedDesktop>] {
        switch state {
        case .trying(let attempt) where reason == .timeout && !attempt.isOnline: end(.unreached(attempt.detail))
        case .trying, .suspended: end(PairingFailure(reason))
        case .entering, .storing, .success, .failed: []
        }
    }

    /// The process goes to sleep: the connection is given back.
    package mutating func suspended(now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        guard case .trying(var attempt) = state else { return [] }
        let released = release()
        attempt.isOnline = false
        state = .suspended(attempt, since: now)
        return released
    }

    /// It is back: what was sent last is sent again, if the desktop can still be showing its code.
    package mutating func resumed(now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        guard case .suspended(let attempt, let since) = state else { return [] }
        guard now < since.later(by: DesktopPairingOffer.lifetime) else { return end(PairingFailure(.expired)) }
        state = .trying(attempt)
        return [.startTimer(after: Self.connectTime), .open(attempt.route)]
    }
}

// MARK: The route

extension DeviceTypedCodeStateMachine {
    /// We are registered there.
    package mutating func routeOnline(_ route: RouteID, now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        guard case .trying(var attempt) = state, attempt.route.id == route, !attempt.isOnline else { return [] }
        attempt.isOnline = true
        return send(attempt, now: now)
    }

    /// The route could not be opened, or broke: its connection comes back by itself, unless `isFinal`, as an address that is
    /// none. `detail` says why, for people.
    package mutating func routeFailed(
        _ route: RouteID, detail: String?, isFinal: Bool = false
    ) -> [PairingStep<PairedDesktop>] {
        guard case .trying(var attempt) = state, attempt.route.id == route else { return [] }
        let wasOnline = attempt.isOnline
        guard !isFinal, !wasOnline || attempt.breaksLeft > 0 else {
            return end(PairingFailure(.relayUnreachable, detail: detail))
        }
        attempt.breaksLeft -= wasOnline ? 1 : 0
        attempt.isOnline = false
        attempt.detail = detail
        state = .trying(attempt)
        return wasOnline ? [.startTimer(after: Self.connectTime), .open(attempt.route)] : []
    }

    /// The relay says that this peer is not there.
    package mutating func peerOffline(_ peer: PeerID, over route: RouteID) -> [PairingStep<PairedDesktop>] {
        guard case .trying(var attempt) = state, attempt.route.id == route, attempt.hasSent, attempt.target == peer
        else { return [] }
        switch attempt.stage {
        // No such alias: typed codes are not offered there, or the code is a wrong one.
        case .plain, .share: return end(PairingFailure(.typedCodeUnavailable))
        case .confirm, .ack:
            guard attempt.absencesLeft > 0 else { return end(PairingFailure(.desktopOffline)) }
            attempt.absencesLeft -= 1
            state = .trying(attempt)
            return []
        }
    }

    /// The relay has refused something; what we sent, as far as we can tell.
    package mutating func relayRefused(over route: RouteID, detail: String?) -> [PairingStep<PairedDesktop>] {
        guard case .trying(let attempt) = state, attempt.route.id == route, attempt.hasSent else { return [] }
        return end(PairingFailure(.relayUnreachable, detail: detail))
    }

    /// The time of the last `startTimer` is over.
    package mutating func timedOut(now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        guard case .trying(var attempt) = state else { return [] }
        guard attempt.isOnline else {
            return end(.unreached(attempt.detail))
        }
        attempt.waitsLeft -= 1
        guard attempt.waitsLeft > 0 else { return end(PairingFailure(.timeout)) }
        return send(attempt, now: now)
    }

    private mutating func send(
        _ attempt: DeviceTypedCodeAttempt, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        var attempt = attempt
        let isFirst = !attempt.hasSent
        attempt.hasSent = true
        state = .trying(attempt)
        let wait: UInt64
        if case .plain = attempt.stage { wait = Self.waitTime } else { wait = Self.repeatTime }
        return (isFirst ? [.report(.deviceCode(.waiting(attempt.code)))] : []) + [
            .startTimer(after: wait), attempt.frame(at: now),
        ]
    }
}

// MARK: The desktop

extension DeviceTypedCodeStateMachine {
    /// Something of a peer came: any payload and any routed frame.
    package mutating func received(_ frame: PairingFrame, now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        guard case .trying(let attempt) = state, attempt.hasSent else { return [] }
        switch attempt.stage {
        case .plain: return receivedPlain(frame, attempt, now: now)
        case .share, .confirm: return receivedStep(frame, attempt, now: now)
        case .ack(let bond): return receivedSealed(frame, attempt, bond, now: now)
        }
    }

    /// Whichever desktop has taken the ack says so with its ICE servers; its relay says which one that is.
    private mutating func receivedPlain(
        _ frame: PairingFrame, _ attempt: DeviceTypedCodeAttempt, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        guard frame.type == ICEConfig.type || frame.type == PairingReject.type else { return [] }
        guard frame.delivery == .live else {
            dropped.stored &+= 1
            return []
        }
        guard !frame.isSealed, !frame.isOfSecurePeer else {
            dropped.wrongSender &+= 1
            return []
        }
        if frame.type == PairingReject.type {
            guard let failure = dropped.failure(in: frame, code: attempt.code.nameplate, since: now) else { return [] }
            return end(failure)
        }
        guard frame.from.isShowable, let config = try? ICEConfig(payload: frame.inner) else {
            dropped.malformed &+= 1
            return []
        }
        var desktop = PairedDesktop(
            address: frame.from, pcPeerID: config.pcPeerID ?? frame.from, name: "", platform: "",
            reachedOver: attempt.route, isSecure: false, shortString: nil, at: now)
        desktop.iceServersJSON = config.iceServersJSON
        desktop.iceExpiry = config.iceExpiry
        return store(desktop, attempt)
    }

    /// The alias answers, on the live connection: the steps of CPace, or that the code is a wrong one.
    private mutating func receivedStep(
        _ frame: PairingFrame, _ attempt: DeviceTypedCodeAttempt, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        guard frame.from == attempt.code.alias else { return [] }
        guard frame.delivery == .live else {
            dropped.stored &+= 1
            return []
        }
        if frame.type == PairingReject.type {
            guard dropped.isReject(frame, code: attempt.code.nameplate, since: now) else { return [] }
            return end(PairingFailure(.typedCodeUnavailable))
        }
        guard frame.type == PairingExchange.type, let exchange = try? PairingExchange(payload: frame.inner) else {
            dropped.malformed &+= 1
            return []
        }
        var next = attempt
        switch (attempt.stage, exchange.step) {
        case (.share(let run), .desktopShare(let did, let share)) where exchange.sid == run.sid:
            guard did.isKey, let key = try? run.finish(desktopID: did.text, share: share) else {
                dropped.malformed &+= 1
                return []
            }
            next.stage = .confirm(key, sid: run.sid, desktop: did)
            next.desktopVersions = exchange.versions
        case (.confirm(let key, let sid, let desktop), .desktopConfirm(let confirm)) where exchange.sid == sid:
            guard key.verifies(confirm, of: .desktop),
                let bond = PairingBond(
                    secret: key.pairingSecret, device: attempt.identity.did, desktop: desktop,
                    code: attempt.code.nameplate)?
                    .offering(OfferedVersions(code: attempt.desktopVersions, answer: attempt.versions))
            else {
                dropped.wrongProof &+= 1
                return []
            }
            next.stage = .ack(bond)
        // A step that was repeated, or one of another run.
        case (.plain, _), (.share, _), (.confirm, _), (.ack, _): return []
        }
        guard attempt.isOnline else {
            state = .trying(next)
            return []
        }
        return send(next, now: now)
    }

    private mutating func receivedSealed(
        _ frame: PairingFrame, _ attempt: DeviceTypedCodeAttempt, _ bond: PairingBond, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        guard frame.from == bond.desktop, frame.type == PairingConfirmation.type || frame.type == PairingReject.type
        else { return [] }
        guard frame.isSealed else {
            dropped.notSecure &+= 1
            return []
        }
        guard !frame.isStale || frame.type != PairingReject.type else {
            dropped.stale &+= 1
            return []
        }
        // Nobody could prove anything before this run: what was kept by a relay is as good as what is live.
        guard frame.type == PairingConfirmation.type else {
            guard let failure = dropped.failure(in: frame, code: bond.code, since: .min) else { return [] }
            return end(failure)
        }
        guard let confirmation = dropped.confirmation(of: frame, code: bond.code, since: .min) else { return [] }
        guard bond.proves(confirmation) else {
            dropped.wrongProof &+= 1
            return []
        }
        guard dropped.names(confirmation, senderOf: frame) else { return [] }
        let desktop = PairedDesktop(
            confirmation, from: frame.from, over: attempt.route, isSecure: true, shortString: bond.shortString, at: now)
        return store(desktop, attempt)
    }
}

// MARK: The store

extension DeviceTypedCodeStateMachine {
    /// The desktop is in the store, as given.
    package mutating func stored(_ desktop: PairedDesktop) -> [PairingStep<PairedDesktop>] {
        guard case .storing(let storing, _) = state, storing.id == desktop.id else { return [] }
        state = .success(desktop)
        return [.report(.deviceCode(.success(desktop)))]
    }

    package mutating func storeFailed(_ id: PeerID, detail: String?) -> [PairingStep<PairedDesktop>] {
        guard case .storing(let storing, _) = state, storing.id == id else { return [] }
        return end(PairingFailure(.storeFailed, detail: detail))
    }

    private mutating func store(
        _ desktop: PairedDesktop, _ attempt: DeviceTypedCodeAttempt
    ) -> [PairingStep<PairedDesktop>] {
        state = .storing(desktop, attempt)
        return [.stopTimer, .store(desktop)]
    }

    /// What the code holds, if anything, is not needed by it any more.
    private func release() -> [PairingStep<PairedDesktop>] {
        switch state {
        case .trying(let attempt): [.stopTimer, .close(attempt.route.id)]
        case .storing(_, let attempt): [.close(attempt.route.id)]
        case .entering, .suspended, .success, .failed: []
        }
    }

    private mutating func end(_ failure: PairingFailure) -> [PairingStep<PairedDesktop>] {
        let released = release()
        state = .failed(failure)
        return released + [.report(.deviceCode(.failed(failure)))]
    }
}
