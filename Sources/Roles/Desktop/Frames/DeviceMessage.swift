import JSON
import Pairing
import Peering
import Sealing
import Wire

/// A paired device's message, decoded once, with everything that its handling needs.
///
/// What only counts in a seal is `ignored` in plain text.
enum DeviceMessage {
    case request(CommandRequest)
    /// It has stored all pushes through this one, which was sealed in that epoch of ours; with a hello it has just
    /// registered.
    case position(through: Int64, epoch: Int64?, isHello: Bool, SealMark)
    /// It ends its pairing.
    case unpair(SealMark)
    case token(PushTokenStatement, SealMark)
    case prekeys(PrekeyStatement, SealMark)
    case receipt(PushReceipt)
    /// A deployed phone asks whether the desktop is there; the whole payload.
    case heartbeat(JSONValue)
    /// For the host to read, as a `command`.
    case forHost(type: String, JSONObject)
    /// A request that cannot be read, but answered.
    case malformedRequest(AnswerableRequest, description: String)
    case malformed(description: String)
    case ignored

    /// Whether it must have been sealed since this desktop started, if it is in version 1 of the seal. After a backup was
    /// restored, the desktop may no longer know which older messages it has had (WireSealing, "Replay protection"). A
    /// position names the start that it is about, if the device knows it.
    var needsThisStart: Bool {
        switch self {
        case .request, .token, .prekeys, .receipt, .forHost, .malformedRequest: true
        case .position(_, let epoch, _, _): epoch == nil
        case .unpair, .heartbeat, .malformed, .ignored: false
        }
    }

    init(_ payload: Payload, from device: PairedDevice, _ mark: SealMark?) {
        switch payload {
        case .request(let request): self = .request(request)
        case .bellwire(let type, let fields): self = DeviceMessage(type, fields, from: device, mark)
        case .malformed(let error):
            let description = error.description
            self =
                error.request.map { .malformedRequest($0, description: description) }
                ?? .malformed(description: "a device's payload: \(description)")
        case .other(PayloadType.heartbeat, let value) where mark == nil: self = .heartbeat(value)
        case .other(PayloadType.heartbeat, _), .other(PayloadType.heartbeatAck, _): self = .ignored
        case .other(let type, let value): self = .forHost(type: type, ["payload": value])
        case .otherEvent(let name, let fields):
            self = .forHost(type: PayloadType.event, ["event": .string(name), "payload": .object(fields)])
        case .cancel, .response, .event, .pairAck, .pairingConfirmation, .pairingReject, .iceConfig: self = .ignored
        }
    }

    /// A payload with a type that begins with `bellwire:`. Most of them count only inside a seal (WireSealing, "After a
    /// sealed pairing").
    private init(_ type: String, _ fields: JSONObject, from device: PairedDevice, _ mark: SealMark?) {
        switch type {
        case PushAcknowledgement.type:
            guard let mark, let acknowledgement = PushAcknowledgement(payload: fields) else { break }
            self = .position(
                through: acknowledgement.pushSeq, epoch: acknowledgement.epoch, isHello: false, mark)
            return
        case PairingHello.type:
            guard let mark, let hello = try? PairingHello(payload: fields), PushSeq.isOne(hello.lastPushSeq) else {
                break
            }
            self = .position(through: hello.lastPushSeq, epoch: hello.epoch, isHello: true, mark)
            return
        case Unpair.type:
            guard let mark else { break }
            self = .unpair(mark)
            return
        case PushTokenStatement.givenType, PushTokenStatement.removedType:
            guard let mark else { break }
            let ids = [device.deviceID, device.did.text]
            self =
                PushTokenStatement(type: type, payload: fields, of: ids).map { .token($0, mark) }
                ?? .malformed(description: "a device's malformed push token, or one of another device")
            return
        case PrekeyStatement.type:
            guard let mark, mark.isOfSession else { break }
            self =
                (try? PrekeyStatement(payload: fields)).map { .prekeys($0, mark) }
                ?? .malformed(description: "a device's malformed prekeys")
            return
        case PushReceipt.type:
            guard mark != nil else { break }
            self =
                PushReceipt(payload: fields).map { .receipt($0) }
                ?? .malformed(description: "a device's malformed receipt")
            return
        default:
            self = .forHost(type: type, ["payload": .object(fields)])
            return
        }
        self = .ignored
    }
}

extension Payload {
    /// May a pairing flow be waiting for it?
    var isOfPairing: Bool {
        switch self {
        case .pairAck, .pairingReject, .bellwire(PairingHello.type, _): true
        case .request, .response, .cancel, .event, .otherEvent, .pairingConfirmation, .iceConfig, .bellwire, .other,
            .malformed:
            false
        }
    }

    var isAck: Bool { if case .pairAck = self { true } else { false } }
}
