package import Wire

/// Flow B on the device: it has scanned a desktop's code and answers it (protocol.md 2).
///
/// Pure: `now` is the wall clock in epoch milliseconds, timers are asked for by actions. Every scan ends: each step has a
/// time limit. A newer scan replaces the one before; after success or failure the next one may begin.
package struct DeviceScanStateMachine: Sendable {
    /// What a relay on the local network has for everything until we are registered. In milliseconds, like all of these.
    package static let lanTimeout: UInt64 = 5_000
    package static let relayTimeout: UInt64 = 15_000
    /// No `peer-offline` and no `error` for so long: the ack has arrived. A deployed desktop confirms nothing.
    package static let verdictTime: UInt64 = 2_000
    /// So often the ack is sent again over a route that broke under it.
    static let resends = 2

    enum State: Sendable, Equatable {
        case scanning
        case sending(Attempt)
        case storing(PairedDesktop, DesktopPairingOffer)
        case success(PairedDesktop, DesktopPairingOffer)
        case failed(PairingFailure)
    }

    struct Attempt: Sendable, Equatable {
        enum Step: Sendable, Equatable {
            /// Waiting until we are registered there.
            case opening
            /// The route broke under the ack. Its connection comes back by itself; the time limit ends the wait.
            case reopening
            /// The ack was handed out to be sent.
            case sendingAck
            /// The ack was written; waiting whether it comes back.
            case awaitingVerdict

            /// Not registered there, so no answer to the ack can come.
            var isOpening: Bool {
                switch self {
                case .opening, .reopening: true
                case .sendingAck, .awaitingVerdict: false
                }
            }
        }

        let offer: DesktopPairingOffer
        let identity: PairingIdentity
        var route: PairingRoute
        var later: [PairingRoute]
        var step: Step
        var resendsLeft: Int
        /// A relay has said that the desktop is not there: the better reason, should the next relay not answer.
        var wasOffline = false
    }

    private(set) var state: State = .scanning

    package init() {}

    package var reported: DeviceScanState {
        switch state {
        case .scanning: .scanning
        case .sending(let attempt): .sending(attempt.offer)
        case .storing(_, let offer): .sending(offer)
        case .success(let desktop, _): .success(desktop)
        case .failed(let failure): .failed(failure)
        }
    }

    /// Is a scan under way?
    package var isActive: Bool {
        switch state {
        case .sending, .storing: true
        case .scanning, .success, .failed: false
        }
    }
}

// MARK: The host

extension DeviceScanStateMachine {
    /// A text was scanned.
    ///
    /// The same code again joins the scan that is under way, and gives the same desktop after it. `relayURL` is the
    /// host's own relay, tried after those that the code names. `acceptsPlain` = false refuses a desktop that cannot prove
    /// who it is (`"legacy":"none"`).
    package mutating func scan(
        _ text: String, identity: PairingIdentity?, relayURL: String? = nil, acceptsPlain: Bool = true,
        now: EpochMilliseconds
    ) -> [DeviceScanAction] {
        let offer: DesktopPairingOffer
        do throws(PairingFailure) { offer = try DesktopPairingOffer(parsing: text, now: now) } catch {
            return end(.failed(error))
        }
        switch state {
        case .sending(let attempt) where attempt.offer == offer: return []
        case .storing(_, let stored) where stored == offer: return []
        case .success(let desktop, let paired) where paired == offer: return [.report(.success(desktop))]
        case .scanning, .sending, .storing, .success, .failed: break
        }
        guard let identity else { return end(.failed(PairingFailure(.noIdentity))) }
        guard acceptsPlain else { return end(.failed(PairingFailure(.notSecure))) }
        var routes = Self.routes(of: offer, and: relayURL)
        guard !routes.isEmpty else { return end(.failed(PairingFailure(.noRelay))) }
        let released = releaseRoute()
        let first = routes.removeFirst()
        state = .sending(
            Attempt(
                offer: offer, identity: identity, route: first, later: routes, step: .opening,
                resendsLeft: Self.resends))
        return released + [.report(.sending(offer)), .startTimer(after: Self.timeout(of: first)), .open(first)]
    }

    /// Ends the scan that is under way; `.timeout` where the host's time has run out. Too late once it is being stored.
    package mutating func cancel(_ reason: PairingReason = .cancelled) -> [DeviceScanAction] {
        switch state {
        case .sending: end(.failed(PairingFailure(reason)))
        case .scanning, .storing, .success, .failed: []
        }
    }

    /// The desktop was unpaired: its code, scanned again, pairs again.
    package mutating func removed(_ id: PeerID) {
        switch state {
        case .success(let desktop, _) where desktop.id == id: state = .scanning
        case .scanning, .sending, .storing, .success, .failed: break
        }
    }
}

// MARK: The routes

extension DeviceScanStateMachine {
    /// We are registered there.
    package mutating func routeOnline(_ route: PairingRoute, now: EpochMilliseconds) -> [DeviceScanAction] {
        guard case .sending(var attempt) = state, attempt.route == route, attempt.step.isOpening else { return [] }
        guard !attempt.offer.isExpired(at: now) else { return end(.failed(PairingFailure(.expired))) }
        attempt.step = .sendingAck
        state = .sending(attempt)
        let ack = PairAck(
            code: attempt.offer.code, mobileDID: attempt.identity.did, deviceInfo: attempt.identity.deviceInfo,
            timestamp: now)
        return [.sendAck(ack, to: attempt.offer.pcPeerID, over: route)]
    }

    /// Whether the ack could be written.
    package mutating func ackSent(_ isWritten: Bool, over route: PairingRoute) -> [DeviceScanAction] {
        guard case .sending(var attempt) = state, attempt.route == route, attempt.step == .sendingAck else { return [] }
        guard isWritten else { return reopen(attempt, detail: nil) }
        attempt.step = .awaitingVerdict
        state = .sending(attempt)
        return [.startTimer(after: Self.verdictTime)]
    }

    /// The route could not be opened, or broke. `detail` says why, for people.
    package mutating func routeFailed(_ route: PairingRoute, detail: String?) -> [DeviceScanAction] {
        guard case .sending(let attempt) = state, attempt.route == route else { return [] }
        return switch attempt.step {
        // The ack is sent again there: a desktop takes a second one as the first (protocol.md 2).
        case .sendingAck, .awaitingVerdict: reopen(attempt, detail: detail)
        case .opening: moveOn(attempt, PairingFailure(.relayUnreachable, detail: detail))
        case .reopening: []
        }
    }

    /// The relay says that this peer is not there.
    package mutating func peerOffline(_ peer: PeerID, over route: PairingRoute) -> [DeviceScanAction] {
        guard case .sending(var attempt) = state, attempt.route == route, attempt.offer.pcPeerID == peer,
            !attempt.step.isOpening
        else { return [] }
        attempt.wasOffline = true
        return moveOn(attempt, PairingFailure(.desktopOffline))
    }

    /// The relay has refused something; the ack, as far as we can tell.
    package mutating func relayRefused(over route: PairingRoute, detail: String?) -> [DeviceScanAction] {
        guard case .sending(let attempt) = state, attempt.route == route, !attempt.step.isOpening else { return [] }
        return moveOn(attempt, PairingFailure(.relayUnreachable, detail: detail))
    }

    /// A payload or a routed frame came live, over any route. `type` is its type, `nil` where it has none.
    package mutating func received(
        from peer: PeerID, type: String?, now: EpochMilliseconds
    ) -> [DeviceScanAction] {
        guard case .sending(let attempt) = state, attempt.offer.pcPeerID == peer, !attempt.step.isOpening else {
            return []
        }
        guard type != PairingReject.type else { return end(.failed(PairingFailure(.rejected))) }
        return succeed(attempt, now: now)
    }

    /// The time of the last `startTimer` is over.
    package mutating func stepTimedOut(now: EpochMilliseconds) -> [DeviceScanAction] {
        guard case .sending(let attempt) = state else { return [] }
        return switch attempt.step {
        case .awaitingVerdict: succeed(attempt, now: now)
        case .opening, .reopening, .sendingAck:
            moveOn(attempt, PairingFailure(.relayUnreachable, detail: "no answer in time"))
        }
    }
}

// MARK: The store

extension DeviceScanStateMachine {
    /// The desktop is in the store, as given.
    package mutating func stored(_ desktop: PairedDesktop) -> [DeviceScanAction] {
        guard case .storing(let storing, let offer) = state, storing.id == desktop.id else { return [] }
        state = .success(desktop, offer)
        return [.report(.success(desktop))]
    }

    package mutating func storeFailed(_ id: PeerID, detail: String?) -> [DeviceScanAction] {
        guard case .storing(let storing, _) = state, storing.id == id else { return [] }
        return end(.failed(PairingFailure(.storeFailed, detail: detail)))
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

    private static func timeout(of route: PairingRoute) -> UInt64 {
        switch route.kind {
        case .lan: lanTimeout
        case .relay: relayTimeout
        }
    }

    /// The route that the scan holds, if any, is not needed by it any more.
    private func releaseRoute() -> [DeviceScanAction] {
        switch state {
        case .sending(let attempt): [.stopTimer, .close(attempt.route)]
        case .scanning, .storing, .success, .failed: []
        }
    }

    private mutating func end(_ outcome: DeviceScanState) -> [DeviceScanAction] {
        let released = releaseRoute()
        switch outcome {
        case .failed(let failure): state = .failed(failure)
        case .scanning, .sending, .success: preconditionFailure("a scan ends here only by failing")
        }
        return released + [.report(outcome)]
    }

    /// Waits until the same route is up again, a few times.
    private mutating func reopen(_ attempt: Attempt, detail: String?) -> [DeviceScanAction] {
        guard attempt.resendsLeft > 0 else {
            return moveOn(attempt, PairingFailure(.relayUnreachable, detail: detail))
        }
        var attempt = attempt
        attempt.resendsLeft -= 1
        attempt.step = .reopening
        state = .sending(attempt)
        return [.startTimer(after: Self.timeout(of: attempt.route)), .open(attempt.route)]
    }

    /// Takes the next route; without one the scan has failed.
    private mutating func moveOn(_ attempt: Attempt, _ failure: PairingFailure) -> [DeviceScanAction] {
        var attempt = attempt
        guard let next = attempt.later.first else {
            return end(.failed(attempt.wasOffline ? PairingFailure(.desktopOffline) : failure))
        }
        let old = attempt.route
        attempt.later.removeFirst()
        attempt.route = next
        attempt.step = .opening
        attempt.resendsLeft = Self.resends
        state = .sending(attempt)
        return [.close(old), .startTimer(after: Self.timeout(of: next)), .open(next)]
    }

    private mutating func succeed(_ attempt: Attempt, now: EpochMilliseconds) -> [DeviceScanAction] {
        let offer = attempt.offer
        let desktop = PairedDesktop(
            address: offer.pcPeerID, pcPeerID: offer.pcPeerID, name: offer.deviceInfo.name,
            platform: offer.deviceInfo.platform, lanSignalingURL: offer.signalingURL,
            // The host's own relay is kept only where it is the one that worked.
            relayURL: offer.relayURL ?? (attempt.route.kind == .relay ? attempt.route.url : nil),
            iceServersJSON: offer.iceServersJSON, iceExpiry: offer.iceExpiry, pairedAt: now, lastSeenAt: now)
        state = .storing(desktop, offer)
        return [.stopTimer, .store(desktop)]
    }
}
