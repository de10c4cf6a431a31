import JSON
package import Pairing
package import Wire

extension DesktopScanStateMachine: PairingMachine {
    package static let flow = PairingFlow.scan

    package var asksPerson: Bool { if case .confirming = reported { true } else { false } }

    package mutating func peerOffline(
        _ peer: PeerID, over route: RouteID, now: EpochMilliseconds
    ) -> [PairingStep<PairedDevice>] { peerOffline(peer) }

    package mutating func relayRefused(
        over route: RouteID, detail: String?, now: EpochMilliseconds
    ) -> [PairingStep<PairedDevice>] { relayRefused(detail: detail) }

    package mutating func sent(
        _ path: PairingPath, routes: Int, now: EpochMilliseconds
    ) -> [PairingStep<PairedDevice>] {
        path == .everywhere ? confirmationSent(toRelays: routes, now: now) : []
    }
}

extension DesktopOfferStateMachine: PairingMachine {
    package static let flow = PairingFlow.offer

    package var asksPerson: Bool { if case .acked(_, .some) = reported { true } else { false } }

    package func interest(in frame: PairingFrame, code: PairingCode?) -> PairingInterest {
        frame.payload["type"]?.string == PayloadType.pairAck ? .shared : .none
    }

    package mutating func cancel(_ reason: PairingReason) -> [PairingStep<PairedDevice>] { cancel() }

    package mutating func storeFailed(_ device: PairedDevice, detail: String?) -> [PairingStep<PairedDevice>] {
        storeFailed(device.did, detail: detail)
    }
}

extension DesktopTypedCodeStateMachine: PairingMachine {
    package static let flow = PairingFlow.code

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

    package mutating func storeFailed(_ device: PairedDevice, detail: String?) -> [PairingStep<PairedDevice>] {
        storeFailed(device.did, detail: detail)
    }
}
