import Identity
import Wire

/// One scan under way: what was scanned, over which relays it goes, and what of it was tried.
struct DeviceScanAttempt: Sendable, Equatable {
    enum Phase: Sendable, Equatable {
        /// No ack is out; waiting until we are registered somewhere. On the last call every relay has failed once.
        case seeking(isLastCall: Bool)
        /// The ack came back everywhere. A Bellwire desktop may be on its way back.
        case pausing
        /// The ack was handed out to be sent.
        case sendingAck(RouteID)
        /// The ack was written; waiting for what becomes of it.
        case awaiting(RouteID)

        /// Where the ack is.
        var carrier: RouteID? {
            switch self {
            case .seeking, .pausing: nil
            case .sendingAck(let route), .awaiting(let route): route
            }
        }
    }

    struct Path: Sendable, Equatable {
        enum Status: Sendable, Equatable {
            /// Not asked for yet.
            case later
            case opening
            /// It has failed and comes back by itself, perhaps.
            case ailing
            case online
            /// It is no use.
            case failed
        }

        let route: PairingRoute
        var status: Status = .later
        /// The ack came back over it.
        var hasBounced = false

        /// Does the scan hold a connection for it?
        var isHeld: Bool {
            switch status {
            case .opening, .ailing, .online: true
            case .later, .failed: false
            }
        }
    }

    let offer: DesktopPairingOffer
    let identity: PairingIdentity
    /// `nil` where the desktop seals nothing.
    let bond: PairingBond?
    /// This side's part of the digits to compare; `nil` where the desktop knows of no revision.
    let random: PairingRandom?
    /// What this side offers; `nil` = nothing, like a peer without sessions.
    let versions: SealVersions?
    /// Since the desktop has sent its part.
    private(set) var exchange: RevealedExchange?
    var paths: [Path]
    var phase: Phase = .seeking(isLastCall: false)
    /// Where the last ack went.
    var lastCarrier: PairingRoute?
    /// So often a route may break under the ack.
    var breaksLeft = 2
    /// So often the ack is tried anew after it came back everywhere.
    var retriesLeft: Int
    /// So many more times the confirmation is waited for, and the ack repeated in between.
    var waitsLeft: Int
    /// What the last failure of a relay was, for people.
    var detail: String?
    /// A relay has said that the desktop is not there: the better reason, should the next relay not answer.
    var wasOffline = false

    init(
        offer: DesktopPairingOffer, identity: PairingIdentity, bond: PairingBond?, random: PairingRandom,
        versions: SealVersions?, routes: [PairingRoute]
    ) {
        self.offer = offer
        self.identity = identity
        self.bond = bond?.offering(OfferedVersions(code: offer.seal?.versions, answer: versions))
        self.versions = versions
        self.random = bond != nil && offer.seal?.hasRevision == true ? random : nil
        paths = routes.map { Path(route: $0) }
        retriesLeft = bond == nil ? 0 : 2
        waitsLeft = offer.seal?.confirm == true ? 16 : 4
    }

    /// The ack for the present moment. It commits to the random bytes, and reveals them once the desktop has sent its own.
    func ack(at now: EpochMilliseconds) -> PairAck {
        let info = identity.deviceInfo
        guard let bond else {
            return PairAck(code: offer.code, mobileDID: identity.did, deviceInfo: info, timestamp: now)
        }
        var ack =
            if let exchange {
                exchange.ack(of: info, at: now)
            } else if let random {
                bond.ack(of: info, committingTo: random.commitment, at: now)
            } else {
                bond.ack(of: info, at: now)
            }
        ack.versions = versions
        return ack
    }

    /// `false` if the challenge is not proved. Nor is a second one with other random bytes: whoever sends it may have seen
    /// what this side has revealed.
    mutating func take(_ challenge: PairingChallenge) -> Bool {
        guard let bond, let random, let theirs = PairingRandom(base64url: challenge.random) else { return false }
        let new = CommittedExchange(bond: bond, commitment: random.commitment, desktopRandom: theirs)
        guard new.proves(challenge), exchange == nil || exchange?.exchange == new else { return false }
        exchange = RevealedExchange(new, deviceRandom: random)
        return true
    }

    /// Does the confirmation prove that its sender has seen the code? A desktop of a revision has to take part in the
    /// exchange first.
    func isProved(by confirmation: PairingConfirmation) -> Bool {
        guard random == nil else { return exchange?.proves(confirmation) == true }
        return bond?.proves(confirmation) == true
    }

    /// Sets the status of the route's path; `false` if the scan has no such path.
    mutating func set(_ route: RouteID, _ status: Path.Status) -> Bool {
        guard let index = paths.firstIndex(where: { $0.route.id == route }) else { return false }
        paths[index].status = status
        return true
    }

    mutating func bounce(_ route: RouteID) {
        for index in paths.indices where paths[index].route.id == route { paths[index].hasBounced = true }
    }

    func status(of route: RouteID) -> Path.Status? { paths.first { $0.route.id == route }?.status }

    /// Everything is asked for again, one after the other, as at the beginning.
    mutating func startOver() {
        for index in paths.indices {
            paths[index].status = .later
            paths[index].hasBounced = false
        }
        phase = .seeking(isLastCall: false)
    }

    /// The desktop, when all went well at `now`.
    ///
    /// - Parameter isConfirmed: it has answered.
    func desktop(at now: EpochMilliseconds, isConfirmed: Bool) -> PairedDesktop {
        func worked(_ url: String?) -> EpochMilliseconds? {
            url.flatMap { url in
                paths.contains { $0.route.url == url && $0.status == .online } ? now : nil
            }
        }
        // The host's own relay is kept only where it is the one that worked.
        let relayURL = offer.relayURL ?? lastCarrier.flatMap { $0.kind == .relay ? $0.url : nil }
        return PairedDesktop(
            address: offer.pcPeerID, pcPeerID: offer.pcPeerID, name: offer.deviceInfo.name,
            platform: offer.deviceInfo.platform, lanSignalingURL: offer.signalingURL, relayURL: relayURL,
            lanWorkedAt: worked(offer.signalingURL), relayWorkedAt: worked(relayURL),
            iceServersJSON: offer.iceServersJSON, iceExpiry: offer.iceExpiry, pairedAt: now, lastSeenAt: now,
            isSecure: bond != nil, isConfirmed: isConfirmed,
            shortString: random == nil ? bond?.shortString : exchange?.shortString)
    }
}
