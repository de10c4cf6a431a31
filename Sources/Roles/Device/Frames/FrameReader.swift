import Delivery
import Hosting
import JSON
import Notifications
import Pairing
import Peering
import Sealing
import Signalling
import Store
import Transport
import Wire

/// Reads what paired desktops send: what each payload is, and what of it is for the program alone.
@EventLoop
final class FrameReader {
    enum Action {
        case push(ReceivedPush)
        /// A push that the desktop waits for an answer to.
        case requestedPush(ReceivedPush, then: @EventLoop (PushCarrier.CallEnd) -> Void)
        /// The answer to a request of the desktop.
        case answer(JSONValue)
        case skip(ReceivedSkip)
        /// A change of the desktop's state (WireMessages, "State changes").
        case state(StateEvent, SealMark?)
        case response(CommandResponse)
        case iceConfig(ICEConfig, SealMark?)
        case unpaired(SealMark)
        case prekeyShortage(PrekeyShortage)
        case malformedPush
    }

    /// What was dropped, for the host to read.
    struct Counters {
        var refusedByRelay: Int64 = 0
        var malformedFrames: Int64 = 0
        var malformedPayloads: Int64 = 0
        /// Encrypted texts that no paired desktop's key opens.
        var unopenedBodies: Int64 = 0
    }

    private(set) var counters = Counters()
    private let context: DeviceContext
    private let book: DesktopBook
    private let channel: PeerChannel
    private let emit: @EventLoop (Action, PeerID) -> Void

    init(
        _ context: DeviceContext, _ book: DesktopBook, _ channel: PeerChannel,
        emit: @escaping @EventLoop (Action, PeerID) -> Void
    ) {
        self.context = context
        self.book = book
        self.channel = channel
        self.emit = emit
    }

    /// A relay has refused a frame of ours.
    func refused(by relay: String) {
        counters.refusedByRelay &+= 1
        context.channel.log(.warning, "the relay \(relay) refused a frame")
    }

    /// A relay has sent something that can't be read.
    func dropped(_ error: SignallingFrameError, from relay: String) {
        counters.malformedFrames &+= 1
        context.channel.log(.warning, "dropped a frame from the relay \(relay): \(error.message)")
    }

    /// Something came from a paired desktop, in the way in which it was paired. Some payloads are stored together with
    /// their mark; all others have an effect once it is recorded.
    func read(_ incoming: Incoming, over route: RouteID) {
        let peer = incoming.from
        let payload = Payload(decoding: incoming.payload)
        // Only a desktop without sealing can have been paired unconfirmed.
        if incoming.isLive, !incoming.isSealed, payload.confirmsPairing { book.confirmed(peer) }
        switch payload {
        case .event(let event): emit(.push(received(event, incoming, over: route)), peer)
        case .otherEvent(let name, let fields): readEvent(name, fields, incoming)
        case .bellwire(PushSkip.type, let fields) where incoming.isSealed:
            guard let mark = incoming.mark, let skip = PushSkip(payload: fields) else { return save(incoming.mark) }
            emit(.skip(ReceivedSkip(desktop: peer, through: skip.through, mark: mark, route: route)), peer)
        case .bellwire(Unpair.type, let fields):
            guard let mark = incoming.mark else { return tell(Unpair.type, ["payload": .object(fields)], incoming) }
            emit(.unpaired(mark), peer)
        case .bellwire(PrekeyShortage.type, let fields):
            // In sessions alone.
            guard incoming.mark?.isOfSession == true, let shortage = PrekeyShortage(payload: fields) else {
                return save(incoming.mark)
            }
            emit(.prekeyShortage(shortage), peer)
        case .iceConfig(let object):
            // A sealed frame speaks for its sender alone.
            guard let config = try? ICEConfig(payload: object), !incoming.isSealed || config.pcPeerID ?? peer == peer
            else {
                counters.malformedPayloads &+= 1
                return save(incoming.mark)
            }
            emit(.iceConfig(config, incoming.mark), peer)
        case .response(let response):
            // Its id is valid only once, so the waiting call need not wait for the disk.
            emit(.response(response), peer)
            save(incoming.mark)
        case .malformed(let malformed): drop(malformed, incoming)
        case .bellwire(PairingChallenge.type, _) where incoming.isSealed:
            channel.once(incoming.mark, countsReplay: false) { _ in }
        case .bellwire(let type, let fields): tell(type, ["payload": .object(fields)], incoming)
        case .request(let request) where request.method == NotificationEvent.requestMethod:
            readPush(request, incoming, over: route)
        case .request(let request):
            let refusal = DesktopRequest(request.answerable, in: incoming).answer(.error(.noSuchMethod))
            tell(PayloadType.request, ["payload": request.payload], incoming, answer: refusal)
        case .other(PayloadType.heartbeat, _), .other(PayloadType.heartbeatAck, _): save(incoming.mark)
        case .other(let type, let value): tell(type, ["payload": value], incoming)
        case .cancel: save(incoming.mark)
        case .pairAck, .pairingConfirmation, .pairingReject: channel.once(incoming.mark, countsReplay: false) { _ in }
        }
    }

    private func received(_ event: NotificationEvent, _ incoming: Incoming, over route: RouteID) -> ReceivedPush {
        var event = event
        open(&event, from: incoming.from)
        // Numbers count in a seal only.
        return ReceivedPush(
            desktop: incoming.from,
            notification: Notification(event, receivedAt: .now, late: incoming.isLate(event)),
            seq: incoming.isSealed ? event.pushSeq : nil, mark: incoming.mark, route: route)
    }

    /// A targeted push of a deployed desktop (WireDeployedRequests, "Requests to a device"). It is answered once it is stored.
    private func readPush(_ request: CommandRequest, _ incoming: Incoming, over route: RouteID) {
        do throws(MalformedPayload) {
            let push = try received(NotificationEvent(request: request), incoming, over: route)
            let asked = DesktopRequest(request.answerable, in: incoming)
            let then: @EventLoop (PushCarrier.CallEnd) -> Void = { [emit] end in
                if let outcome = end.answer { emit(.answer(asked.answer(outcome)), incoming.from) }
            }
            emit(.requestedPush(push, then: then), incoming.from)
        } catch {
            drop(error, incoming)
        }
    }

    private func readEvent(_ name: String, _ fields: JSONObject, _ incoming: Incoming) {
        do throws(MalformedPayload) {
            guard let event = try StateEvent(name: name, fields) else {
                return tell("chainlesschain:event", ["event": .string(name), "payload": .object(fields)], incoming)
            }
            emit(.state(event, incoming.mark), incoming.from)
        } catch {
            counters.malformedPayloads &+= 1
            let sender = book.peers.peer(incoming.from)?.name ?? incoming.from.text
            context.channel.log(.warning, "dropped an event from \(sender): \(error)")
            save(incoming.mark)
        }
    }

    private func drop(_ malformed: MalformedPayload, _ incoming: Incoming) {
        once(incoming.mark) { [self] in
            guard let desktop = book.peers.peer(incoming.from) else { return }
            counters.malformedPayloads &+= 1
            if malformed.kind == .event { emit(.malformedPush, desktop.id) }
            if let request = malformed.request, let refusal = malformed.refusal {
                emit(.answer(DesktopRequest(request, in: incoming).answer(refusal.outcome)), desktop.id)
            }
            context.channel.log(.warning, "dropped a payload from \(desktop.name): \(malformed)")
        }
    }

    /// Passes messages that the library does not handle to the program, unless the desktop has been unpaired in the
    /// meantime.
    ///
    /// - Parameter answer: what the desktop gets.
    private func tell(_ type: String, _ fields: JSONObject, _ incoming: Incoming, answer: JSONValue? = nil) {
        once(incoming.mark) { [self] in
            guard book.peers.contains(incoming.from) else { return }
            if let answer { emit(.answer(answer), incoming.from) }
            var data: JSONObject = ["type": .string(type)]
            data.merge(fields)
            context.channel.post(HostEvent(.command, desktop: incoming.from.text, data: data))
        }
    }

    /// What a frame brings about comes after its mark was recorded, and once.
    private func once(_ mark: SealMark?, then: @escaping @Sendable @EventLoop () -> Void) {
        channel.once(mark) { [context] once in
            switch once {
            case .first: then()
            case .failed(let error) where error.code != .closed:
                context.channel.problem("store_failed", "dropped a message from a desktop: \(error.message)")
            case .replayed, .failed: break
            }
        }
    }

    /// A frame that has no effect.
    private func save(_ mark: SealMark?) { once(mark) {} }

    /// Opens `encrypted_body` with the keys of the pairing; what can't be opened leaves the text as it was.
    ///
    /// - Parameter desktop: `nil` = whichever has sent it.
    func open(_ event: inout NotificationEvent, from desktop: PeerID?) {
        guard let encrypted = event.richer.encryptedBody else { return }
        let candidates = desktop.map { [$0] } ?? book.peers.ids
        for candidate in candidates where book.peers.peer(candidate)?.isSecure == true {
            guard let text = channel.openText(encrypted, from: candidate) else { continue }
            event.body = text
            event.richer.encryptedBody = nil
            return
        }
        counters.unopenedBodies &+= 1
    }
}

extension Payload {
    /// Whether a desktop sends this to its own devices alone.
    fileprivate var confirmsPairing: Bool {
        switch self {
        case .event, .otherEvent, .iceConfig, .request: true
        case .response(let response): if case .result = response.outcome { true } else { false }
        default: false
        }
    }
}

extension Incoming {
    /// A push that was sent this long after its creation has waited for us. Both times are by its sender's clock.
    private static let liveTime: Int64 = 2_000

    fileprivate func isLate(_ event: NotificationEvent) -> Bool {
        guard isLive else { return true }
        guard let sealedAt, let madeAt = event.timestamp else { return false }
        return sealedAt &- madeAt > Self.liveTime
    }
}
