package import Wire

/// How a scan stands, for hosts (protocol.md 2, Flow B).
package enum DeviceScanState: Sendable, Equatable {
    /// Waiting for a code.
    case scanning
    case sending(DesktopPairingOffer)
    case success(PairedDesktop)
    case failed(PairingFailure)
}

/// What the owner of a ``DeviceScanStateMachine`` does for it, in this order.
///
/// The next event may be given while an action is carried out: what can cause one at once comes last.
package enum DeviceScanAction: Sendable, Equatable {
    /// Be registered there with the own DID, over a new connection or one that there is already (a second one would
    /// drive out the first). Then `routeOnline`, at once if it is; or `routeFailed`, also for an address that is none.
    case open(PairingRoute)
    /// Send the ack there, then say `ackSent`.
    case sendAck(PairAck, to: PeerID, over: PairingRoute)
    /// The scan needs this connection no more. After a success the one that worked is not closed: it is the desktop's.
    case close(PairingRoute)
    /// Call `stepTimedOut` in so many milliseconds; replaces the timer before it.
    case startTimer(after: UInt64)
    case stopTimer
    /// Write it to the store, then say `stored` or `storeFailed`.
    case store(PairedDesktop)
    /// Tell the host.
    case report(DeviceScanState)
}

/// Who scans.
package struct PairingIdentity: Sendable, Equatable {
    package var did: PeerID
    package var deviceInfo: PairingDeviceInfo

    package init(did: PeerID, deviceInfo: PairingDeviceInfo) {
        self.did = did
        self.deviceInfo = deviceInfo
    }
}
