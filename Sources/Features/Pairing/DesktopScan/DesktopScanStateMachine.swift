package import Wire

package import Identity

/// The desktop scans, on the desktop: it has a device's code, asks its user, and tells the device (WirePairing, "The
/// desktop scans").
///
/// Pure: `now` is the wall clock in epoch milliseconds, timers are requested by actions. Every scan ends: each step has
/// a time limit. A newer scan replaces the one before; the same code again joins it.
///
/// A device whose code carries a secret is paired when its sealed `bellwire:hello` comes. If none comes, the device may
/// have paired all the same, so it is told that it is not. Any other device answers nothing: the confirmation counts as
/// received if no relay returns it.
package struct DesktopScanStateMachine: Sendable {
    /// What a person has to accept the device, in milliseconds, like all of these.
    package static let confirmationTime: UInt64 = 30_000
    /// No `peer-offline` and no `error` for so long: the confirmation has arrived.
    package static let verdictTime: UInt64 = 2_000
    /// So often the confirmation is repeated while a Bellwire device's hello is awaited, for 30 s: a connection that has
    /// broken on its way is back by then.
    package static let repeatTime: UInt64 = 2_500
    /// Before a confirmation is tried anew that could not be sent, or came back: for 10 s.
    package static let pauseTime: UInt64 = 2_000

    indirect enum State: Sendable, Equatable {
        case idle
        case confirming(Scan, until: EpochMilliseconds)
        case sending(Delivery)
        case storing(PairedDevice, Scan)
        case paired(PairedDevice, Scan)
        case expired
        case cancelled
        case failed(PairingFailure)
    }

    struct Scan: Sendable, Equatable {
        let offer: DevicePairingOffer
        let identity: PairingIdentity
        /// `nil` where the device seals nothing.
        let bond: PairingBond?
        /// This side's part of the digits to compare.
        let random: PairingRandom
        /// It was paired sealed before.
        let isKnown: Bool
        /// What this side offers; `nil` = nothing, like a peer without sessions.
        let versions: SealVersions?

        /// What the device's code commits to; `nil` = it knows of no revision.
        var commitment: String? { offer.seal?.commitment }

        func confirmation(at now: EpochMilliseconds) -> PairingConfirmation {
            guard let bond else {
                return PairingConfirmation(
                    code: offer.code, pcPeerID: identity.did, deviceInfo: identity.deviceInfo, timestamp: now)
            }
            var confirmation =
                commitment.map {
                    bond.confirmation(of: identity.deviceInfo, to: $0, random: random, at: now)
                } ?? bond.confirmation(of: identity.deviceInfo, at: now)
            confirmation.versions = versions
            return confirmation
        }
    }

    struct Delivery: Sendable, Equatable {
        enum Phase: Sendable, Equatable {
            /// Handed out to be sent.
            case handedOut
            /// Written to so many relays that have not sent it back.
            case written(relays: Int)
            /// It reached nobody; it is tried anew.
            case pausing
        }

        let scan: Scan
        var phase: Phase = .handedOut
        /// So many more times the hello is waited for, and the confirmation repeated in between.
        var waitsLeft = 12
        /// A relay has taken it: the device may have got it.
        var wasWritten = false
        /// So often it is tried anew when it could not be sent or came back.
        var retriesLeft = 5
        /// A relay has said that the device is not there.
        var wasOffline = false
    }

    private(set) var state: State = .idle
    package private(set) var dropped = DroppedFrames()

    package init() {}

    package var reported: DesktopScanState {
        switch state {
        case .idle: .idle
        case .confirming(let scan, let until): .confirming(scan.offer, answerBy: until)
        case .sending(let delivery): .sending(delivery.scan.offer)
        case .storing(_, let scan): .sending(scan.offer)
        case .paired(let device, _): .paired(device)
        case .expired: .expired
        case .cancelled: .cancelled
        case .failed(let failure): .failed(failure)
        }
    }

    /// Of the sessions with the device that is being told or stored (``PairingBond/presharedKey``).
    package var presharedKey: PresharedKey? {
        switch state {
        case .sending(let delivery): delivery.scan.bond?.presharedKey
        case .storing(_, let scan): scan.bond?.presharedKey
        case .idle, .confirming, .paired, .expired, .cancelled, .failed: nil
        }
    }

    /// Is a scan under way?
    package var isActive: Bool {
        switch state {
        case .confirming, .sending, .storing: true
        case .idle, .paired, .expired, .cancelled, .failed: false
        }
    }
}

// MARK: The host

extension DesktopScanStateMachine {
    /// A text was scanned.
    ///
    /// The same code again joins the scan that is under way, and gives the same device after it. `securePeers` are the
    /// devices that are paired sealed: no code without a secret leads back to plaintext with them.
    ///
    /// - Parameters:
    ///   - random: new random bytes.
    ///   - versions: what this side offers; `nil` = nothing, like a peer without sessions.
    package mutating func scan(
        _ text: String, identity: PairingIdentity?, legacy: LegacyPairing = .qr, securePeers: Set<PeerID> = [],
        random: PairingRandom = .random(), versions: SealVersions? = .own, now: EpochMilliseconds
    ) -> [PairingStep<PairedDevice>] {
        let offer: DevicePairingOffer
        do throws(PairingFailure) { offer = try DevicePairingOffer(parsing: text, now: now) } catch {
            return end(error.reason == .expired ? .expired : .failed(error))
        }
        switch state {
        case .confirming(let scan, _) where scan.offer == offer: return []
        case .sending(let delivery) where delivery.scan.offer == offer: return []
        case .storing(_, let scan) where scan.offer == offer: return []
        case .paired(let device, let scan) where scan.offer == offer: return [.report(.desktopScan(.paired(device)))]
        case .idle, .confirming, .sending, .storing, .paired, .expired, .cancelled, .failed: break
        }
        guard let identity else { return end(.failed(PairingFailure(.noIdentity))) }
        var bond: PairingBond?
        if let seal = offer.seal {
            guard let secret = PairingSecret(base64url: seal.secret) else {
                return end(.failed(PairingFailure(.badField, detail: "bw.secret")))
            }
            bond = PairingBond(secret: secret, device: offer.did, desktop: identity.did, code: offer.code)?
                .offering(OfferedVersions(code: seal.versions, answer: versions))
            guard bond != nil else { return end(.failed(PairingFailure(.badField, detail: "did"))) }
        } else {
            guard legacy.allowsQR, !securePeers.contains(offer.did) else {
                return end(.failed(PairingFailure(.notSecure)))
            }
        }
        let until = now.later(by: EpochMilliseconds(Self.confirmationTime))
        let withdrawn = withdraw()
        let isKnown = securePeers.contains(offer.did)
        state = .confirming(
            Scan(
                offer: offer, identity: identity, bond: bond, random: random, isKnown: isKnown, versions: versions),
            until: until)
        return withdrawn + [
            .startTimer(after: Self.confirmationTime), .report(.desktopScan(.scanned(offer))),
            .report(.desktopScan(.confirming(offer, answerBy: until))),
        ]
    }

    /// The person's answer to the device that was reported as `confirming`.
    package mutating func answer(accept: Bool, now: EpochMilliseconds) -> PairingAnswer<PairedDevice> {
        guard case .confirming(let scan, _) = state else { return .nothingWaits }
        guard accept else { return .taken(end(.failed(PairingFailure(.rejected)))) }
        guard !scan.offer.isExpired(at: now) else { return .taken(end(.expired)) }
        return .taken([.report(.desktopScan(.sending(scan.offer)))] + send(Delivery(scan: scan), now: now))
    }

    /// Ends the scan that is under way; with `.timeout` where the host's time has run out. Too late once the device is
    /// being stored.
    package mutating func cancel(_ reason: PairingReason = .cancelled) -> [PairingStep<PairedDevice>] {
        switch state {
        case .confirming, .sending: end(reason == .cancelled ? .cancelled : .failed(PairingFailure(reason)))
        case .idle, .storing, .paired, .expired, .cancelled, .failed: []
        }
    }

    /// The device was unpaired: its code, scanned again, pairs again.
    package mutating func removed(_ did: PeerID) {
        guard case .paired(let device, _) = state, device.did == did else { return }
        state = .idle
    }
}

// MARK: The wire

extension DesktopScanStateMachine {
    /// To how many relays the confirmation was written.
    package mutating func confirmationSent(toRelays relays: Int, now: EpochMilliseconds) -> [PairingStep<PairedDevice>]
    {
        guard case .sending(var delivery) = state, delivery.phase == .handedOut else { return [] }
        guard relays > 0 else { return retry(delivery, PairingFailure(.relayUnreachable)) }
        delivery.wasWritten = true
        delivery.phase = .written(relays: relays)
        state = .sending(delivery)
        return [.startTimer(after: delivery.scan.bond == nil ? Self.verdictTime : Self.repeatTime)]
    }

    /// A relay says that this peer is not there; another one may know it.
    package mutating func peerOffline(_ peer: PeerID) -> [PairingStep<PairedDevice>] {
        guard case .sending(var delivery) = state, delivery.scan.offer.did == peer else { return [] }
        delivery.wasOffline = true
        return cameBack(delivery, PairingFailure(.desktopOffline))
    }

    /// A relay has refused something; the confirmation, as far as we can tell.
    package mutating func relayRefused(detail: String?) -> [PairingStep<PairedDevice>] {
        guard case .sending(let delivery) = state else { return [] }
        return cameBack(delivery, PairingFailure(.relayUnreachable, detail: detail))
    }

    /// Something of a peer came: any payload and any routed frame.
    package mutating func received(_ frame: PairingFrame, now: EpochMilliseconds) -> [PairingStep<PairedDevice>] {
        guard case .sending(let delivery) = state, frame.from == delivery.scan.offer.did else { return [] }
        guard !frame.isStale || (frame.type == PairingHello.type && delivery.scan.commitment != nil) else {
            dropped.stale &+= 1
            return []
        }
        switch (frame.type, delivery.scan.bond) {
        case (PairingReject.type?, let bond):
            guard frame.isSealed || bond == nil else {
                dropped.notSecure &+= 1
                return []
            }
            let offer = delivery.scan.offer
            guard dropped.isReject(frame, code: offer.code, since: offer.timestamp) else { return [] }
            return end(.failed(PairingFailure(.rejected)), isKnownThere: true)
        case (PairingHello.type?, let bond?):
            guard frame.isSealed else {
                dropped.notSecure &+= 1
                return []
            }
            // A hello of before: the device greets each of its desktops when it registers.
            guard frame.delivery == .live else {
                dropped.stored &+= 1
                return []
            }
            guard let hello = try? PairingHello(payload: frame.inner) else {
                dropped.malformed &+= 1
                return []
            }
            return received(hello, delivery.scan, bond, now: now)
        case (_, .some), (_, nil): return []
        }
    }

    /// The device greets whenever it registers. If its code is of revision 1, only a hello that proves it completes the
    /// pairing: an old one may have been played back.
    private mutating func received(
        _ hello: PairingHello, _ scan: Scan, _ bond: PairingBond, now: EpochMilliseconds
    ) -> [PairingStep<PairedDevice>] {
        guard let commitment = scan.commitment else { return succeed(scan, bond.shortString, now: now) }
        guard let proof = hello.proof else { return [] }
        guard let random = bond.deviceRandom(in: proof, commitment: commitment, desktopRandom: scan.random) else {
            dropped.wrongProof &+= 1
            return []
        }
        return succeed(scan, bond.shortString(deviceRandom: random, desktopRandom: scan.random), now: now)
    }

    /// The time of the last `startTimer` is over.
    package mutating func timedOut(now: EpochMilliseconds) -> [PairingStep<PairedDevice>] {
        switch state {
        case .confirming: return end(.failed(PairingFailure(.timeout)))
        case .sending(var delivery):
            switch delivery.phase {
            case .handedOut: return end(.failed(.unreached(nil)))
            case .pausing: return send(delivery, now: now)
            case .written:
                guard delivery.scan.bond != nil else { return succeed(delivery.scan, nil, now: now) }
                guard delivery.waitsLeft > 1 else { return end(.failed(PairingFailure(.timeout))) }
                delivery.waitsLeft -= 1
                return send(delivery, now: now)
            }
        case .idle, .storing, .paired, .expired, .cancelled, .failed: return []
        }
    }
}

// MARK: The store

extension DesktopScanStateMachine {
    /// The device is in the store, as given. One whose scan was replaced meanwhile is paired all the same.
    package mutating func stored(_ device: PairedDevice, now: EpochMilliseconds) -> [PairingStep<PairedDevice>] {
        let told = PairingStep<PairedDevice>.report(.desktopScan(.paired(device)))
        guard case .storing(let storing, let scan) = state, storing.did == device.did else {
            return [told, .report(.desktopScan(reported))]
        }
        state = .paired(device, scan)
        guard scan.isKnown, scan.bond != nil, scan.commitment == nil else { return [told] }
        // It greets whenever it registers, so that its hello may have been no answer. One more confirmation settles it: a
        // device that has taken the first one says hello again, and that is all.
        return [
            told, .send(.confirmation(scan.confirmation(at: now)), to: device.did, sealed: true, .lastHeard()),
        ]
    }

    package mutating func storeFailed(_ device: PairedDevice, detail: String?) -> [PairingStep<PairedDevice>] {
        let failure = PairingFailure(.storeFailed, detail: detail)
        let withdrawn = device.isSecure ? [PairingStep<PairedDevice>.withdraw(device.did)] : []
        guard case .storing(let storing, _) = state, storing.did == device.did else {
            return withdrawn + [.report(.desktopScan(.failed(failure))), .report(.desktopScan(reported))]
        }
        return withdrawn + end(.failed(failure))
    }
}

extension DesktopScanStateMachine {
    private mutating func send(_ delivery: Delivery, now: EpochMilliseconds) -> [PairingStep<PairedDevice>] {
        var delivery = delivery
        let scan = delivery.scan
        guard !scan.offer.isExpired(at: now) else { return end(.expired) }
        delivery.phase = .handedOut
        state = .sending(delivery)
        return [
            .startTimer(after: Self.verdictTime),
            .send(
                .confirmation(scan.confirmation(at: now)), to: scan.offer.did, sealed: scan.bond != nil, .everywhere),
        ]
    }

    private mutating func cameBack(_ delivery: Delivery, _ failure: PairingFailure) -> [PairingStep<PairedDevice>] {
        var delivery = delivery
        switch delivery.phase {
        case .pausing: return []
        case .written(let relays) where relays > 1:
            delivery.phase = .written(relays: relays - 1)
            state = .sending(delivery)
            return []
        case .handedOut, .written: break
        }
        // A deployed device that is not there is not waited for.
        guard delivery.scan.bond != nil else { return giveUp(delivery, failure) }
        return retry(delivery, failure)
    }

    private mutating func retry(_ delivery: Delivery, _ failure: PairingFailure) -> [PairingStep<PairedDevice>] {
        guard delivery.retriesLeft > 0 else { return giveUp(delivery, failure) }
        var delivery = delivery
        delivery.retriesLeft -= 1
        delivery.phase = .pausing
        state = .sending(delivery)
        return [.startTimer(after: Self.pauseTime)]
    }

    private mutating func giveUp(_ delivery: Delivery, _ failure: PairingFailure) -> [PairingStep<PairedDevice>] {
        end(.failed(delivery.wasOffline ? PairingFailure(.desktopOffline) : failure))
    }

    /// - Parameter shortString: `nil` = it is not sealed.
    private mutating func succeed(
        _ scan: Scan, _ shortString: ShortAuthenticationString?, now: EpochMilliseconds
    ) -> [PairingStep<PairedDevice>] {
        let info = scan.offer.deviceInfo
        let device = PairedDevice(
            did: scan.offer.did, deviceID: info.deviceID ?? "", name: info.name, platform: info.platform,
            pairedAt: now, lastSeenAt: now, isSecure: scan.bond != nil, shortString: shortString)
        state = .storing(device, scan)
        return [.stopTimer, .store(device)]
    }

    /// A device that may have taken its confirmation, and is not paired here.
    private func withdraw() -> [PairingStep<PairedDevice>] {
        switch state {
        case .sending(let delivery) where delivery.scan.bond != nil && delivery.wasWritten:
            [.withdraw(delivery.scan.offer.did)]
        case .idle, .confirming, .sending, .storing, .paired, .expired, .cancelled, .failed: []
        }
    }

    /// - Parameter isKnownThere: the device knows that it is not paired.
    private mutating func end(_ outcome: DesktopScanState, isKnownThere: Bool = false) -> [PairingStep<PairedDevice>] {
        let withdrawn = isKnownThere ? [] : withdraw()
        let isTimed: Bool
        switch state {
        case .confirming, .sending: isTimed = true
        case .idle, .storing, .paired, .expired, .cancelled, .failed: isTimed = false
        }
        switch outcome {
        case .expired: state = .expired
        case .cancelled: state = .cancelled
        case .failed(let failure): state = .failed(failure)
        case .idle, .scanned, .confirming, .sending, .paired: preconditionFailure("a scan ends here only by failing")
        }
        return (isTimed ? [.stopTimer] : []) + withdrawn + [.report(.desktopScan(outcome))]
    }
}
