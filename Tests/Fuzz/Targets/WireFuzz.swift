import Alerts
import JSON
import Wire

extension FuzzTarget {
    /// A frame that was read and written reads as the same frame.
    static let frames = FuzzTarget("frames") { bytes in
        guard let frame = try? bytes.withUnsafeBytes({ try SignallingFrame(parsing: $0) }) else { return }
        // The name of an unknown frame is cleaned, for the log: it may become a known one.
        if case .other = frame { return }
        let text = frame.json.serialized()
        let again = try SignallingFrame(decoding: try JSONValue(parsing: text))
        try require(again == frame, "it reads back as another frame: \(text)")
    }

    /// A payload that was read and written reads as the same payload.
    static let payload = FuzzTarget("payload") { bytes in
        guard let value = JSONValue(fuzzed: bytes) else { return }
        switch Payload(decoding: value) {
        case .request(var request):
            let written = request.payload
            request.form = .object
            try require(Payload(decoding: written) == .request(request), "a request")
        case .event(let event):
            try require(Payload(decoding: event.payload(as: .bellwire)) == .event(event), "an event")
            _ = event.payload(as: .deployedText)
        case .response(let response):
            guard case .response(let again) = Payload(decoding: response.payload(as: .bellwire)) else {
                throw FuzzFinding("our own response can't be read")
            }
            try require(again.id == response.id, "a response to something else")
        case .cancel, .otherEvent, .pairAck, .pairingConfirmation, .pairingReject, .iceConfig, .bellwire, .other,
            .malformed:
            break
        }
        _ = PairingDeviceInfo(namedIn: value)
    }

    /// A push service's payload becomes an event that reads back the same; what it asks for is within its bounds.
    static let pushService = FuzzTarget("push-service") { bytes in
        guard let object = JSONValue(fuzzed: bytes)?.object, let push = PushServicePayload.decode(object) else {
            return
        }
        let isEmpty = push.title.isEmpty && push.body.isEmpty && push.richer.subtitle == nil
        try require((push.kind == .alert) == !isEmpty, "an alert without text, or text without an alert")
        try require(push.richer.badge ?? 0 >= 0, "a negative badge")
        try require(push.kind != .silent || push.isContentAvailable, "background work that was not asked for")
        if let image = push.richer.imageURL {
            try require(push.isMutable && image.lowercased().hasPrefix("https://"), "an image at \(image)")
        }
        let event = push.event(id: NotificationID("n"))
        // Optional fields may also be inside `data`, where a reader finds them.
        guard case .event(let again) = Payload(decoding: event.payload(as: .bellwire)) else {
            throw FuzzFinding("its event can't be read")
        }
        let isSame = again.id == event.id && again.title == event.title && again.body == event.body
        try require(isSame && again.priority == event.priority, "its event reads as another one")
    }
}
