package import Identity
package import Wire

/// The device scans, on the desktop: it shows a code and waits for the device (WirePairing, "The device scans").
///
/// Pure: `now` is the wall clock in epoch milliseconds, timers are requested by actions. Every offer ends: after five
/// minutes by itself. A newer offer replaces the one before. A wrong ack is never answered, only counted, so a guesser
/// learns nothing.
///
/// A sealed ack with proof of the code pairs at once, or once the user accepts it if the host asks for that. If it commits
/// to random bytes, it first gets the desktop's, and only the ack that reveals those committed to pairs. A plain one, as
/// deployed phones send it, always waits for the user. Its sender may know only the six digits, so declining it
/// ends nothing: the offer stays open for the device that saw the code.
package struct DesktopOfferStateMachine: Sendable {
    /// What a person has to confirm a device, in milliseconds.
    package static let confirmationTime: UInt64 = 30_000
    /// So many plain acks a person may decline, or leave without an answer; then no more are asked about.
    package static let plainRefusalLimit = 3
    /// So long after a device has taken the place of another one no answer is taken: it was meant for that other one.
    package static let displacementTime: EpochMilliseconds = 1_000

    indirect enum State: Sendable, Equatable {
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
        var exchanges: OfferExchanges

        var expiresAt: EpochMilliseconds { payload.timestamp.later(by: DesktopPairingOffer.lifetime) }
    }

    /// A device that has sent the right code.
    struct Candidate: Sendable, Equatable {
        let device: PairedDevice
        /// `nil` where its ack was plain.
        let bond: PairingBond?
        /// `nil` for a device that knows of no revision.
        var exchange: RevealedExchange?
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

    /// Of the sessions with the device that is being stored (``PairingBond/presharedKey``).
    package var presharedKey: PresharedKey? {
        guard case .storing(let candidate, _) = state else { return nil }
        return candidate.bond?.presharedKey
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
    ///
    /// - Parameter randoms: new random bytes, one for each commitment that is answered.
    package mutating func show(
        _ payload: DesktopPairingOffer, confirm: Bool = false, legacy: LegacyPairing = .qr,
        randoms: [PairingRandom] = DesktopOfferStateMachine.newRandoms()
    ) -> [PairingStep<PairedDevice>] {
        let offer = Offer(
            payload: payload, secret: payload.seal.flatMap { PairingSecret(base64url: $0.secret) },
            asksPerson: confirm || payload.seal?.confirm == true, legacy: legacy,
            exchanges: OfferExchanges(randoms))
        var actions: [PairingStep<PairedDevice>] = []
        if case .confirming(let candidate, let old, _) = state { actions.append(reject(candidate, old)) }
        state = .displaying(offer)
        return actions + [
            .startTimer(after: UInt64(DesktopPairingOffer.lifetime)),
            .report(.desktopOffer(.displaying(payload, expiresAt: offer.expiresAt))),
        ]
    }

    /// Takes the offer back. Too late once the device is being stored.
    package mutating func cancel() -> [PairingStep<PairedDevice>] {
        switch state {
        case .displaying:
            state = .cancelled
            return [.stopTimer, .report(.desktopOffer(.cancelled))]
        case .confirming(let candidate, let offer, _):
            state = .cancelled
            return [.stopTimer, reject(candidate, offer), .report(.desktopOffer(.cancelled))]
        case .idle, .storing, .paired, .expired, .cancelled, .failed: return []
        }
    }

    /// The person's answer to the device that was reported as `acked`. A no to one that does not seal leaves the offer
    /// displayed, as it was.
    package mutating func answer(accept: Bool, now: EpochMilliseconds) -> PairingAnswer<PairedDevice> {
        guard case .confirming(let candidate, let offer, _) = state, !candidate.isTooFresh(at: now) else {
            return .nothingWaits
        }
        guard accept else { return .taken([.stopTimer] + refuse(candidate, offer, .rejected, now: now)) }
        state = .storing(candidate, offer)
        return .taken([
            .stopTimer, .report(.desktopOffer(.acked(candidate.device, answerBy: nil))), .store(candidate.device),
        ])
    }

    /// The time of the last `startTimer` is over.
    package mutating func timedOut(now: EpochMilliseconds) -> [PairingStep<PairedDevice>] {
        switch state {
        case .displaying:
            state = .expired
            return [.report(.desktopOffer(.expired))]
        case .confirming(let candidate, let offer, _): return refuse(candidate, offer, .timeout, now: now)
        case .idle, .storing, .paired, .expired, .cancelled, .failed: return []
        }
    }

    /// Nobody has accepted the candidate, whose timer is stopped.
    private mutating func refuse(
        _ candidate: Candidate, _ offer: Offer, _ reason: PairingReason, now: EpochMilliseconds
    ) -> [PairingStep<PairedDevice>] {
        let told = reject(candidate, offer)
        guard candidate.bond == nil else {
            let failure = PairingFailure(reason)
            state = .failed(failure)
            return [told, .report(.desktopOffer(.failed(failure)))]
        }
        guard !offer.payload.isExpired(at: now) else {
            state = .expired
            return [told, .report(.desktopOffer(.expired))]
        }
        var offer = offer
        offer.refused.add(candidate.device.did)
        state = .displaying(offer)
        return [
            told, .startTimer(after: now.remaining(until: offer.expiresAt, of: DesktopPairingOffer.lifetime)),
            .report(.desktopOffer(.displaying(offer.payload, expiresAt: offer.expiresAt))),
        ]
    }
}

// MARK: The wire

extension DesktopOfferStateMachine {
    /// A `pair-ack` came.
    ///
    /// A second ack of the device that has taken the offer changes nothing and is not counted; once that is paired, it
    /// gets its confirmation again: the first may have been lost.
    package mutating func received(_ frame: PairingFrame, now: EpochMilliseconds) -> [PairingStep<PairedDevice>] {
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
        guard !frame.isStale || !isTaken else {
            dropped.stale &+= 1
            return []
        }
        let wrongBefore = dropped.wrongCode
        guard let ack = dropped.ack(of: frame, code: offer.payload.code, since: offer.payload.timestamp) else {
            if !frame.isSealed, dropped.wrongCode != wrongBefore { updateOffer { $0.guesses.note() } }
            return []
        }
        let bond: PairingBond?
        var exchange: RevealedExchange?
        switch proof(of: ack, frame, offer) {
        case .refused: return []
        case .plain: bond = nil
        case .held(let held): bond = held
        case .committed(let held, let commitment):
            return challenge(held, commitment, isTaken: taker.map { $0.bond != nil } ?? false, now: now)
        case .revealed(let held): (bond, exchange) = (held.exchange.bond, held)
        case .mismatched(let held): return refuse(held, "it revealed other random bytes than it committed to")
        case .downgraded(let held): return refuse(held, PairingFailure.changedOffer)
        }
        if let taker {
            switch state {
            case .paired where taker.device.did == frame.from && !offer.payload.isExpired(at: now):
                guard bond != nil, exchange == taker.exchange else {
                    return repair(ack, frame, offer, exchange, now: now)
                }
                return confirmation(of: taker, offer, now).map { [$0] } ?? []
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
            return [.stopTimer, .report(.desktopOffer(.expired))]
        }
        let displaced = taker.flatMap { $0.device.did == frame.from ? nil : reject($0, offer) }
        return (displaced.map { [$0] } ?? [])
            + take(ack, frame, offer, bond, exchange, displacing: displaced != nil, now: now)
    }

    private var isTaken: Bool {
        switch state {
        case .storing, .paired: true
        case .idle, .displaying, .confirming, .expired, .cancelled, .failed: false
        }
    }

    private mutating func updateOffer(_ change: (inout Offer) -> Void) {
        switch state {
        case .displaying(var offer):
            change(&offer)
            state = .displaying(offer)
        case .confirming(let candidate, var offer, let until):
            change(&offer)
            state = .confirming(candidate, offer, until: until)
        case .paired(let candidate, var offer):
            change(&offer)
            state = .paired(candidate, offer)
        case .idle, .storing, .expired, .cancelled, .failed: break
        }
    }

    private mutating func take(
        _ ack: PairAck, _ frame: PairingFrame, _ offer: Offer, _ bond: PairingBond?, _ exchange: RevealedExchange?,
        displacing: Bool, now: EpochMilliseconds
    ) -> [PairingStep<PairedDevice>] {
        var device = PairedDevice(ack, frame, bond: bond, exchange: exchange, at: now)
        // Whoever has the code's secret can claim to know of no revision, and could search for a key with the same digits.
        if offer.payload.seal?.hasRevision == true, exchange == nil { device.shortString = nil }
        let candidate = Candidate(
            device: device, bond: bond, exchange: exchange, displacedAt: displacing ? now : nil)
        guard offer.asksPerson || bond == nil else {
            state = .storing(candidate, offer)
            return [.stopTimer, .report(.desktopOffer(.acked(device, answerBy: nil))), .store(device)]
        }
        let until = now.later(by: EpochMilliseconds(Self.confirmationTime))
        state = .confirming(candidate, offer, until: until)
        return [.startTimer(after: Self.confirmationTime), .report(.desktopOffer(.acked(device, answerBy: until)))]
    }

    private enum Proof {
        /// A plain ack that may be asked about.
        case plain
        /// Of a device that knows of no revision.
        case held(PairingBond)
        case committed(PairingBond, String)
        case revealed(RevealedExchange)
        /// Its sender knows the secret, but reveals other bytes than those it committed to.
        case mismatched(PairingBond)
        /// Its sender offers versions of the seal, but has not seen those of the code.
        case downgraded(PairingBond)
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
            return .plain
        }
        guard let secret = offer.secret,
            let plain = PairingBond(
                secret: secret, device: frame.from, desktop: offer.payload.pcPeerID, code: offer.payload.code)
        else {
            dropped.wrongProof &+= 1
            return .refused
        }
        let bond = plain.offering(OfferedVersions(code: offer.payload.seal?.versions, answer: ack.versions))
        if let commitment = ack.commitment {
            if bond.proves(ack, committingTo: commitment) { return .committed(bond, commitment) }
            switch offer.exchanges.find(bond, commitment)?.reveal(in: ack) {
            case .valid(let exchange)?: return .revealed(exchange)
            case .mismatch?:
                dropped.wrongProof &+= 1
                return .mismatched(bond)
            case .unproved?, nil: break
            }
        } else if bond.proves(ack) {
            return .held(bond)
        }
        if bond.versions != nil, ack.commitment.map({ plain.proves(ack, committingTo: $0) }) ?? plain.proves(ack) {
            dropped.downgraded &+= 1
            return .downgraded(plain)
        }
        dropped.wrongProof &+= 1
        return .refused
    }
}

// MARK: Random bytes

extension DesktopOfferStateMachine {
    /// A device has committed to its random bytes: it gets ours, the same for the same commitment.
    ///
    /// - Parameter isTaken: a device that has seen the code has taken the offer. That one may scan it again, for example
    ///   after a crash, once it is paired.
    private mutating func challenge(
        _ bond: PairingBond, _ commitment: String, isTaken: Bool, now: EpochMilliseconds
    ) -> [PairingStep<PairedDevice>] {
        switch state {
        case .displaying(let offer) where offer.payload.isExpired(at: now):
            dropped.notOpen &+= 1
            state = .expired
            return [.stopTimer, .report(.desktopOffer(.expired))]
        case .paired(let taker, let offer)
        where taker.device.did == bond.device && !offer.payload.isExpired(at: now): break
        case .displaying: break
        case .confirming where !isTaken: break
        case .confirming(let taker, _, _), .storing(let taker, _), .paired(let taker, _):
            if taker.device.did != bond.device { dropped.notOpen &+= 1 }
            return []
        case .idle, .expired, .cancelled, .failed: return []
        }
        var exchange: CommittedExchange?
        updateOffer { exchange = $0.exchanges.begin(bond, commitment) }
        guard let exchange else {
            dropped.refused &+= 1
            return []
        }
        return [.send(.challenge(exchange.challenge(at: now)), to: bond.device, sealed: true, .lastHeard())]
    }

    /// Withdraws the code: someone who has its secret tried to choose the digits, or the code was changed on its way.
    private mutating func refuse(_ bond: PairingBond, _ detail: String) -> [PairingStep<PairedDevice>] {
        let displaced: [PairingStep<PairedDevice>]
        let told: PairingStep<PairedDevice>
        switch state {
        case .displaying(let offer): (displaced, told) = ([], reject(bond, offer))
        case .confirming(let candidate, let offer, _):
            let isSame = candidate.device.did == bond.device
            (displaced, told) = (isSame ? [] : [reject(candidate, offer)], reject(bond, offer))
        case .idle, .storing, .paired, .expired, .cancelled, .failed: return []
        }
        let failure = PairingFailure(.notSecure, detail: detail)
        state = .failed(failure)
        return [.stopTimer] + displaced + [told, .report(.desktopOffer(.failed(failure)))]
    }

    /// The device that has taken the offer has scanned it anew: the digits are others now.
    private mutating func repair(
        _ ack: PairAck, _ frame: PairingFrame, _ offer: Offer, _ exchange: RevealedExchange?, now: EpochMilliseconds
    ) -> [PairingStep<PairedDevice>] {
        guard let exchange else { return [] }
        let bond = exchange.exchange.bond
        let device = PairedDevice(ack, frame, bond: bond, exchange: exchange, at: now)
        state = .storing(Candidate(device: device, bond: bond, exchange: exchange), offer)
        return [.report(.desktopOffer(.acked(device, answerBy: nil))), .store(device)]
    }

    private func reject(_ bond: PairingBond, _ offer: Offer) -> PairingStep<PairedDevice> {
        .send(.reject(PairingReject(code: offer.payload.code)), to: bond.device, sealed: true, .lastHeard())
    }
}

// MARK: The store

extension DesktopOfferStateMachine {
    /// The device is in the store, as given.
    package mutating func stored(_ device: PairedDevice, now: EpochMilliseconds) -> [PairingStep<PairedDevice>] {
        guard case .storing(let storing, let offer) = state, storing.device.did == device.did else { return [] }
        state = .paired(Candidate(device: device, bond: storing.bond, exchange: storing.exchange), offer)
        let greeting =
            confirmation(of: storing, offer, now) ?? .iceServers(of: offer.payload.pcPeerID, to: device.did, at: now)
        return [.report(.desktopOffer(.paired(device))), greeting]
    }

    package mutating func storeFailed(_ did: PeerID, detail: String?) -> [PairingStep<PairedDevice>] {
        guard case .storing(let storing, let offer) = state, storing.device.did == did else { return [] }
        let failure = PairingFailure(.storeFailed, detail: detail)
        state = .failed(failure)
        return [reject(storing, offer, isStoreFailure: true), .report(.desktopOffer(.failed(failure)))]
    }

    /// The device was unpaired: its ack, sent again, is not confirmed any more.
    package mutating func removed(_ did: PeerID) {
        guard case .paired(let candidate, _) = state, candidate.device.did == did else { return }
        state = .idle
    }

    private func reject(
        _ candidate: Candidate, _ offer: Offer, isStoreFailure: Bool = false
    ) -> PairingStep<PairedDevice> {
        let reject = PairingReject(code: offer.payload.code, isStoreFailure: isStoreFailure)
        return .send(.reject(reject), to: candidate.device.did, sealed: candidate.bond != nil, .lastHeard())
    }

    /// `nil` for a device that does not seal.
    private func confirmation(
        of candidate: Candidate, _ offer: Offer, _ now: EpochMilliseconds
    ) -> PairingStep<PairedDevice>? {
        let info = offer.payload.deviceInfo
        guard let bond = candidate.bond else { return nil }
        var confirmation = candidate.exchange?.confirmation(of: info, at: now) ?? bond.confirmation(of: info, at: now)
        confirmation.versions = offer.payload.seal?.versions
        return .send(.confirmation(confirmation), to: bond.device, sealed: true, .lastHeard())
    }
}

extension PairedDevice {
    /// The sender of an ack that holds.
    init(
        _ ack: PairAck, _ frame: PairingFrame, bond: PairingBond?, exchange: RevealedExchange? = nil,
        at now: EpochMilliseconds
    ) {
        self.init(
            did: frame.from, deviceID: ack.deviceInfo.deviceID ?? "", name: ack.deviceInfo.name,
            platform: ack.deviceInfo.platform, pairedAt: now, lastSeenAt: now, isSecure: bond != nil,
            payloadForm: frame.form, shortString: exchange?.shortString ?? bond?.shortString)
    }
}
