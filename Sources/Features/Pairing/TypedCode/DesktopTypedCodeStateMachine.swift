package import Identity
package import Wire

/// A typed code on the desktop: it shows one, and answers at the code's alias (WirePairing, "Typed codes").
///
/// Pure: `now` is the wall clock in epoch milliseconds, timers are requested by actions. Every code ends: after five
/// minutes by itself. A newer one replaces the one before. The code is shown once its alias is registered.
///
/// The code has twelve digits: six name the alias, and six are the password of CPace. Each run that the desktop answers
/// is a guess. The next one waits until it is confirmed, or for some seconds; after three wrong ones the code is invalid,
/// and the user is told.
package struct DesktopTypedCodeStateMachine: Sendable {
    /// What the relay has until the alias is ours, in milliseconds.
    package static let connectTime: UInt64 = 15_000
    package static let confirmationTime = DesktopOfferStateMachine.confirmationTime
    /// How long a new run waits after one, two or three that were answered and not confirmed, in milliseconds. So nobody
    /// uses up the guesses at once: the user's own device, which repeats its first step for a minute, gets its turn.
    package static let pauses: [EpochMilliseconds] = [5_000, 20_000, 45_000]

    indirect enum State: Sendable {
        case idle
        /// `detail` says what the relay's last failure was.
        case connecting(DesktopTypedCodeOffer, detail: String?)
        case displaying(Shown)
        /// A person is asked.
        case confirming(Candidate, Shown, until: EpochMilliseconds)
        case storing(Candidate, Shown)
        case paired(Candidate, Shown)
        case expired
        case cancelled
        case failed(PairingFailure)
    }

    struct Shown: Sendable {
        var offer: DesktopTypedCodeOffer
        let since: EpochMilliseconds

        var expiresAt: EpochMilliseconds { since.later(by: DesktopPairingOffer.lifetime) }
    }

    typealias Candidate = DesktopOfferStateMachine.Candidate

    var state: State = .idle
    package internal(set) var dropped = DroppedFrames()

    package init() {}

    package var reported: DesktopTypedCodeState {
        switch state {
        case .idle: .idle
        case .connecting: .connecting
        case .displaying(let shown): .displaying(shown.offer.code, expiresAt: shown.expiresAt)
        case .confirming(let candidate, _, let until): .acked(candidate.device, answerBy: until)
        case .storing(let candidate, _): .acked(candidate.device, answerBy: nil)
        case .paired(let candidate, _): .paired(candidate.device)
        case .expired: .expired
        case .cancelled: .cancelled
        case .failed(let failure): .failed(failure)
        }
    }

    /// Of the sessions with the device that is being stored (``PairingBond/presharedKey``).
    package var presharedKey: PresharedKey? {
        guard case .storing(let candidate, _) = state else { return nil }
        return candidate.bond?.presharedKey
    }

    /// Can the code still lead to a pairing?
    package var isActive: Bool {
        switch state {
        case .connecting, .displaying, .confirming, .storing: true
        case .idle, .paired, .expired, .cancelled, .failed: false
        }
    }

    /// The alias that is needed at present.
    package var heldAlias: PeerID? {
        switch state {
        case .connecting(let offer, _): offer.code.alias
        case .displaying(let shown), .confirming(_, let shown, _): shown.offer.code.alias
        case .idle, .storing, .paired, .expired, .cancelled, .failed: nil
        }
    }
}

// MARK: The host

extension DesktopTypedCodeStateMachine {
    /// Shows a code, as soon as its alias is ours; the five minutes begin then.
    ///
    /// With `confirm` a person has to accept every device; without, only those that do not seal. Those may answer at the
    /// alias with `"legacy":"all"` alone, by the six digits that the relay sees.
    ///
    /// - Parameters:
    ///   - versions: what this side offers; `nil` = nothing, like a peer without sessions.
    ///   - pauses: ``pauses``; others only in tests.
    package mutating func show(
        nameplate: PairingCode, password: PairingCode, identity: PairingIdentity?, confirm: Bool = false,
        legacy: LegacyPairing = .qr, versions: SealVersions? = .own,
        pauses: [EpochMilliseconds] = DesktopTypedCodeStateMachine.pauses
    ) -> [PairingStep<PairedDevice>] {
        guard let identity, identity.did.isKey else { return end(.failed(PairingFailure(.noIdentity))) }
        let offer = DesktopTypedCodeOffer(
            nameplate: nameplate, password: password, identity: identity, asksPerson: confirm, legacy: legacy,
            versions: versions, pauses: pauses)
        let released = release()
        state = .connecting(offer, detail: nil)
        return released + [
            .report(.desktopCode(.connecting)), .startTimer(after: Self.connectTime), .openAlias(offer.code.alias),
        ]
    }

    /// Takes the code back; `.noRelay` where there is no relay to ask. Too late once the device is being stored.
    package mutating func cancel(_ reason: PairingReason = .cancelled) -> [PairingStep<PairedDevice>] {
        switch state {
        case .connecting, .displaying, .confirming:
            end(reason == .cancelled ? .cancelled : .failed(PairingFailure(reason)))
        case .idle, .storing, .paired, .expired, .cancelled, .failed: []
        }
    }

    /// The person's answer to the device that was reported as `acked`. A no to one that does not seal leaves the code
    /// displayed, as it was: it knew no more than the six digits that the relay sees as well.
    package mutating func answer(accept: Bool, now: EpochMilliseconds) -> PairingAnswer<PairedDevice> {
        guard case .confirming(let candidate, let shown, _) = state, !candidate.isTooFresh(at: now) else {
            return .nothingWaits
        }
        guard accept else { return .taken(refuse(candidate, shown, .rejected, now: now)) }
        state = .storing(candidate, shown)
        return .taken([
            .stopTimer, .closeAlias, .report(.desktopCode(.acked(candidate.device, answerBy: nil))),
            .store(candidate.device),
        ])
    }

    /// The time of the last `startTimer` is over.
    package mutating func timedOut(now: EpochMilliseconds) -> [PairingStep<PairedDevice>] {
        switch state {
        case .connecting(_, let detail):
            end(.failed(.unreached(detail)))
        case .displaying: end(.expired)
        case .confirming(let candidate, let shown, _): refuse(candidate, shown, .timeout, now: now)
        case .idle, .storing, .paired, .expired, .cancelled, .failed: []
        }
    }

    /// Nobody has accepted the candidate.
    private mutating func refuse(
        _ candidate: Candidate, _ shown: Shown, _ reason: PairingReason, now: EpochMilliseconds
    ) -> [PairingStep<PairedDevice>] {
        guard candidate.bond == nil else { return end(.failed(PairingFailure(reason))) }
        guard now <= shown.expiresAt else { return end(.expired) }
        var open = shown
        open.offer.refused.add(candidate.device.did)
        state = .displaying(open)
        return [
            reject(candidate, shown),
            .startTimer(after: now.remaining(until: open.expiresAt, of: DesktopPairingOffer.lifetime)),
            .report(.desktopCode(.displaying(open.offer.code, expiresAt: open.expiresAt))),
        ]
    }

    /// The device was unpaired: its ack, sent again, is not confirmed any more.
    package mutating func removed(_ did: PeerID) {
        guard case .paired(let candidate, _) = state, candidate.device.did == did else { return }
        state = .idle
    }
}

// MARK: The alias

extension DesktopTypedCodeStateMachine {
    /// The alias is ours.
    package mutating func aliasOnline(now: EpochMilliseconds) -> [PairingStep<PairedDevice>] {
        guard case .connecting(let offer, _) = state else { return [] }
        let shown = Shown(offer: offer, since: now)
        state = .displaying(shown)
        return [
            .startTimer(after: UInt64(DesktopPairingOffer.lifetime)),
            .report(.desktopCode(.displaying(offer.code, expiresAt: shown.expiresAt))),
        ]
    }

    /// The alias has another owner: a new code is chosen, a few times (WirePairing, "Typed codes"). A code that was
    /// already shown ends, with everything that was tried against it.
    package mutating func aliasTaken(newNameplate: PairingCode, newPassword: PairingCode) -> [PairingStep<PairedDevice>]
    {
        let old: DesktopTypedCodeOffer
        switch state {
        case .connecting(let offer, _): old = offer
        case .displaying(let shown): old = shown.offer
        case .idle, .confirming, .storing, .paired, .expired, .cancelled, .failed: return []
        }
        guard old.codesLeft > 0 else {
            return end(
                .failed(PairingFailure(.typedCodeUnavailable, detail: "the relay has given its alias to another peer")))
        }
        var offer = DesktopTypedCodeOffer(
            nameplate: newNameplate, password: newPassword, identity: old.identity, asksPerson: old.asksPerson,
            legacy: old.legacy, versions: old.versions, pauses: old.pauses)
        offer.codesLeft = old.codesLeft - 1
        state = .connecting(offer, detail: nil)
        return [
            .closeAlias, .report(.desktopCode(.connecting)), .startTimer(after: Self.connectTime),
            .openAlias(offer.code.alias),
        ]
    }

    /// The alias could not be had, or its connection broke: it comes back by itself, unless `isFinal`. `detail` says why, for
    /// people.
    package mutating func aliasFailed(detail: String?, isFinal: Bool = false) -> [PairingStep<PairedDevice>] {
        switch state {
        case .connecting(let offer, _):
            guard !isFinal else { return end(.failed(PairingFailure(.relayUnreachable, detail: detail))) }
            state = .connecting(offer, detail: detail)
            return []
        // The code stays valid: the relay may be back before it ends.
        case .idle, .displaying, .confirming, .storing, .paired, .expired, .cancelled, .failed: return []
        }
    }
}

// MARK: The store

extension DesktopTypedCodeStateMachine {
    /// The device is in the store, as given.
    package mutating func stored(_ device: PairedDevice, now: EpochMilliseconds) -> [PairingStep<PairedDevice>] {
        guard case .storing(let storing, let shown) = state, storing.device.did == device.did else { return [] }
        state = .paired(Candidate(device: device, bond: storing.bond), shown)
        if let bond = storing.bond { return [.report(.desktopCode(.paired(device))), confirmation(bond, shown, now)] }
        // Deployed phones differ in what they wait for (WireDeployedPeers, "What a desktop sends").
        let identity = shown.offer.identity
        let confirmation = PairingConfirmation(
            code: shown.offer.nameplate, pcPeerID: identity.did, deviceInfo: identity.deviceInfo, timestamp: now)
        return [
            .report(.desktopCode(.paired(device))), .iceServers(of: identity.did, to: device.did, at: now),
            .send(.confirmation(confirmation), to: device.did, sealed: false, .lastHeard()),
        ]
    }

    package mutating func storeFailed(_ did: PeerID, detail: String?) -> [PairingStep<PairedDevice>] {
        guard case .storing(let storing, let shown) = state, storing.device.did == did else { return [] }
        let failure = PairingFailure(.storeFailed, detail: detail)
        state = .failed(failure)
        return [reject(storing, shown, isStoreFailure: true), .report(.desktopCode(.failed(failure)))]
    }

    func confirmation(
        _ bond: PairingBond, _ shown: Shown, _ now: EpochMilliseconds
    ) -> PairingStep<PairedDevice> {
        var confirmation = bond.confirmation(of: shown.offer.identity.deviceInfo, at: now)
        confirmation.versions = shown.offer.versions
        return .send(.confirmation(confirmation), to: bond.device, sealed: true, .lastHeard())
    }

    func reject(
        _ candidate: Candidate, _ shown: Shown, isStoreFailure: Bool = false
    ) -> PairingStep<PairedDevice> {
        let reject = PairingReject(code: shown.offer.nameplate, isStoreFailure: isStoreFailure)
        return .send(.reject(reject), to: candidate.device.did, sealed: candidate.bond != nil, .lastHeard())
    }

    /// What the code holds, if anything, is not needed by it any more; a device that waits is told.
    private func release() -> [PairingStep<PairedDevice>] {
        switch state {
        case .connecting, .displaying: [.stopTimer, .closeAlias]
        case .confirming(let candidate, let shown, _): [.stopTimer, .closeAlias, reject(candidate, shown)]
        case .storing(let candidate, let shown): [reject(candidate, shown)]
        case .idle, .paired, .expired, .cancelled, .failed: []
        }
    }

    mutating func end(_ outcome: DesktopTypedCodeState) -> [PairingStep<PairedDevice>] {
        let released = release()
        switch outcome {
        case .expired: state = .expired
        case .cancelled: state = .cancelled
        case .failed(let failure): state = .failed(failure)
        case .idle, .connecting, .displaying, .acked, .paired: preconditionFailure("a code ends here only by failing")
        }
        return released + [.report(.desktopCode(outcome))]
    }
}
