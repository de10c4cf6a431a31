import JSON
package import Pairing
import Signalling
package import Wire

extension DesktopScanStateMachine: PairingMachine {
    package static let flow = PairingFlow.scan

    package static func step(_ action: DesktopScanAction) -> PairingStep<PairedDevice> {
        switch action {
        case .startTimer(let delay): .startTimer(after: delay)
        case .stopTimer: .stopTimer
        case .sendConfirmation(let confirmation, let peer, let sealed):
            .send(PairingMessage(flow, confirmation.json, to: peer, isSealed: sealed, .everywhere))
        case .repeatConfirmation(let confirmation, let peer):
            .send(PairingMessage(flow, confirmation.json, to: peer, isSealed: true, .lastHeard(nil)))
        case .withdraw(let peer): .withdraw(peer)
        case .store(let device): .store(device)
        case .report(let state): .report(PairingReport(state.data))
        }
    }

    package var asksPerson: Bool { if case .confirming = reported { true } else { false } }

    package mutating func timerFired(now: EpochMilliseconds) -> [DesktopScanAction] { timedOut(now: now) }
    package mutating func cancel(because reason: PairingReason) -> [DesktopScanAction] { cancel() }

    package mutating func peerOffline(
        _ peer: PeerID, over route: RouteID, now: EpochMilliseconds
    ) -> [DesktopScanAction] { peerOffline(peer) }

    package mutating func relayRefused(
        over route: RouteID, detail: String?, now: EpochMilliseconds
    ) -> [DesktopScanAction] { relayRefused(detail: detail) }

    package mutating func sent(
        _ message: PairingMessage, relays: Int, now: EpochMilliseconds
    ) -> [DesktopScanAction] {
        message.path == .everywhere ? confirmationSent(toRelays: relays, now: now) : []
    }
}

extension DesktopOfferStateMachine: PairingMachine {
    package static let flow = PairingFlow.offer

    package static func step(_ action: DesktopOfferAction) -> PairingStep<PairedDevice> {
        switch action {
        case .startTimer(let delay): .startTimer(after: delay)
        case .stopTimer: .stopTimer
        case .store(let device): .store(device)
        case .sendChallenge(let challenge, let peer):
            .send(PairingMessage(flow, challenge.json, to: peer, isSealed: true, .lastHeard(nil)))
        case .sendConfirmation(let confirmation, let peer):
            .send(PairingMessage(flow, confirmation.json, to: peer, isSealed: true, .lastHeard(nil)))
        case .sendReject(let reject, let peer, let sealed):
            .send(PairingMessage(flow, reject.json, to: peer, isSealed: sealed, .lastHeard(nil)))
        case .sendICEConfig(let peer): .sendICEConfig(to: peer)
        case .report(let state): .report(PairingReport(state.data))
        }
    }

    package var asksPerson: Bool { if case .acked(_, .some) = reported { true } else { false } }

    package func interest(in frame: PairingFrame, code: PairingCode?) -> PairingInterest {
        frame.payload["type"]?.string == PayloadType.pairAck ? .shared : .none
    }

    package mutating func timerFired(now: EpochMilliseconds) -> [DesktopOfferAction] { timedOut(now: now) }
    package mutating func cancel(because reason: PairingReason) -> [DesktopOfferAction] { cancel() }

    package mutating func storeFailed(_ device: PairedDevice, detail: String?) -> [DesktopOfferAction] {
        storeFailed(device.did, detail: detail)
    }
}

extension DesktopTypedCodeStateMachine: PairingMachine {
    package static let flow = PairingFlow.code

    package static func step(_ action: DesktopTypedCodeAction) -> PairingStep<PairedDevice> {
        switch action {
        case .openAlias(let id): .openAlias(id)
        case .closeAlias: .closeAlias
        case .sendExchange(let exchange, let peer):
            .send(PairingMessage(flow, exchange.json, to: peer, isSealed: false, .alias))
        case .sendPlainConfirmation(let confirmation, let peer):
            .send(PairingMessage(flow, confirmation.json, to: peer, isSealed: false, .lastHeard(nil)))
        case .sendWrongCode(let reject, let peer):
            .send(PairingMessage(flow, reject.json, to: peer, isSealed: false, .alias))
        case .sendConfirmation(let confirmation, let peer):
            .send(PairingMessage(flow, confirmation.json, to: peer, isSealed: true, .lastHeard(nil)))
        case .sendReject(let reject, let peer, let sealed):
            .send(PairingMessage(flow, reject.json, to: peer, isSealed: sealed, .lastHeard(nil)))
        case .sendICEConfig(let peer): .sendICEConfig(to: peer)
        case .startTimer(let delay): .startTimer(after: delay)
        case .stopTimer: .stopTimer
        case .store(let device): .store(device)
        case .report(let state): .report(PairingReport(state.data, state.outcome))
        }
    }

    package var asksPerson: Bool { if case .acked(_, .some) = reported { true } else { false } }
    /// Nobody is left to display the code.
    package var endsUnawaited: Bool { reported == .connecting }

    /// An ack names its flow only by its code; the codes of an offer and of this flow always differ.
    package func interest(in frame: PairingFrame, code: PairingCode?) -> PairingInterest {
        guard let code, frame.isSealed, frame.payload["type"]?.string == PayloadType.pairAck,
            frame.payload["pairingCode"]?.string == code.digits
        else { return .none }
        return .sole
    }

    package mutating func timerFired(now: EpochMilliseconds) -> [DesktopTypedCodeAction] { timedOut(now: now) }
    package mutating func cancel(because reason: PairingReason) -> [DesktopTypedCodeAction] { cancel(reason) }

    package mutating func storeFailed(_ device: PairedDevice, detail: String?) -> [DesktopTypedCodeAction] {
        storeFailed(device.did, detail: detail)
    }
}
