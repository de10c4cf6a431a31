package import Identity
package import Wire

/// The desktop scans, on the device: it shows a code and waits for the desktop (WirePairing, "The desktop scans").
///
/// Pure: `now` is the wall clock in epoch milliseconds, timers are requested by actions. Every code ends: after five
/// minutes by itself. A newer one replaces the one before. The code is shown once a relay has the device registered. A
/// wrong confirmation is never answered, only counted, so a guesser learns nothing.
///
/// The code carries a secret, and a desktop that knows it confirms sealed: that pairs at once. A plain confirmation, as
/// deployed desktops send it, counts if the host allows such peers, and until ten of them had a wrong code. Its sender
/// may know only the six digits, so a person is asked; declining it ends nothing, and a sealed one takes its place.
package struct DeviceShowStateMachine: Sendable {
    /// What a person has to accept a desktop, in milliseconds.
    package static let confirmationTime: UInt64 = 30_000
    /// What the relay has until we are registered, in milliseconds.
    package static let connectTime: UInt64 = 15_000

    indirect enum State: Sendable, Equatable {
        case idle
        /// `detail` says what the relay's last failure was.
        case connecting(Show, detail: String?)
        case displaying(Shown)
        /// A person is asked.
        case confirming(PairedDesktop, Shown, until: EpochMilliseconds)
        /// The process sleeps; nothing is open. `nil` where the code was not yet shown.
        case suspended(Show, Shown?)
        case storing(PairedDesktop, Greeting?, Shown)
        case completed(PairedDesktop, Shown)
        case expired
        case failed(PairingFailure)
    }

    /// What answers a sealed confirmation.
    struct Greeting: Sendable, Equatable {
        /// `nil` for a desktop that knows of no revision.
        let proof: PairingHello.Proof?
        /// `nil` for such a desktop too, if our code commits to random bytes: whoever has its secret can claim to be one,
        /// and could search for a key with the same digits.
        let shortString: ShortAuthenticationString?
        let bond: PairingBond
    }

    /// What a sealed confirmation proves.
    private enum Proof {
        case valid(Greeting)
        /// Its sender knows the secret and offers versions of the seal, but has not seen those of the code.
        case downgraded
        case wrong
    }

    struct Show: Sendable, Equatable {
        let code: PairingCode
        let secret: PairingSecret
        /// What the code commits to; `nil` = it is of no revision.
        let random: PairingRandom?
        /// What the code offers; `nil` = nothing, like a peer without sessions.
        let versions: SealVersions?
        let identity: PairingIdentity
        let route: PairingRoute
        let legacy: LegacyPairing
    }

    struct Shown: Sendable, Equatable {
        let show: Show
        let offer: DevicePairingOffer
        var guesses = PlainGuesses()
        /// Whose plain confirmation was not accepted.
        var refused = RefusedSenders()

        var expiresAt: EpochMilliseconds { offer.timestamp.later(by: DevicePairingOffer.lifetime) }
    }

    private(set) var state: State = .idle
    package private(set) var dropped = DroppedFrames()

    package init() {}

    package var reported: DeviceShowState {
        switch state {
        case .idle: .idle
        case .connecting, .suspended(_, nil): .connecting
        case .displaying(let shown), .suspended(_, let shown?), .storing(_, _, let shown):
            .displaying(shown.offer, expiresAt: shown.expiresAt)
        case .confirming(let desktop, _, let until): .confirming(desktop, answerBy: until)
        case .completed(let desktop, _): .completed(desktop)
        case .expired: .expired
        case .failed(let failure): .failed(failure)
        }
    }

    /// Of the sessions with the desktop that is being stored (``PairingBond/presharedKey``).
    package var presharedKey: PresharedKey? {
        guard case .storing(_, let greeting, _) = state else { return nil }
        return greeting?.bond.presharedKey
    }

    /// Can the code still lead to a pairing?
    package var isActive: Bool {
        switch state {
        case .connecting, .displaying, .confirming, .suspended, .storing: true
        case .idle, .completed, .expired, .failed: false
        }
    }

    /// The connection that the code needs at present. After a success it is the desktop's.
    package var heldRoute: PairingRoute? {
        switch state {
        case .connecting(let show, _): show.route
        case .displaying(let shown), .confirming(_, let shown, _), .storing(_, _, let shown): shown.show.route
        case .idle, .suspended, .completed, .expired, .failed: nil
        }
    }
}

// MARK: The host

extension DeviceShowStateMachine {
    /// Shows a code, as soon as the relay has us registered; the five minutes begin then.
    ///
    /// `route` is the host's own relay, else the one that worked last, else one that was found; `nil` = there is none.
    ///
    /// - Parameters:
    ///   - random: new random bytes; `nil` = a code without `rev`, which commits to nothing and offers no versions of
    ///     the seal.
    ///   - versions: what the code offers; `nil` = nothing, like a peer without sessions.
    package mutating func show(
        _ code: PairingCode, secret: PairingSecret, random: PairingRandom?, versions: SealVersions? = .own,
        identity: PairingIdentity?, over route: PairingRoute?, legacy: LegacyPairing = .qr
    ) -> [PairingStep<PairedDesktop>] {
        guard let identity else { return end(.failed(PairingFailure(.noIdentity))) }
        guard let route else { return end(.failed(PairingFailure(.noRelay))) }
        let released = release()
        let show = Show(
            code: code, secret: secret, random: random, versions: random == nil ? nil : versions, identity: identity,
            route: route, legacy: legacy)
        state = .connecting(show, detail: nil)
        return released + [.report(.deviceShow(.connecting)), .startTimer(after: Self.connectTime), .open(route)]
    }

    /// Takes the code back; `.timeout` where the host's time has run out. Too late once the desktop is being stored.
    package mutating func cancel(_ reason: PairingReason = .cancelled) -> [PairingStep<PairedDesktop>] {
        switch state {
        case .connecting(_, let detail) where reason == .timeout: end(.failed(.unreached(detail)))
        case .connecting, .displaying, .confirming, .suspended: end(.failed(PairingFailure(reason)))
        case .idle, .storing, .completed, .expired, .failed: []
        }
    }

    /// The person's answer to the desktop that was reported as `confirming`. A no leaves the code displayed, as it was.
    package mutating func answer(accept: Bool, now: EpochMilliseconds) -> PairingAnswer<PairedDesktop> {
        guard case .confirming(let desktop, let shown, _) = state else { return .nothingWaits }
        guard accept else { return .taken(refuse(desktop, shown, now: now)) }
        state = .storing(desktop, nil, shown)
        return .taken([.stopTimer, .store(desktop)])
    }

    /// The time of the last `startTimer` is over.
    package mutating func timedOut(now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        switch state {
        case .connecting(_, let detail):
            end(.failed(.unreached(detail)))
        case .displaying: end(.expired)
        case .confirming(let desktop, let shown, _): refuse(desktop, shown, now: now)
        case .idle, .suspended, .storing, .completed, .expired, .failed: []
        }
    }

    /// Nobody has accepted the desktop: it is not asked about again, and the code stays open for the one that saw it.
    private mutating func refuse(
        _ desktop: PairedDesktop, _ shown: Shown, now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        guard !shown.offer.isExpired(at: now) else { return end(.expired) }
        var shown = shown
        shown.refused.add(desktop.address)
        state = .displaying(shown)
        return [
            .startTimer(after: Self.remaining(of: shown, at: now)),
            .report(.deviceShow(.displaying(shown.offer, expiresAt: shown.expiresAt))),
        ]
    }

    /// The desktop was unpaired: its confirmation, sent again, is not answered any more.
    package mutating func removed(_ id: PeerID) {
        guard case .completed(let desktop, _) = state, desktop.id == id else { return }
        state = .idle
    }

    /// The process goes to sleep: the connection is given back.
    package mutating func suspended() -> [PairingStep<PairedDesktop>] {
        switch state {
        case .connecting(let show, _):
            let released = release()
            state = .suspended(show, nil)
            return released
        case .displaying(let shown):
            let released = release()
            state = .suspended(shown.show, shown)
            return released
        // Whoever was asked about may confirm again.
        case .confirming(_, let shown, _):
            let released = release()
            state = .suspended(shown.show, shown)
            return released + [.report(.deviceShow(reported))]
        case .idle, .suspended, .storing, .completed, .expired, .failed: return []
        }
    }

    /// It is back: the code keeps the time at which it ends.
    package mutating func resumed(now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        guard case .suspended(let show, let shown) = state else { return [] }
        guard let shown else {
            state = .connecting(show, detail: nil)
            return [.startTimer(after: Self.connectTime), .open(show.route)]
        }
        guard !shown.offer.isExpired(at: now) else { return end(.expired) }
        state = .displaying(shown)
        return [.startTimer(after: Self.remaining(of: shown, at: now)), .open(show.route)]
    }

    private static func remaining(of shown: Shown, at now: EpochMilliseconds) -> UInt64 {
        now.remaining(until: shown.expiresAt, of: DevicePairingOffer.lifetime)
    }
}

// MARK: The wire

extension DeviceShowStateMachine {
    /// We are registered there.
    package mutating func routeOnline(_ route: RouteID, now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        guard case .connecting(let show, _) = state, show.route.id == route else { return [] }
        let offer = DevicePairingOffer(
            code: show.code, did: show.identity.did, deviceInfo: show.identity.deviceInfo, timestamp: now,
            seal: PairingSeal(
                secret: show.secret.base64url, commitment: show.random?.commitment, versions: show.versions))
        let shown = Shown(show: show, offer: offer)
        state = .displaying(shown)
        return [
            .startTimer(after: UInt64(DevicePairingOffer.lifetime)),
            .report(.deviceShow(.displaying(offer, expiresAt: shown.expiresAt))),
        ]
    }

    /// The route could not be opened, or broke: its connection comes back by itself, unless `isFinal`, as an address that is
    /// none. `detail` says why, for people.
    package mutating func routeFailed(
        _ route: RouteID, detail: String?, isFinal: Bool = false
    ) -> [PairingStep<PairedDesktop>] {
        switch state {
        case .connecting(let show, _) where show.route.id == route:
            guard !isFinal else { return end(.failed(PairingFailure(.relayUnreachable, detail: detail))) }
            state = .connecting(show, detail: detail)
            return []
        // The code stays valid: the relay may be back before it ends.
        case .idle, .connecting, .displaying, .confirming, .suspended, .storing, .completed, .expired, .failed:
            return []
        }
    }

    /// A confirmation or a rejection came: inside a `message`, or as a frame of its own.
    ///
    /// A second confirmation of the desktop that has taken the code gets its hello again: the first may have been lost. If
    /// it has other random bytes, the desktop is stored again, with the new digits.
    package mutating func received(_ frame: PairingFrame, now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        guard frame.type == PairingConfirmation.type || frame.type == PairingReject.type else { return [] }
        let wrongBefore = dropped.wrongCode
        defer { if !frame.isSealed, dropped.wrongCode != wrongBefore { noteGuess() } }
        let shown: Shown
        let taker: PeerID?
        switch state {
        case .displaying(let open): (shown, taker) = (open, nil)
        // Who has seen the code goes before who only knows its six digits.
        case .confirming(let desktop, let open, _): (shown, taker) = (open, frame.isSealed ? nil : desktop.address)
        case .storing(let desktop, _, let open), .completed(let desktop, let open):
            (shown, taker) = (open, desktop.address)
        case .idle, .connecting, .suspended, .expired, .failed:
            dropped.notOpen &+= 1
            return []
        }
        guard !frame.isStale || (taker == nil && frame.type == PairingConfirmation.type) else {
            dropped.stale &+= 1
            return []
        }
        guard
            frame.isSealed
                || (shown.show.legacy.allowsQR && !frame.isOfSecurePeer && shown.guesses.areLeft)
        else {
            dropped.notSecure &+= 1
            return []
        }
        // A relay may write anything there, and it is shown.
        guard frame.from.isShowable else {
            dropped.malformed &+= 1
            return []
        }
        let start = shown.offer.timestamp
        guard frame.type != PairingReject.type else {
            guard dropped.isReject(frame, code: shown.show.code, since: start), taker == nil else { return [] }
            return end(.failed(PairingFailure(.rejected)))
        }
        guard let confirmation = dropped.confirmation(of: frame, code: shown.show.code, since: start) else {
            return []
        }
        var greeting: Greeting?
        if frame.isSealed {
            switch Self.proof(in: confirmation, from: frame.from, shown, now: now) {
            case .valid(let valid): greeting = valid
            case .downgraded:
                dropped.downgraded &+= 1
                return taker == nil
                    ? end(.failed(PairingFailure(.notSecure, detail: PairingFailure.changedOffer))) : []
            case .wrong:
                dropped.wrongProof &+= 1
                return []
            }
            guard dropped.names(confirmation, senderOf: frame) else { return [] }
        }
        if let taker {
            guard taker == frame.from else {
                dropped.notOpen &+= 1
                return []
            }
            guard case .completed(let paired, _) = state, let greeting else { return [] }
            guard greeting.proof == nil || greeting.shortString == paired.shortString else {
                return repair(confirmation, frame, greeting, shown, now: now)
            }
            return [.sendHello(to: taker, over: shown.show.route.id, proof: greeting.proof)]
        }
        // The timer may be late: a machine that slept.
        guard !shown.offer.isExpired(at: now) else {
            dropped.notOpen &+= 1
            return end(.expired)
        }
        let desktop = PairedDesktop(
            confirmation, from: frame.from, over: shown.show.route, isSecure: greeting != nil,
            shortString: greeting?.shortString, at: now)
        guard greeting != nil else { return ask(about: desktop, shown, now: now) }
        state = .storing(desktop, greeting, shown)
        return [.stopTimer, .store(desktop)]
    }

    /// The desktop that has taken the code has scanned it anew, for example after a crash: the digits are others now.
    private mutating func repair(
        _ confirmation: PairingConfirmation, _ frame: PairingFrame, _ greeting: Greeting, _ shown: Shown,
        now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        guard !shown.offer.isExpired(at: now) else { return [] }
        let desktop = PairedDesktop(
            confirmation, from: frame.from, over: shown.show.route, isSecure: true, shortString: greeting.shortString,
            at: now)
        state = .storing(desktop, greeting, shown)
        return [.store(desktop)]
    }

    private static func proof(
        in confirmation: PairingConfirmation, from desktop: PeerID, _ shown: Shown, now: EpochMilliseconds
    ) -> Proof {
        let show = shown.show
        guard
            let plain = PairingBond(secret: show.secret, device: shown.offer.did, desktop: desktop, code: show.code)
        else { return .wrong }
        let versions = OfferedVersions(code: show.versions, answer: confirmation.versions)
        if let greeting = greeting(plain.offering(versions), confirmation, show, now: now) { return .valid(greeting) }
        return versions == nil || greeting(plain, confirmation, show, now: now) == nil ? .wrong : .downgraded
    }

    /// `nil` = the confirmation does not prove that its sender has seen the code.
    private static func greeting(
        _ bond: PairingBond, _ confirmation: PairingConfirmation, _ show: Show, now: EpochMilliseconds
    ) -> Greeting? {
        guard let text = confirmation.random else {
            guard bond.proves(confirmation) else { return nil }
            return Greeting(proof: nil, shortString: show.random == nil ? bond.shortString : nil, bond: bond)
        }
        guard let own = show.random, let random = PairingRandom(base64url: text),
            bond.proves(confirmation, to: own.commitment, random: random)
        else { return nil }
        return Greeting(
            proof: bond.helloProof(own, desktopRandom: random, at: now),
            shortString: bond.shortString(deviceRandom: own, desktopRandom: random), bond: bond)
    }

    private mutating func ask(about desktop: PairedDesktop, _ shown: Shown, now: EpochMilliseconds)
        -> [PairingStep<PairedDesktop>]
    {
        guard shown.refused.mayAsk(desktop.address) else {
            dropped.refused &+= 1
            return []
        }
        let until = now.later(by: EpochMilliseconds(Self.confirmationTime))
        state = .confirming(desktop, shown, until: until)
        return [.startTimer(after: Self.confirmationTime), .report(.deviceShow(.confirming(desktop, answerBy: until)))]
    }
}

extension DeviceShowStateMachine {
    /// A plain frame has said a wrong code.
    private mutating func noteGuess() {
        switch state {
        case .displaying(var shown):
            shown.guesses.note()
            state = .displaying(shown)
        case .confirming(let desktop, var shown, let until):
            shown.guesses.note()
            state = .confirming(desktop, shown, until: until)
        case .idle, .connecting, .suspended, .storing, .completed, .expired, .failed: break
        }
    }
}

// MARK: The store

extension DeviceShowStateMachine {
    /// The desktop is in the store, as given.
    package mutating func stored(_ desktop: PairedDesktop) -> [PairingStep<PairedDesktop>] {
        guard case .storing(let storing, let greeting, let shown) = state, storing.id == desktop.id else { return [] }
        state = .completed(desktop, shown)
        return [.report(.deviceShow(.completed(desktop)))]
            + (greeting.map { [.sendHello(to: storing.address, over: shown.show.route.id, proof: $0.proof)] } ?? [])
    }

    package mutating func storeFailed(_ id: PeerID, detail: String?) -> [PairingStep<PairedDesktop>] {
        guard case .storing(let storing, _, _) = state, storing.id == id else { return [] }
        return end(.failed(PairingFailure(.storeFailed, detail: detail)))
    }

    /// What the code holds, if anything, is not needed by it any more.
    private func release() -> [PairingStep<PairedDesktop>] {
        let close = heldRoute.map { [PairingStep<PairedDesktop>.close($0.id)] } ?? []
        switch state {
        case .connecting, .displaying, .confirming: return [.stopTimer] + close
        case .idle, .suspended, .storing, .completed, .expired, .failed: return close
        }
    }

    private mutating func end(_ outcome: DeviceShowState) -> [PairingStep<PairedDesktop>] {
        let released = release()
        switch outcome {
        case .expired: state = .expired
        case .failed(let failure): state = .failed(failure)
        case .idle, .connecting, .displaying, .confirming, .completed:
            preconditionFailure("a code ends here only by failing")
        }
        return released + [.report(.deviceShow(outcome))]
    }
}

extension PairedDesktop {
    /// The sender of a valid confirmation. Its address is what the relay wrote (WirePairing, "The desktop scans").
    ///
    /// - Parameter shortString: `nil` = there are no digits to compare.
    init(
        _ confirmation: PairingConfirmation, from: PeerID, over route: PairingRoute, isSecure: Bool,
        shortString: ShortAuthenticationString?, at now: EpochMilliseconds
    ) {
        self.init(
            address: from, pcPeerID: confirmation.pcPeerID ?? from, name: confirmation.deviceInfo.name,
            platform: confirmation.deviceInfo.platform, reachedOver: route, isSecure: isSecure,
            shortString: shortString, at: now)
    }

    /// A desktop that was met at a relay of ours, where its code names none.
    init(
        address: PeerID, pcPeerID: PeerID, name: String, platform: String, reachedOver route: PairingRoute,
        isSecure: Bool, shortString: ShortAuthenticationString?, at now: EpochMilliseconds
    ) {
        let isLAN = route.kind == .lan
        self.init(
            address: address, pcPeerID: pcPeerID, name: name, platform: platform,
            lanSignalingURL: isLAN ? route.url : nil, relayURL: isLAN ? nil : route.url,
            lanWorkedAt: isLAN ? now : nil, relayWorkedAt: isLAN ? nil : now, pairedAt: now, lastSeenAt: now,
            isSecure: isSecure, shortString: shortString)
    }
}
