package import Wire

// The relays come and go; the ack goes out over the first that has us registered.
extension DeviceScanStateMachine {
    /// We are registered there.
    package mutating func routeOnline(_ route: RouteID, now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        guard case .sending(var attempt) = state, isHeld(route), attempt.set(route, .online) else {
            return []
        }
        state = .sending(attempt)
        switch attempt.phase {
        case .seeking:
            guard let path = attempt.usable else { return [] }
            return send(attempt, over: path, now: now)
        // The first registration has won; this one is kept.
        case .pausing, .sendingAck, .awaiting: return []
        }
    }

    /// The route could not be opened, or broke. `detail` says why, for people; `isFinal` that it will not come back, as an
    /// address that is none.
    package mutating func routeFailed(
        _ route: RouteID, detail: String?, isFinal: Bool = false, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        guard case .sending(var attempt) = state, let before = attempt.status(of: route), isHeld(route)
        else { return [] }
        let failure = PairingFailure(.relayUnreachable, detail: detail)
        attempt.detail = detail ?? attempt.detail
        guard attempt.phase.carrier == route else {
            guard attempt.set(route, isFinal ? .failed : .ailing) else { return [] }
            state = .sending(attempt)
            switch attempt.phase {
            case .seeking where before != .ailing || isFinal: return seek(attempt, failure, now: now)
            case .seeking, .pausing, .sendingAck, .awaiting: return []
            }
        }
        return broken(attempt, route, failure, isFinal: isFinal, now: now)
    }

    /// Whether the ack could be written.
    package mutating func ackSent(
        _ isWritten: Bool, over route: RouteID, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        guard case .sending(var attempt) = state, attempt.phase == .sendingAck(route) else { return [] }
        guard isWritten else { return broken(attempt, route, PairingFailure(.relayUnreachable), now: now) }
        attempt.phase = .awaiting(route)
        state = .sending(attempt)
        return [.startTimer(after: attempt.bond == nil ? Self.answerTime : Self.repeatTime)]
    }

    /// The relay says that this peer is not there.
    package mutating func peerOffline(
        _ peer: PeerID, over route: RouteID, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        guard case .sending(var attempt) = state, attempt.offer.pcPeerID == peer, attempt.phase.carrier == route else {
            return []
        }
        attempt.wasOffline = true
        return bounced(attempt, route, PairingFailure(.desktopOffline), now: now)
    }

    /// The relay has refused something; the ack, as far as we can tell.
    package mutating func relayRefused(
        over route: RouteID, detail: String?, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        guard case .sending(let attempt) = state, attempt.phase.carrier == route else { return [] }
        return bounced(attempt, route, PairingFailure(.relayUnreachable, detail: detail), now: now)
    }

    /// The time of the last `startTimer` is over.
    package mutating func timedOut(now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        guard case .sending(var attempt) = state else { return [] }
        let failure = PairingFailure.unreached(attempt.detail)
        switch attempt.phase {
        case .seeking:
            guard attempt.paths.contains(where: { $0.status == .later }) else { return giveUp(attempt, failure) }
            return openNext(attempt)
        case .pausing:
            for index in attempt.paths.indices { attempt.paths[index].hasBounced = false }
            attempt.phase = .seeking(isLastCall: true)
            guard let path = attempt.usable else {
                state = .sending(attempt)
                return [.startTimer(after: Self.lastCallTime)]
            }
            return send(attempt, over: path, now: now)
        case .sendingAck: return giveUp(attempt, failure)
        case .awaiting(let route):
            guard attempt.bond != nil else {
                // One relay has said that it is absent; that another one says nothing is no answer.
                guard !attempt.wasOffline else { return giveUp(attempt, failure) }
                return succeed(attempt, isConfirmed: false, now: now)
            }
            guard attempt.waitsLeft > 1 else { return end(PairingFailure(.timeout)) }
            attempt.waitsLeft -= 1
            return send(attempt, over: route, now: now)
        }
    }
}

// MARK: The desktop

extension DeviceScanStateMachine {
    /// Something of a peer came: any payload and any routed frame, over any route.
    package mutating func received(_ frame: PairingFrame, now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        guard case .sending(let attempt) = state, frame.from == attempt.offer.pcPeerID, attempt.lastCarrier != nil
        else { return [] }
        guard attempt.bond != nil else { return receivedPlain(frame, attempt, now: now) }
        guard
            frame.type == PairingConfirmation.type || frame.type == PairingReject.type
                || frame.type == PairingChallenge.type
        else { return [] }
        guard frame.isSealed else {
            dropped.notSecure &+= 1
            return []
        }
        guard !frame.isStale || frame.type != PairingReject.type else {
            dropped.stale &+= 1
            return []
        }
        guard frame.type != PairingChallenge.type else { return challenged(frame, attempt, now: now) }
        let (code, start) = (attempt.offer.code, attempt.offer.timestamp)
        guard frame.type == PairingConfirmation.type else {
            guard let failure = dropped.failure(in: frame, code: code, since: start) else { return [] }
            return end(failure)
        }
        guard let confirmation = dropped.confirmation(of: frame, code: code, since: start) else { return [] }
        guard attempt.isProved(by: confirmation) else {
            dropped.wrongProof &+= 1
            return []
        }
        guard dropped.names(confirmation, senderOf: frame) else { return [] }
        return succeed(attempt, now: now)
    }

    /// The desktop has sent its random bytes: the next ack reveals ours. A challenge that is repeated gets it again.
    private mutating func challenged(
        _ frame: PairingFrame, _ attempt: DeviceScanAttempt, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        let (code, start) = (attempt.offer.code, attempt.offer.timestamp)
        guard let challenge = dropped.challenge(of: frame, code: code, since: start) else { return [] }
        var attempt = attempt
        guard attempt.take(challenge) else {
            dropped.wrongProof &+= 1
            return []
        }
        state = .sending(attempt)
        // While the ack has no route, the next one that comes up gets the new ack.
        guard let route = attempt.phase.carrier else { return [] }
        return send(attempt, over: route, now: now)
    }

    /// A deployed desktop: whatever it says live after the ack says that the ack has come.
    private mutating func receivedPlain(
        _ frame: PairingFrame, _ attempt: DeviceScanAttempt, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        guard attempt.phase.carrier != nil, frame.delivery == .live else { return [] }
        guard !frame.isStale else {
            dropped.stale &+= 1
            return []
        }
        guard frame.type != PairingReject.type else { return end(PairingFailure(.rejected)) }
        return succeed(attempt, now: now)
    }
}

// MARK: What comes next

extension DeviceScanStateMachine {
    /// Asks for the next path; the one after it has to wait for its turn.
    mutating func openNext(_ attempt: DeviceScanAttempt) -> [PairingStep<PairedDesktop>] {
        var attempt = attempt
        guard let next = attempt.paths.firstIndex(where: { $0.status == .later }) else {
            preconditionFailure("no more routes to try")
        }
        attempt.paths[next].status = .opening
        attempt.phase = .seeking(isLastCall: false)
        state = .sending(attempt)
        let isLast = !attempt.paths.contains { $0.status == .later }
        return [
            .startTimer(after: isLast ? Self.seekTime : Self.headStart), .open(attempt.paths[next].route),
        ]
    }

    private mutating func send(
        _ attempt: DeviceScanAttempt, over route: RouteID, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        guard !attempt.offer.isExpired(at: now) else { return end(PairingFailure(.expired)) }
        var attempt = attempt
        attempt.phase = .sendingAck(route)
        attempt.lastCarrier = attempt.paths.first { $0.route.id == route }?.route
        state = .sending(attempt)
        let ack = attempt.ack(at: now)
        return [
            .startTimer(after: Self.writeTime),
            .send(.ack(ack), to: attempt.offer.pcPeerID, sealed: attempt.bond != nil, .over(route)),
        ]
    }

    /// The route broke under the ack, which is sent again: a desktop treats a second ack as the first (WirePairing,
    /// "The device scans").
    private mutating func broken(
        _ attempt: DeviceScanAttempt, _ route: RouteID, _ failure: PairingFailure, isFinal: Bool = false,
        now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        var attempt = attempt
        let comesBack = !isFinal && attempt.breaksLeft > 0
        attempt.breaksLeft -= comesBack ? 1 : 0
        guard attempt.set(route, comesBack ? .opening : .failed) else { return [] }
        if !comesBack && !isFinal {
            // It is held until it is given back.
            attempt.phase = .seeking(isLastCall: false)
            state = .sending(attempt)
            let next = seek(attempt, failure, now: now)
            return [.close(route)] + next
        }
        return seek(attempt, failure, reopening: comesBack ? route : nil, now: now)
    }

    /// The ack was returned: the desktop may be at the next relay (WirePairing, "The device scans").
    private mutating func bounced(
        _ attempt: DeviceScanAttempt, _ route: RouteID, _ failure: PairingFailure, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        var attempt = attempt
        attempt.bounce(route)
        return seek(attempt, failure, now: now)
    }

    /// No ack is out: sends it where it can go, else waits for where it could go, else the scan has failed.
    private mutating func seek(
        _ attempt: DeviceScanAttempt, _ failure: PairingFailure, reopening broken: RouteID? = nil,
        now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        var attempt = attempt
        if let route = attempt.usable { return send(attempt, over: route, now: now) }
        if attempt.paths.contains(where: { $0.status == .later }) { return openNext(attempt) }
        let wasSeeking: Bool
        let isLastCall: Bool
        switch attempt.phase {
        case .seeking(let isLast): (wasSeeking, isLastCall) = (true, isLast)
        case .pausing, .sendingAck, .awaiting: (wasSeeking, isLastCall) = (false, false)
        }
        if attempt.paths.contains(where: { $0.status == .opening && !$0.hasBounced }) {
            attempt.phase = .seeking(isLastCall: isLastCall)
            state = .sending(attempt)
            if let broken = attempt.paths.first(where: { $0.route.id == broken }) {
                return [.startTimer(after: Self.seekTime), .open(broken.route)]
            }
            return wasSeeking ? [] : [.startTimer(after: Self.seekTime)]
        }
        if attempt.paths.contains(where: { $0.status == .ailing && !$0.hasBounced }) {
            attempt.phase = .seeking(isLastCall: true)
            state = .sending(attempt)
            return isLastCall ? [] : [.startTimer(after: Self.lastCallTime)]
        }
        guard attempt.retriesLeft > 0, attempt.paths.contains(where: \.hasBounced) else {
            return giveUp(attempt, failure)
        }
        attempt.retriesLeft -= 1
        attempt.phase = .pausing
        state = .sending(attempt)
        return [.startTimer(after: Self.pauseTime)]
    }

    private mutating func giveUp(_ attempt: DeviceScanAttempt, _ failure: PairingFailure) -> [PairingStep<
        PairedDesktop
    >] {
        state = .sending(attempt)
        return end(attempt.wasOffline ? PairingFailure(.desktopOffline) : failure)
    }

    private mutating func succeed(
        _ attempt: DeviceScanAttempt, isConfirmed: Bool = true, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        let desktop = attempt.desktop(at: now, isConfirmed: isConfirmed)
        state = .storing(desktop, attempt)
        return [.stopTimer, .store(desktop)]
    }
}

extension DeviceScanAttempt {
    /// Where the ack can go now: in the order of preference.
    var usable: RouteID? { paths.first { $0.status == .online && !$0.hasBounced }?.route.id }
}
