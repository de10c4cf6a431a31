package import Identity
package import Wire

/// The device scans, on the device: it has a desktop's code and answers it (WirePairing, "The device scans").
///
/// Pure: `now` is the wall clock in epoch milliseconds, timers are requested by actions. Every scan ends: each step has
/// a time limit. A newer scan replaces the one before; after success or failure the next one may begin.
///
/// A desktop whose code carries a secret gets a sealed ack and confirms it sealed; plain frames don't count then. If its
/// code has a revision, the ack commits to random bytes, the desktop answers with its own, and the next ack reveals the
/// device's. Any other desktop confirms nothing; if it sends nothing else in time, it is stored as unconfirmed.
package struct DeviceScanStateMachine: Sendable {
    /// What the relay on the local network has before the other one is asked as well. In milliseconds, like all of these.
    package static let headStart: UInt64 = 1_500
    /// What the relays have until we are registered at one.
    package static let seekTime: UInt64 = 15_000
    /// What they have to come back, once each of them has failed.
    package static let lastCallTime: UInt64 = 3_000
    /// What an ack has to be written.
    package static let writeTime: UInt64 = 5_000
    /// What a deployed desktop has to say anything after the ack. It sends its ICE servers if it takes the ack, and nothing
    /// if it doesn't.
    package static let answerTime: UInt64 = 10_000
    /// So often the ack is repeated while a Bellwire desktop's confirmation is awaited: for 10 s, or 40 s where its user is
    /// asked first. It takes a second ack as the first.
    package static let repeatTime: UInt64 = 2_500
    /// Before an ack is tried anew that came back everywhere.
    package static let pauseTime: UInt64 = 1_000

    indirect enum State: Sendable, Equatable {
        case scanning
        case sending(DeviceScanAttempt)
        /// The process sleeps; nothing is open.
        case suspended(DeviceScanAttempt)
        case storing(PairedDesktop, DeviceScanAttempt)
        case success(PairedDesktop, DesktopPairingOffer)
        case failed(PairingFailure)
    }

    var state: State = .scanning
    package internal(set) var dropped = DroppedFrames()

    package init() {}

    package var reported: DeviceScanState {
        switch state {
        case .scanning: .scanning
        case .sending(let attempt), .suspended(let attempt), .storing(_, let attempt): .sending(attempt.offer)
        case .success(let desktop, _): .success(desktop)
        case .failed(let failure): .failed(failure)
        }
    }

    /// Of the sessions with the desktop that is being stored (``PairingBond/presharedKey``).
    package var presharedKey: PresharedKey? {
        guard case .storing(_, let attempt) = state else { return nil }
        return attempt.bond?.presharedKey
    }

    /// Is a scan under way?
    package var isActive: Bool {
        switch state {
        case .sending, .suspended, .storing: true
        case .scanning, .success, .failed: false
        }
    }

    func isHeld(_ route: RouteID) -> Bool { heldRoutes.contains { $0.id == route } }

    /// The connections that the scan needs at present. After a success they are the desktop's.
    package var heldRoutes: [PairingRoute] {
        switch state {
        case .sending(let attempt), .storing(_, let attempt): attempt.paths.filter(\.isHeld).map(\.route)
        case .scanning, .suspended, .success, .failed: []
        }
    }
}

// MARK: The host

extension DeviceScanStateMachine {
    /// A text was scanned.
    ///
    /// The same code again joins the scan that is under way, and gives the same desktop after it. `relayURL` is the
    /// host's own relay, tried after those that the code names. `securePeers` are the desktops that are paired sealed:
    /// no code without a secret leads back to plaintext with them.
    ///
    /// - Parameters:
    ///   - random: new random bytes.
    ///   - versions: what this side offers; `nil` = nothing, like a peer without sessions.
    package mutating func scan(
        _ text: String, identity: PairingIdentity?, relayURL: String? = nil, legacy: LegacyPairing = .qr,
        securePeers: Set<PeerID> = [], random: PairingRandom = .random(), versions: SealVersions? = .own,
        now: EpochMilliseconds
    ) -> [PairingStep<PairedDesktop>] {
        let offer: DesktopPairingOffer
        do throws(PairingFailure) { offer = try DesktopPairingOffer(parsing: text, now: now) } catch {
            return end(error)
        }
        switch state {
        case .sending(let attempt) where attempt.offer == offer: return []
        case .suspended(let attempt) where attempt.offer == offer: return []
        case .storing(_, let attempt) where attempt.offer == offer: return []
        case .success(let desktop, let paired) where paired == offer: return [.report(.deviceScan(.success(desktop)))]
        case .scanning, .sending, .suspended, .storing, .success, .failed: break
        }
        guard let identity else { return end(PairingFailure(.noIdentity)) }
        var bond: PairingBond?
        if let seal = offer.seal {
            guard let secret = PairingSecret(base64url: seal.secret) else {
                return end(PairingFailure(.badField, detail: "bw.secret"))
            }
            bond = PairingBond(secret: secret, device: identity.did, desktop: offer.pcPeerID, code: offer.code)
            guard bond != nil else { return end(PairingFailure(.badField, detail: "pcPeerId")) }
        } else {
            guard legacy.allowsQR, !securePeers.contains(offer.pcPeerID) else {
                return end(PairingFailure(.notSecure))
            }
        }
        let routes = Self.routes(of: offer, and: relayURL)
        guard !routes.isEmpty else { return end(PairingFailure(.noRelay)) }
        let released = release()
        let attempt = DeviceScanAttempt(
            offer: offer, identity: identity, bond: bond, random: random, versions: versions, routes: routes)
        return released + [.report(.deviceScan(.sending(offer)))] + openNext(attempt)
    }

    /// Ends the scan that is under way; `.timeout` where the host's time has run out. Too late once it is being stored.
    package mutating func cancel(_ reason: PairingReason = .cancelled) -> [PairingStep<PairedDesktop>] {
        switch state {
        case .sending(let attempt) where reason == .timeout && attempt.lastCarrier == nil:
            end(.unreached(attempt.detail))
        case .sending, .suspended: end(PairingFailure(reason))
        case .scanning, .storing, .success, .failed: []
        }
    }

    /// The desktop was unpaired: its code, scanned again, pairs again.
    package mutating func removed(_ id: PeerID) {
        switch state {
        case .success(let desktop, _) where desktop.id == id: state = .scanning
        case .scanning, .sending, .suspended, .storing, .success, .failed: break
        }
    }

    /// The process goes to sleep: every connection is given back.
    package mutating func suspended() -> [PairingStep<PairedDesktop>] {
        guard case .sending(let attempt) = state else { return [] }
        let released = release()
        state = .suspended(attempt)
        return released
    }

    /// It is back: the ack is sent again, unless the code is too old by now.
    package mutating func resumed(now: EpochMilliseconds) -> [PairingStep<PairedDesktop>] {
        guard case .suspended(var attempt) = state else { return [] }
        guard !attempt.offer.isExpired(at: now) else { return end(PairingFailure(.expired)) }
        attempt.startOver()
        return openNext(attempt)
    }
}

// MARK: The store

extension DeviceScanStateMachine {
    /// The desktop is in the store, as given.
    package mutating func stored(_ desktop: PairedDesktop) -> [PairingStep<PairedDesktop>] {
        guard case .storing(let storing, let attempt) = state, storing.id == desktop.id else { return [] }
        state = .success(desktop, attempt.offer)
        return [.report(.deviceScan(.success(desktop)))]
    }

    package mutating func storeFailed(_ id: PeerID, detail: String?) -> [PairingStep<PairedDesktop>] {
        guard case .storing(let storing, _) = state, storing.id == id else { return [] }
        return end(PairingFailure(.storeFailed, detail: detail))
    }
}

extension DeviceScanStateMachine {
    private static func routes(of offer: DesktopPairingOffer, and relayURL: String?) -> [PairingRoute] {
        var routes: [PairingRoute] = []
        func add(_ kind: PairingRoute.Kind, _ url: String?) {
            guard let url, !routes.contains(where: { $0.url == url }) else { return }
            routes.append(PairingRoute(kind, url: url))
        }
        add(.lan, offer.signalingURL)
        add(.relay, offer.relayURL)
        add(.relay, relayURL)
        return routes
    }

    /// What the scan holds, if anything, is not needed by it any more.
    private func release() -> [PairingStep<PairedDesktop>] {
        switch state {
        case .sending: [.stopTimer] + heldRoutes.map { .close($0.id) }
        case .storing: heldRoutes.map { .close($0.id) }
        case .scanning, .suspended, .success, .failed: []
        }
    }

    mutating func end(_ failure: PairingFailure) -> [PairingStep<PairedDesktop>] {
        let released = release()
        state = .failed(failure)
        return released + [.report(.deviceScan(.failed(failure)))]
    }
}
