package import JSON
package import Wire

/// Flow B on the desktop: it shows a code and waits for the device that scans it (protocol.md 2).
///
/// Pure: `now` is the wall clock in epoch milliseconds, timers are asked for by actions. Every offer ends: after five
/// minutes by itself. A newer offer replaces the one before. What is wrong with an ack is never answered, only counted: a
/// guesser learns nothing.
package struct DesktopOfferStateMachine: Sendable {
    /// What a person has to confirm a device, in milliseconds.
    package static let confirmationTime: UInt64 = 30_000

    enum State: Sendable, Equatable {
        case idle
        case displaying(Offer)
        /// A person is asked.
        case confirming(PairedDevice, Offer)
        case storing(PairedDevice, Offer)
        case paired(PairedDevice, Offer)
        case expired
        case cancelled
        case failed(PairingFailure)
    }

    struct Offer: Sendable, Equatable {
        let payload: DesktopPairingOffer
        let asksPerson: Bool

        var expiresAt: EpochMilliseconds {
            payload.timestamp.addingReportingOverflow(DesktopPairingOffer.lifetime).overflow
                ? .max : payload.timestamp &+ DesktopPairingOffer.lifetime
        }
    }

    private(set) var state: State = .idle
    package private(set) var dropped = DroppedAcks()

    package init() {}

    package var reported: DesktopOfferState {
        switch state {
        case .idle: .idle
        case .displaying(let offer): .displaying(offer.payload, expiresAt: offer.expiresAt)
        case .confirming(let device, _), .storing(let device, _): .acked(device)
        case .paired(let device, _): .paired(device)
        case .expired: .expired
        case .cancelled: .cancelled
        case .failed(let failure): .failed(failure)
        }
    }

    /// Can the offer still lead to a pairing?
    package var isActive: Bool {
        switch state {
        case .displaying, .confirming, .storing: true
        case .idle, .paired, .expired, .cancelled, .failed: false
        }
    }
}

// MARK: The host

extension DesktopOfferStateMachine {
    /// Shows an offer, which begins now: its `timestamp` is the present. With `confirm` a person has to accept the device.
    package mutating func show(_ payload: DesktopPairingOffer, confirm: Bool = false) -> [DesktopOfferAction] {
        let offer = Offer(payload: payload, asksPerson: confirm)
        var actions: [DesktopOfferAction] = []
        if case .confirming(let device, let old) = state { actions.append(reject(device, old)) }
        state = .displaying(offer)
        return actions + [
            .startTimer(after: UInt64(DesktopPairingOffer.lifetime)),
            .report(.displaying(payload, expiresAt: offer.expiresAt)),
        ]
    }

    /// Takes the offer back. Too late once the device is being stored.
    package mutating func cancel() -> [DesktopOfferAction] {
        switch state {
        case .displaying:
            state = .cancelled
            return [.stopTimer, .report(.cancelled)]
        case .confirming(let device, let offer):
            state = .cancelled
            return [.stopTimer, reject(device, offer), .report(.cancelled)]
        case .idle, .storing, .paired, .expired, .cancelled, .failed: return []
        }
    }

    package enum AnswerResult: Sendable, Equatable {
        case taken([DesktopOfferAction])
        /// No device waits for an answer.
        case nothingWaits
    }

    /// The person's answer to the device that was reported as `acked`.
    package mutating func answer(accept: Bool) -> AnswerResult {
        switch state {
        case .confirming(let device, let offer):
            guard accept else {
                let failure = PairingFailure(.rejected)
                state = .failed(failure)
                return .taken([.stopTimer, reject(device, offer), .report(.failed(failure))])
            }
            state = .storing(device, offer)
            return .taken([.stopTimer, .store(device)])
        case .idle, .displaying, .storing, .paired, .expired, .cancelled, .failed: return .nothingWaits
        }
    }

    /// The time of the last `startTimer` is over.
    package mutating func timedOut() -> [DesktopOfferAction] {
        switch state {
        case .displaying:
            state = .expired
            return [.report(.expired)]
        case .confirming(let device, let offer):
            let failure = PairingFailure(.timeout)
            state = .failed(failure)
            return [reject(device, offer), .report(.failed(failure))]
        case .idle, .storing, .paired, .expired, .cancelled, .failed: return []
        }
    }
}

// MARK: The wire and the store

extension DesktopOfferStateMachine {
    /// A `pair-ack` came: the whole payload, the relay-written `from`, and the form and way in which it came.
    ///
    /// A second ack of the device that has taken the offer changes nothing and is not counted.
    package mutating func received(
        _ payload: JSONObject, from: PeerID, form: PayloadForm = .object, delivery: SignallingDelivery = .live,
        now: EpochMilliseconds
    ) -> [DesktopOfferAction] {
        let offer: Offer
        let taker: PeerID?
        switch state {
        case .displaying(let open): (offer, taker) = (open, nil)
        case .confirming(let device, let open), .storing(let device, let open), .paired(let device, let open):
            (offer, taker) = (open, device.did)
        case .idle, .expired, .cancelled, .failed:
            dropped.notOpen &+= 1
            return []
        }
        let ack: PairAck
        do throws(PairingFailure) { ack = try PairAck(decoding: payload) } catch {
            dropped.malformed &+= 1
            return []
        }
        guard delivery.isSince(offer.payload.timestamp) else {
            dropped.stored &+= 1
            return []
        }
        guard ack.mobileDID == from else {
            dropped.wrongSender &+= 1
            return []
        }
        guard ack.code == offer.payload.code else {
            dropped.wrongCode &+= 1
            return []
        }
        if let taker {
            if taker != from { dropped.notOpen &+= 1 }
            return []
        }
        // The timer may be late: a machine that slept.
        guard !offer.payload.isExpired(at: now) else {
            dropped.notOpen &+= 1
            state = .expired
            return [.stopTimer, .report(.expired)]
        }
        let info = ack.deviceInfo
        let device = PairedDevice(
            did: from, deviceID: info.deviceID ?? "", name: info.name, platform: info.platform, pairedAt: now,
            lastSeenAt: now, payloadForm: form)
        guard !offer.asksPerson else {
            state = .confirming(device, offer)
            return [.startTimer(after: Self.confirmationTime), .report(.acked(device))]
        }
        state = .storing(device, offer)
        return [.stopTimer, .report(.acked(device)), .store(device)]
    }

    /// The device is in the store, as given.
    package mutating func stored(_ device: PairedDevice) -> [DesktopOfferAction] {
        guard case .storing(let storing, let offer) = state, storing.did == device.did else { return [] }
        state = .paired(device, offer)
        return [.report(.paired(device))]
    }

    package mutating func storeFailed(_ did: PeerID, detail: String?) -> [DesktopOfferAction] {
        guard case .storing(let storing, _) = state, storing.did == did else { return [] }
        let failure = PairingFailure(.storeFailed, detail: detail)
        state = .failed(failure)
        return [.report(.failed(failure))]
    }

    private func reject(_ device: PairedDevice, _ offer: Offer) -> DesktopOfferAction {
        .sendReject(PairingReject(code: offer.payload.code), to: device.did)
    }
}
