import Identity
import Wire

/// One typed code under way.
struct DeviceTypedCodeAttempt: Sendable {
    /// How far it has come with the desktop.
    enum Stage: Sendable {
        /// Six digits: the plain ack goes to the alias.
        case plain
        /// Step 1 goes to the alias.
        case share(CPaceInitiator)
        /// Step 3 goes to the alias.
        case confirm(CPaceKey, sid: String, desktop: PeerID)
        /// Both have the same key: the sealed ack goes to the desktop.
        case ack(PairingBond)
    }

    let code: PairingTypedCode
    let identity: PairingIdentity
    let route: PairingRoute
    /// What this side offers; `nil` = nothing, like a peer without sessions.
    let versions: SealVersions?
    var stage: Stage
    /// What the desktop's step 2 offers.
    var desktopVersions: SealVersions?
    var isOnline = false
    /// Something was handed out to be sent: from then on the desktop's minute runs.
    var hasSent = false
    /// So many more times an answer is waited for, and what was sent last is repeated in between.
    var waitsLeft: Int
    /// So often a relay may say that the desktop is gone, once it was there.
    var absencesLeft = 2
    /// So often the route may break: it comes back by itself, but not for ever.
    var breaksLeft: Int
    /// What the relay's last failure was.
    var detail: String?

    var reported: DeviceTypedCodeState { hasSent ? .waiting(code) : .submitting(code) }

    /// What is to be sent, now or again.
    func frame(at now: EpochMilliseconds) -> PairingStep<PairedDesktop> {
        let did = identity.did
        switch stage {
        case .plain:
            let ack = PairAck(
                code: code.nameplate, mobileDID: did, deviceInfo: identity.deviceInfo, timestamp: now)
            return .send(.ack(ack), to: code.alias, sealed: false, .over(route.id))
        case .share(let run):
            let step = PairingExchange.Step.deviceShare(did: did, share: run.share)
            let exchange = PairingExchange(sid: run.sid, step: step, versions: versions)
            return .send(.exchange(exchange), to: code.alias, sealed: false, .over(route.id))
        case .confirm(let key, let sid, _):
            let step = PairingExchange.Step.deviceConfirm(key.confirmation(of: .device))
            let exchange = PairingExchange(sid: sid, step: step)
            return .send(.exchange(exchange), to: code.alias, sealed: false, .over(route.id))
        case .ack(let bond):
            var ack = bond.ack(of: identity.deviceInfo, at: now)
            ack.versions = versions
            return .send(.ack(ack), to: bond.desktop, sealed: true, .over(route.id))
        }
    }

    /// Whom that goes to.
    var target: PeerID {
        switch stage {
        case .plain, .share, .confirm: code.alias
        case .ack(let bond): bond.desktop
        }
    }
}
