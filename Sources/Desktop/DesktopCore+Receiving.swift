import Commands
import Hosting
import JSON
import Pairing
import Sealing
import Signalling
import Transport
import Wire

// What comes: opened where it is sealed, then to the flows that pair, then to what paired devices may do.
extension DesktopCore {
    /// How many frames of a device are kept while its pairing is being stored.
    private static let heldLimit = 64

    func received(_ message: RelayMessage, over url: String) {
        let from = message.from
        if storing[from] != nil {
            if storing[from]?.held.count ?? 0 < Self.heldLimit { storing[from]?.held.append((message, url)) }
            return
        }
        let device = devices.first { $0.did == from }
        let isSecure = device?.isSecure == true
        let frame = PairingFrame(
            reading: message.payload, from: from, isOfSecurePeer: isSecure, delivery: message.delivery)
        if message.isSealed || frame.payload["type"]?.string == SealedEnvelope.type {
            return receivedSealed(frame, of: device, over: url)
        }
        guard !isSecure else {
            // Whoever wrote it: there is no way back to plaintext (protocol.md 4.2).
            counters.plainOfSecure &+= 1
            if frame.payload["type"]?.string == PayloadType.pairAck { pair(frame, mark: nil, over: url) }
            return
        }
        if pair(frame, mark: nil, over: url) { return }
        let payload = Payload(decoding: message.payload)
        if case .pairAck = payload {
            if device != nil { heardOver[from] = url }
            return
        }
        guard let device else {
            counters.unknownSenders &+= 1
            if case .request(let request) = payload {
                respond(
                    .error(.notPaired), to: request,
                    of: Asker(did: from, isSecure: false, isBellwire: false, right: Right()), over: url)
            }
            return
        }
        heard(of: device, over: url, message.delivery)
        received(payload, of: device, mark: nil, over: url)
    }

    private func receivedSealed(_ sealed: PairingFrame, of device: PairedDevice?, over url: String) {
        guard sealed.isOfSecurePeer || canPair(sealed.from) else {
            counters.unknownSenders &+= 1
            return remindUnpaired(sealed.from, over: url)
        }
        let opened: Sealer.Opened
        do throws(SealError) { opened = try sealer.open(sealed.payload, from: sealed.from) } catch {
            return channel.log(.warning, "a sealed frame was dropped: \(error.message)")
        }
        let frame = PairingFrame(
            opened.body, from: sealed.from, isSealed: true, isOfSecurePeer: sealed.isOfSecurePeer,
            delivery: sealed.delivery)
        guard let device, device.isSecure else {
            let isTaken = pair(frame, mark: opened.mark, over: url)
            if isTaken {
                noteClock(of: frame, opened)
            } else if frame.payload["type"]?.string != PayloadType.pairAck {
                counters.unknownSenders &+= 1
                remindUnpaired(sealed.from, over: url)
            }
            return
        }
        heard(of: device, over: url, sealed.delivery)
        noteClock(of: frame, opened)
        pair(frame, mark: opened.mark, isKept: true, over: url)
        received(Payload(decoding: .object(opened.body)), of: device, mark: opened.mark, over: url)
    }

    private func noteClock(of frame: PairingFrame, _ opened: Sealer.Opened) {
        guard frame.delivery == .live, let sealedAt = opened.timestamp else { return }
        clockLeads.note(frame.from, sealedAt: sealedAt, now: .now)
    }

    /// Is there a flow that a sealed frame of a peer that is not paired can be for?
    private func canPair(_ peer: PeerID) -> Bool {
        if case .sending(let offer) = scanning.reported, offer.did == peer { return true }
        return offering.isActive || coding.isActive
    }

    /// Gives a frame to the flows. `true` if one has taken it; then its mark is kept for the pairing.
    ///
    /// - Parameter isKept: the mark is stored in any case.
    @discardableResult
    private func pair(_ frame: PairingFrame, mark: SealMark?, isKept: Bool = false, over url: String) -> Bool {
        let scans = scanning.received(frame, now: .now)
        var offers: [DesktopOfferAction] = []
        var codes: [DesktopTypedCodeAction] = []
        if frame.payload["type"]?.string == PayloadType.pairAck {
            // Whose it is, its code says: the two are never alike.
            if frame.isSealed, let nameplate, frame.payload["pairingCode"]?.string == nameplate.digits {
                codes = coding.received(frame, now: .now)
            } else {
                offers = offering.received(frame, now: .now)
            }
        }
        guard !(scans.isEmpty && offers.isEmpty && codes.isEmpty) else { return false }
        // Anybody may send an ack: only who was taken up on it is remembered.
        heardOver[frame.from] = url
        if let mark {
            pairedBy[frame.from] = mark
            if !isKept { pairingMarks[frame.from, default: []].append(mark) }
        }
        perform(scans)
        perform(offers)
        perform(codes)
        return true
    }

    /// Something of a paired device, in a seal where it has a mark.
    private func received(_ payload: Payload, of device: PairedDevice, mark: SealMark?, over url: String) {
        switch payload {
        case .request(let request):
            touch(device, request.form)
            handle(request, of: device, mark: mark, over: url)
        case .malformed(let malformed):
            counters.malformedPayloads &+= 1
            channel.log(.warning, "a payload from a device was dropped: \(malformed)")
            let asker = asker(device, isBellwire: device.isSecure)
            once(mark) { core in
                guard let request = malformed.request else { return }
                let error = RemoteError(.invalidRequest, malformed.description)
                core.respond(
                    CommandResponse(id: request.id, outcome: .error(error)), form: request.form, of: asker, over: url)
            }
        case .bellwire(DesktopCore.unpairType, _): if let mark { unpaired(by: device, mark: mark) }
        case .bellwire(PairingHello.type, let fields):
            guard let mark, let hello = try? PairingHello(payload: fields), PushSeq.isOne(hello.lastPushSeq) else {
                return once(mark) { _ in }
            }
            acknowledged(through: hello.lastPushSeq, isHello: true, by: device, mark)
        case .bellwire(PushAcknowledgement.type, let fields):
            guard let mark, let acknowledgement = PushAcknowledgement(payload: fields) else {
                return once(mark) { _ in }
            }
            acknowledged(through: acknowledgement.pushSeq, isHello: false, by: device, mark)
        case .bellwire(PushTokenStatement.givenType, let fields):
            guard let mark else { return }
            received(tokenStatement: PushTokenStatement.givenType, fields, of: device, mark)
        case .bellwire(PushTokenStatement.removedType, let fields):
            guard let mark else { return }
            received(tokenStatement: PushTokenStatement.removedType, fields, of: device, mark)
        case .bellwire(PushReceipt.type, let fields):
            guard let mark else { return }
            received(receipt: fields, of: device, mark)
        case .cancel, .response, .event, .pairAck, .pairingConfirmation,
            .pairingReject, .iceConfig:
            once(mark) { _ in }
        case .other(let type, let value): tell(type, ["payload": value], from: device, mark)
        case .bellwire(let type, let fields): tell(type, ["payload": .object(fields)], from: device, mark)
        case .otherEvent(let name, let fields):
            tell(
                "chainlesschain:event", ["event": .string(name), "payload": .object(fields)], from: device, mark)
        }
    }

    private func tell(_ type: String, _ fields: JSONObject, from device: PairedDevice, _ mark: SealMark?) {
        var data: JSONObject = ["type": .string(type), "device": .string(device.did.text)]
        data.merge(fields)
        let event = HostEvent(.command, data: data)
        once(mark) { core in core.channel.post(event) }
    }
}

extension RemoteError {
    static let notPaired = RemoteError(.permissionDenied, "this device is not paired")
}
