package import JSON
package import Wire

/// The state of a code that a desktop shows to be typed, for hosts (WirePairing, "States and reasons").
package indirect enum DesktopTypedCodeState: Sendable, Equatable {
    case idle
    /// A relay is asked for the alias: nobody could type a code before that.
    case connecting
    /// Shown until `expiresAt`, in epoch milliseconds.
    case displaying(PairingTypedCode, expiresAt: EpochMilliseconds)
    /// A device has proved that it knows the code. With `answerBy` a person has until then to accept it; without, it is
    /// being stored.
    case acked(PairedDevice, answerBy: EpochMilliseconds?)
    /// Where it was sealed, the device has the short authentication string.
    case paired(PairedDevice)
    case expired
    case cancelled
    case failed(PairingFailure)

    /// `pairing.changed`: `{"flow":"code","state",…}`.
    package var data: JSONObject {
        switch self {
        case .idle: ["flow": "code", "state": "idle"]
        case .connecting: ["flow": "code", "state": "connecting"]
        case .displaying(let code, let expiresAt):
            ["flow": "code", "state": "displaying", "code": .string(code.text), "expiresAt": .integer(expiresAt)]
        case .acked(let device, let answerBy): device.ackedData(flow: "code", answerBy: answerBy)
        case .paired(let device): ["flow": "code", "state": "paired", "device": .object(device.json)]
        case .expired: PairingFailure(.expired).data(flow: "code", state: "expired")
        case .cancelled: PairingFailure(.cancelled).data(flow: "code", state: "cancelled")
        case .failed(let failure): failure.data(flow: "code")
        }
    }
}

/// The actions that the owner of a ``DesktopTypedCodeStateMachine`` performs, in this order.
///
/// The next event may be given while an action is carried out: what can cause one at once comes last.
package indirect enum DesktopTypedCodeAction: Sendable, Equatable {
    /// Be registered with this id on a connection of its own, at a relay that has the desktop registered as well. Then
    /// `aliasOnline`; `aliasTaken` where it belongs to another; `aliasFailed` for anything else. A connection that breaks
    /// comes back by itself.
    case openAlias(PeerID)
    case closeAlias
    /// Send a step of CPace over the alias's connection, so that it comes from the alias.
    case sendExchange(PairingExchange, to: PeerID)
    /// Say over the alias's connection that the code was a wrong one.
    case sendWrongCode(PairingReject, to: PeerID)
    /// Tell the device, sealed, over the desktop's own connection, that it is paired.
    case sendConfirmation(PairingConfirmation, to: PeerID)
    /// Tell a deployed device, in plain text, that it is paired: an iPhone waits for this.
    case sendPlainConfirmation(PairingConfirmation, to: PeerID)
    /// Tell the device over the desktop's own connection that it was declined; in a seal where it had sealed its ack.
    case sendReject(PairingReject, to: PeerID, sealed: Bool)
    /// Send a deployed device its ICE servers over the desktop's own connection: Android waits for these.
    case sendICEConfig(to: PeerID)
    /// Call `timedOut` in so many milliseconds; replaces the timer before it.
    case startTimer(after: UInt64)
    case stopTimer
    /// Write it to the store, then say `stored` or `storeFailed`.
    case store(PairedDevice)
    /// Tell the host.
    case report(DesktopTypedCodeState)
}
