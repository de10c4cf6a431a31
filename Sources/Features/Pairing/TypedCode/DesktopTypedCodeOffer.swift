import Identity
import Wire

/// A typed code that a desktop shows, and what was tried against it.
struct DesktopTypedCodeOffer: Sendable {
    /// After so many wrong runs the code is invalid (WirePairing, "Agreeing on a key"). Each of them is one guess in a
    /// million.
    static let unconfirmedLimit = 3
    /// So many runs are kept at most, those that went well included: a device may have to begin anew.
    static let runLimit = 8
    /// So many shares that are none are looked at: each takes time, and no honest device sends one.
    static let badShareLimit = 64

    /// One run of CPace that was answered and has not gone wrong.
    struct Run: Sendable {
        let device: PeerID
        let deviceShare: String
        let responder: CPaceResponder
        /// The device has shown that it knows the code.
        var bond: PairingBond?
    }

    let nameplate: PairingCode
    let password: PairingCode
    let identity: PairingIdentity
    let asksPerson: Bool
    let legacy: LegacyPairing
    /// What this side offers; `nil` = nothing, like a peer without sessions.
    let versions: SealVersions?
    /// See ``DesktopTypedCodeStateMachine/pauses``.
    let pauses: [EpochMilliseconds]
    var runs: [Run] = []
    /// Runs that were answered and not confirmed, those that are under way included.
    var unconfirmed = 0
    /// When the last of these was answered.
    var answeredAt: EpochMilliseconds = 0
    var badShares = 0
    /// Who sent a plain ack and was not accepted.
    var refused = RefusedSenders()
    /// So often the alias may belong to another.
    var codesLeft = 5

    var code: PairingTypedCode { .sealed(nameplate: nameplate, password: password) }

    /// Nobody is left who could still confirm, and too many have not.
    var isBurnt: Bool {
        unconfirmed >= Self.unconfirmedLimit && !runs.contains { $0.bond == nil }
    }

    /// Must a new run wait?
    func isPaused(at now: EpochMilliseconds) -> Bool {
        guard unconfirmed > 0, let pause = pauses.prefix(unconfirmed).last else { return false }
        // A clock that was set back ends the pause.
        return now >= answeredAt && now - answeredAt < pause
    }

    /// What an ack of a device proves.
    enum Proof: Sendable, Equatable {
        case valid(PairingBond)
        /// Its sender has the key and offers versions of the seal, but has not seen those of step 2; or somebody has taken
        /// its own out of the ack.
        case downgraded
        case wrong
    }

    /// Of several runs of one device the newest is the one that it goes by.
    func proof(in ack: PairAck) -> Proof {
        let offered = OfferedVersions(code: versions, answer: ack.versions)
        for run in runs.reversed() {
            guard let bond = run.bond else { continue }
            let isOffering = versions != nil && OfferedVersions.isMarked(run.responder.sid)
            if offered != nil || !isOffering, bond.offering(offered).proves(ack) {
                return .valid(bond.offering(offered))
            }
            if offered != nil || isOffering, bond.proves(ack) { return .downgraded }
        }
        return .wrong
    }

    func run(_ sid: String, of device: PeerID) -> Int? {
        runs.firstIndex { $0.responder.sid == sid && $0.device == device }
    }
}
