package import Wire

import Identity

/// The device scans, on the desktop: it shows a code and waits for the device (WirePairing, "The device scans").
///
/// Pure: `now` is the wall clock in epoch milliseconds, timers are requested by actions. Every offer ends: after five
/// minutes by itself. A newer offer replaces the one before. A wrong ack is never answered, only counted, so a guesser
/// learns nothing.
///
/// A sealed ack with proof of the code pairs at once, or once the user accepts it if the host asks for that. A plain
/// one, as deployed phones send it, always waits for the user. Its sender may know only the six digits, so declining it
/// ends nothing: the offer stays open for the device that saw the code.
package struct DesktopOfferStateMachine: Sendable {
    /// What a person has to confirm a device, in milliseconds.
    package static let confirmationTime: UInt64 = 30_000
    /// So many plain acks a person may decline, or leave without an answer; then no more are asked about.
    package static let plainRefusalLimit = 3
    /// So long after a device has taken the place of another one no answer is taken: it was meant for that other one.
    package static let displacementTime: EpochMilliseconds = 1_000

    enum State: Sendable, Equatable {
        case idle
        case displaying(Offer)
        /// A person is asked.
        case confirming(Candidate, Offer, until: EpochMilliseconds)
        case storing(Candidate, Offer)
        case paired(Candidate, Offer)
        case expired
        case cancelled
        case failed(PairingFailure)
    }

    struct Offer: Sendable, Equatable {
        let payload: DesktopPairingOffer
        /// `nil` where the payload has no seal.
        let secret: PairingSecret?
        let asksPerson: Bool
        let legacy: LegacyPairing
        /// Who sent a plain ack and was not accepted.
        var refused = RefusedSenders()
        var guesses = PlainGuesses()

        var expiresAt: EpochMilliseconds { payload.timestamp.later(by: DesktopPairingOffer.lifetime) }
    }

    /// A device that has sent the right code.
    struct Candidate: Sendable, Equatable {
        let device: PairedDevice
        /// `nil` where its ack was plain.
        let bond: PairingBond?
        /// Since when a person is asked about it instead of another one.
        var displacedAt: EpochMilliseconds?

        /// Is an answer of this moment most likely meant for the one before?
        func isTooFresh(at now: EpochMilliseconds) -> Bool {
            guard let displacedAt else { return false }
            return now < displacedAt.later(by: DesktopOfferStateMachine.displacementTime) && now >= displacedAt
        }
    }

    private(set) var state: State = .idle
    package private(set) var dropped = DroppedFrames()

    package init() {}

    package var reported: DesktopOfferState {
        switch state {
        case .idle: .idle
        case .displaying(let offer): .displaying(offer.payload, expiresAt: offer.expiresAt)
        case .confirming(let candidate, _, let until): .acked(candidate.device, answerBy: until)
        case .storing(let candidate, _): .acked(candidate.device, answerBy: nil)
        case .paired(let candidate, _): .paired(candidate.device)
        case .expired: .expired
        case .cancelled: .cancelled
        case .failed(let failure): .failed(failure)
        }
    }

    /// Can the offer still lead to a pairing?
    package var isActive: Bool {
        switch state {
        case .displaying, .confirming, .storing: true
        case .idle, .paired, .expired, .cancelled, .failed: false
        }
    }
}

// MARK: The host

extension DesktopOfferStateMachine {
    /// Shows an offer, which begins now: its `timestamp` is the present.
    ///
    /// With `confirm` a person has to accept every device; without, only those that do not seal. A payload with a seal
    /// says `confirm` too, so that the device waits long enough.
    package mutating func show(
        _ payload: DesktopPairingOffer, confirm: Bool = false, legacy: LegacyPairing = .qr
    ) -> [DesktopOfferAction] {
        let offer = Offer(
            payload: payload, secret: payload.seal.flatMap { PairingSecret(base64url: $0.secret) },
            asksPerson: confirm || payload.seal?.confirm == true, legacy: legacy)
        var actions: [DesktopOfferAction] = []
        if case .confirming(let candidate, let old, _) = state { actions.append(reject(candidate, old)) }
        state = .displaying(offer)
        return actions + [
            .startTimer(after: UInt64(DesktopPairingOffer.lifetime)),
            .report(.displaying(payload, expiresAt: offer.expiresAt)),
        ]
    }

    /// Takes the offer back. Too late once the device is being stored.
    package mutating func cancel() -> [DesktopOfferAction] {
        switch state {
        case .displaying:
            state = .cancelled
            return [.stopTimer, .report(.cancelled)]
        case .confirming(let candidate, let offer, _):
            state = .cancelled
            return [.stopTimer, reject(candidate, offer), .report(.cancelled)]
        case .idle, .storing, .paired, .expired, .cancelled, .failed: return []
        }
    }

    /// The person's answer to the device that was reported as `acked`. A no to one that does not seal leaves the offer
    /// displayed, as it was.
    package mutating func answer(accept: Bool, now: EpochMilliseconds) -> PairingAnswer<DesktopOfferAction> {
        guard case .confirming(let candidate, let offer, _) = state, !candidate.isTooFresh(at: now) else {
            return .nothingWaits
        }
        guard accept else { return .taken([.stopTimer] + refuse(candidate, offer, .rejected, now: now)) }
        state = .storing(candidate, offer)
        return .taken([.stopTimer, .report(.acked(candidate.device, answerBy: nil)), .store(candidate.device)])
    }

    /// The time of the last `startTimer` is over.
    package mutating func timedOut(now: EpochMilliseconds) -> [DesktopOfferAction] {
        switch state {
        case .displaying:
            state = .expired
            return [.report(.expired)]
        case .confirming(let candidate, let offer, _): return refuse(candidate, offer, .timeout, now: now)
        case .idle, .storing, .paired, .expired, .cancelled, .failed: return []
        }
    }

    /// Nobody has accepted the candidate, whose timer is stopped.
    private mutating func refuse(
        _ candidate: Candidate, _ offer: Offer, _ reason: PairingReason, now: EpochMilliseconds
    ) -> [DesktopOfferAction] {
        let told = reject(candidate, offer)
        guard candidate.bond == nil else {
            let failure = PairingFailure(reason)
            state = .failed(failure)
            return [told, .report(.failed(failure))]
        }
        guard !offer.payload.isExpired(at: now) else {
            state = .expired
            return [told, .report(.expired)]
        }
        var offer = offer
        offer.refused.add(candidate.device.did)
        state = .displaying(offer)
        return [
            told, .startTimer(after: now.remaining(until: offer.expiresAt, of: DesktopPairingOffer.lifetime)),
            .report(.displaying(offer.payload, expiresAt: offer.expiresAt)),
        ]
    }
}

// MARK: The wire

extension DesktopOfferStateMachine {
    /// A `pair-ack` came.
    ///
    /// A second ack of the device that has taken the offer changes nothing and is not counted; once that is paired, it
    /// gets its confirmation again: the first may have been lost.
    package mutating func received(_ frame: PairingFrame, now: EpochMilliseconds) -> [DesktopOfferAction] {
        let offer: Offer
        let taker: Candidate?
        switch state {
        case .displaying(let open): (offer, taker) = (open, nil)
        case .confirming(let candidate, let open, _), .storing(let candidate, let open),
            .paired(let candidate, let open):
            (offer, taker) = (open, candidate)
        case .idle, .expired, .cancelled, .failed:
            dropped.notOpen &+= 1
            return []
        }
        let wrongBefore = dropped.wrongCode
        guard let ack = dropped.ack(of: frame, code: offer.payload.code, since: offer.payload.timestamp) else {
            if !frame.isSealed, dropped.wrongCode != wrongBefore { noteGuess() }
            return []
        }
        let bond: PairingBond?
        switch proof(of: ack, frame, offer) {
        case .refused: return []
        case .held(let held): bond = held
        }
        if let taker {
            switch state {
            case .paired where taker.device.did == frame.from && !offer.payload.isExpired(at: now):
                return bond.map { [confirmation($0, offer, now)] } ?? []
            // Who has seen the code goes before who only knows the six digits of it.
            case .confirming where taker.bond == nil && bond != nil: break
            case .idle, .displaying, .confirming, .storing, .paired, .expired, .cancelled, .failed:
                if taker.device.did != frame.from { dropped.notOpen &+= 1 }
                return []
            }
        }
        // The timer may be late: a machine that slept.
        if taker == nil, offer.payload.isExpired(at: now) {
            dropped.notOpen &+= 1
            state = .expired
            return [.stopTimer, .report(.expired)]
        }
        let displaced = taker.flatMap { $0.device.did == frame.from ? nil : reject($0, offer) }
        return (displaced.map { [$0] } ?? [])
            + take(ack, frame, offer, bond, displacing: displaced != nil, now: now)
    }

    /// A plain ack has said a wrong code.
    private mutating func noteGuess() {
        switch state {
        case .displaying(var offer):
            offer.guesses.note()
            state = .displaying(offer)
        case .confirming(let candidate, var offer, let until):
            offer.guesses.note()
            state = .confirming(candidate, offer, until: until)
        case .idle, .storing, .paired, .expired, .cancelled, .failed: break
        }
    }

    private mutating func take(
        _ ack: PairAck, _ frame: PairingFrame, _ offer: Offer, _ bond: PairingBond?, displacing: Bool,
        now: EpochMilliseconds
    ) -> [DesktopOfferAction] {
        let device = PairedDevice(ack, frame, bond: bond, at: now)
        let candidate = Candidate(device: device, bond: bond, displacedAt: displacing ? now : nil)
        guard offer.asksPerson || bond == nil else {
            state = .storing(candidate, offer)
            return [.stopTimer, .report(.acked(device, answerBy: nil)), .store(device)]
        }
        let until = now.later(by: EpochMilliseconds(Self.confirmationTime))
        state = .confirming(candidate, offer, until: until)
        return [.startTimer(after: Self.confirmationTime), .report(.acked(device, answerBy: until))]
    }

    private enum Proof {
        /// With the bond that it proves; without one for a plain ack that may be asked about.
        case held(PairingBond?)
        case refused
    }

    private mutating func proof(of ack: PairAck, _ frame: PairingFrame, _ offer: Offer) -> Proof {
        guard frame.isSealed else {
            guard offer.legacy.allowsQR, !frame.isOfSecurePeer, offer.guesses.areLeft else {
                dropped.notSecure &+= 1
                return .refused
            }
            guard offer.refused.mayAsk(frame.from) else {
                dropped.refused &+= 1
                return .refused
            }
            return .held(nil)
        }
        guard let secret = offer.secret,
            let bond = PairingBond(
                secret: secret, device: frame.from, desktop: offer.payload.pcPeerID, code: offer.payload.code),
            bond.proves(ack)
        else {
            dropped.wrongProof &+= 1
            return .refused
        }
        return .held(bond)
    }
}

// MARK: The store

extension DesktopOfferStateMachine {
    /// The device is in the store, as given.
    package mutating func stored(_ device: PairedDevice, now: EpochMilliseconds) -> [DesktopOfferAction] {
        guard case .storing(let storing, let offer) = state, storing.device.did == device.did else { return [] }
        state = .paired(Candidate(device: device, bond: storing.bond), offer)
        let greeting = storing.bond.map { confirmation($0, offer, now) } ?? .sendICEConfig(to: device.did)
        return [.report(.paired(device)), greeting]
    }

    package mutating func storeFailed(_ did: PeerID, detail: String?) -> [DesktopOfferAction] {
        guard case .storing(let storing, let offer) = state, storing.device.did == did else { return [] }
        let failure = PairingFailure(.storeFailed, detail: detail)
        state = .failed(failure)
        return [reject(storing, offer), .report(.failed(failure))]
    }

    /// The device was unpaired: its ack, sent again, is not confirmed any more.
    package mutating func removed(_ did: PeerID) {
        guard case .paired(let candidate, _) = state, candidate.device.did == did else { return }
        state = .idle
    }

    private func reject(_ candidate: Candidate, _ offer: Offer) -> DesktopOfferAction {
        .sendReject(
            PairingReject(code: offer.payload.code), to: candidate.device.did, sealed: candidate.bond != nil)
    }

    private func confirmation(
        _ bond: PairingBond, _ offer: Offer, _ now: EpochMilliseconds
    ) -> DesktopOfferAction {
        .sendConfirmation(bond.confirmation(of: offer.payload.deviceInfo, at: now), to: bond.device)
    }
}

extension PairedDevice {
    /// The sender of an ack that holds.
    init(_ ack: PairAck, _ frame: PairingFrame, bond: PairingBond?, at now: EpochMilliseconds) {
        self.init(
            did: frame.from, deviceID: ack.deviceInfo.deviceID ?? "", name: ack.deviceInfo.name,
            platform: ack.deviceInfo.platform, pairedAt: now, lastSeenAt: now, isSecure: bond != nil,
            payloadForm: frame.form, shortString: bond?.shortString)
    }
}
