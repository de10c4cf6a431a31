package import Wire

import Identity

// What comes: the steps of CPace and plain acks at the alias, sealed acks at the desktop itself.
extension DesktopTypedCodeStateMachine {
    /// Something came over the alias's connection. What a relay had kept counts for nothing there: it may have been sent
    /// ahead, to every alias.
    ///
    /// - Parameter generator: `SecureRandomNumberGenerator`; another one only in tests.
    package mutating func receivedAtAlias(
        _ frame: PairingFrame, now: EpochMilliseconds, using generator: inout some RandomNumberGenerator
    ) -> [PairingStep<PairedDevice>] {
        let shown: Shown
        switch state {
        case .displaying(let open): shown = open
        // Who knows the password goes before who only knows the six digits of the alias.
        case .confirming(let candidate, let open, _) where candidate.bond == nil: shown = open
        case .idle, .connecting, .confirming, .storing, .paired, .expired, .cancelled, .failed:
            dropped.notOpen &+= 1
            return []
        }
        guard frame.delivery == .live else {
            dropped.stored &+= 1
            return []
        }
        guard !isExpired(shown, at: now) else {
            dropped.notOpen &+= 1
            return expire()
        }
        guard frame.type == PairingExchange.type else { return receivedPlain(frame, shown, now: now) }
        guard let exchange = try? PairingExchange(payload: frame.inner) else {
            dropped.malformed &+= 1
            return []
        }
        switch exchange.step {
        case .deviceShare(let did, let share):
            guard did == frame.from, did.isKey else {
                dropped.wrongSender &+= 1
                return []
            }
            return answer(exchange.sid, of: did, share: share, shown, now: now, using: &generator)
        case .deviceConfirm(let confirm): return verify(exchange.sid, of: frame.from, confirm: confirm, shown)
        case .desktopShare, .desktopConfirm:
            dropped.malformed &+= 1
            return []
        }
    }

    /// A `pair-ack` came at the desktop's own id.
    ///
    /// A second ack of the device that has taken the code changes nothing and is not counted; once that is paired, it gets
    /// its confirmation again: the first may have been lost.
    package mutating func received(_ frame: PairingFrame, now: EpochMilliseconds) -> [PairingStep<PairedDevice>] {
        let shown: Shown
        let taker: Candidate?
        switch state {
        case .displaying(let open): (shown, taker) = (open, nil)
        case .confirming(let candidate, let open, _), .storing(let candidate, let open),
            .paired(let candidate, let open):
            (shown, taker) = (open, candidate)
        case .idle, .connecting, .expired, .cancelled, .failed:
            dropped.notOpen &+= 1
            return []
        }
        guard frame.isSealed else {
            dropped.notSecure &+= 1
            return []
        }
        guard !frame.isStale || !isTaken else {
            dropped.stale &+= 1
            return []
        }
        guard let ack = dropped.ack(of: frame, code: shown.offer.nameplate, since: shown.since) else { return [] }
        let bond: PairingBond
        switch shown.offer.proof(in: ack) {
        case .valid(let valid): bond = valid
        case .downgraded:
            dropped.downgraded &+= 1
            return isTaken ? [] : refuseChanged(frame.from, shown)
        case .wrong:
            dropped.wrongProof &+= 1
            return []
        }
        if let taker {
            switch state {
            case .paired where taker.device.did == frame.from && !isExpired(shown, at: now):
                return [confirmation(bond, shown, now)]
            case .confirming where taker.bond == nil: break
            case .idle, .connecting, .displaying, .confirming, .storing, .paired, .expired, .cancelled, .failed:
                if taker.device.did != frame.from { dropped.notOpen &+= 1 }
                return []
            }
        }
        // The timer may be late: a machine that slept.
        if taker == nil, isExpired(shown, at: now) {
            dropped.notOpen &+= 1
            return expire()
        }
        let displaced = taker.flatMap { $0.device.did == frame.from ? nil : reject($0, shown) }
        return (displaced.map { [$0] } ?? [])
            + take(ack, frame, shown, bond, displacing: displaced != nil, now: now)
    }

    private var isTaken: Bool {
        switch state {
        case .storing, .paired: true
        case .idle, .connecting, .displaying, .confirming, .expired, .cancelled, .failed: false
        }
    }

    private func isExpired(_ shown: Shown, at now: EpochMilliseconds) -> Bool { now > shown.expiresAt }

    private mutating func expire() -> [PairingStep<PairedDevice>] { end(.expired) }
}

// MARK: The device

extension DesktopTypedCodeStateMachine {
    /// A deployed phone: the six digits of the alias, and no proof of anything.
    private mutating func receivedPlain(
        _ frame: PairingFrame, _ shown: Shown, now: EpochMilliseconds
    ) -> [PairingStep<PairedDevice>] {
        guard !frame.isSealed, shown.offer.legacy.allowsTypedCode, !frame.isOfSecurePeer else {
            dropped.notSecure &+= 1
            return []
        }
        guard let ack = dropped.ack(of: frame, code: shown.offer.nameplate, since: shown.since) else { return [] }
        guard shown.offer.refused.mayAsk(frame.from) else {
            dropped.refused &+= 1
            return []
        }
        if case .confirming(let candidate, _, _) = state {
            if candidate.device.did != frame.from { dropped.notOpen &+= 1 }
            return []
        }
        return take(ack, frame, shown, nil, displacing: false, now: now)
    }

    private mutating func take(
        _ ack: PairAck, _ frame: PairingFrame, _ shown: Shown, _ bond: PairingBond?, displacing: Bool,
        now: EpochMilliseconds
    ) -> [PairingStep<PairedDevice>] {
        let device = PairedDevice(ack, frame, bond: bond, at: now)
        let candidate = Candidate(device: device, bond: bond, displacedAt: displacing ? now : nil)
        guard shown.offer.asksPerson || bond == nil else {
            state = .storing(candidate, shown)
            return [.stopTimer, .closeAlias, .report(.desktopCode(.acked(device, answerBy: nil))), .store(device)]
        }
        let until = now.later(by: EpochMilliseconds(Self.confirmationTime))
        state = .confirming(candidate, shown, until: until)
        return [.startTimer(after: Self.confirmationTime), .report(.desktopCode(.acked(device, answerBy: until)))]
    }
}

// MARK: CPace

extension DesktopTypedCodeStateMachine {
    /// Step 1: from the answer on it is a guess.
    private mutating func answer(
        _ sid: String, of device: PeerID, share: String, _ shown: Shown, now: EpochMilliseconds,
        using generator: inout some RandomNumberGenerator
    ) -> [PairingStep<PairedDevice>] {
        var shown = shown
        if let known = shown.offer.run(sid, of: device) {
            let run = shown.offer.runs[known]
            // Only the very same share is the same run: another one would be another guess.
            guard run.deviceShare == share else {
                dropped.malformed &+= 1
                return []
            }
            return [step2(run.responder, to: device, shown)]
        }
        guard !shown.offer.isPaused(at: now) else {
            dropped.notOpen &+= 1
            return []
        }
        guard shown.offer.unconfirmed < DesktopTypedCodeOffer.unconfirmedLimit else { return burn() }
        guard shown.offer.runs.count < DesktopTypedCodeOffer.runLimit else {
            dropped.notOpen &+= 1
            return []
        }
        guard
            let responder = try? CPaceResponder(
                password: shown.offer.password.digits, alias: shown.offer.code.alias.text, sid: sid,
                deviceID: device.text, deviceShare: share, desktopID: shown.offer.identity.did.text, using: &generator)
        else {
            dropped.malformed &+= 1
            shown.offer.badShares += 1
            keep(shown)
            return shown.offer.badShares < DesktopTypedCodeOffer.badShareLimit ? [] : burn()
        }
        shown.offer.unconfirmed += 1
        shown.offer.answeredAt = now
        shown.offer.runs.append(.init(device: device, deviceShare: share, responder: responder))
        keep(shown)
        return [step2(responder, to: device, shown)]
    }

    private func step2(_ responder: CPaceResponder, to device: PeerID, _ shown: Shown) -> PairingStep<PairedDevice> {
        let step = PairingExchange.Step.desktopShare(did: shown.offer.identity.did, share: responder.share)
        let exchange = PairingExchange(sid: responder.sid, step: step, versions: shown.offer.versions)
        return .send(.exchange(exchange), to: device, sealed: false, .alias)
    }

    /// Step 3: only who has shown that it knows the code is shown that we do.
    private mutating func verify(
        _ sid: String, of device: PeerID, confirm: String, _ shown: Shown
    ) -> [PairingStep<PairedDevice>] {
        var shown = shown
        guard let index = shown.offer.run(sid, of: device) else {
            dropped.wrongSender &+= 1
            return []
        }
        let key = shown.offer.runs[index].responder.key
        guard key.verifies(confirm, of: .device) else {
            dropped.wrongProof &+= 1
            // What was confirmed before stays so: nobody else knows its key.
            guard shown.offer.runs[index].bond == nil else { return [] }
            shown.offer.runs.remove(at: index)
            keep(shown)
            let reject = PairingReject(code: shown.offer.nameplate)
            return [.send(.reject(reject), to: device, sealed: false, .alias)] + (shown.offer.isBurnt ? burn() : [])
        }
        if shown.offer.runs[index].bond == nil {
            shown.offer.unconfirmed -= 1
            shown.offer.runs[index].bond = PairingBond(
                secret: key.pairingSecret, device: device, desktop: shown.offer.identity.did,
                code: shown.offer.nameplate)
            keep(shown)
        }
        let step = PairingExchange.Step.desktopConfirm(key.confirmation(of: .desktop))
        return [.send(.exchange(PairingExchange(sid: sid, step: step)), to: device, sealed: false, .alias)]
    }

    /// The relay has changed what this side offers, so the code is withdrawn.
    private mutating func refuseChanged(_ device: PeerID, _ shown: Shown) -> [PairingStep<PairedDevice>] {
        let reject = PairingReject(code: shown.offer.nameplate)
        return [.send(.reject(reject), to: device, sealed: true, .lastHeard())]
            + end(.failed(PairingFailure(.notSecure, detail: PairingFailure.changedOffer)))
    }

    /// Somebody guesses: the user is told, and shows a new code.
    private mutating func burn() -> [PairingStep<PairedDevice>] {
        end(
            .failed(PairingFailure(.typedCodeUnavailable, detail: "three wrong codes were typed; show a new one"))
        )
    }

    /// What was tried against the code is part of it, whether or not a person is being asked.
    private mutating func keep(_ shown: Shown) {
        switch state {
        case .displaying: state = .displaying(shown)
        case .confirming(let candidate, _, let until): state = .confirming(candidate, shown, until: until)
        case .idle, .connecting, .storing, .paired, .expired, .cancelled, .failed:
            preconditionFailure("a run belongs to a code that is open")
        }
    }
}
