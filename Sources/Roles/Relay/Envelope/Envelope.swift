/// The parts of a frame that the relay needs: where its top-level members stand.
///
/// Offsets point into the frame's bytes and mean nothing without them. Nothing is copied and nothing is allocated.
struct Envelope {
    /// One member's value: its kind and its bytes, quotes and brackets included.
    struct Field {
        enum Kind: UInt8 {
            case absent, string, escapedString, object, array, number, yes, no, null
        }

        var kind = Kind.absent
        var start: Int32 = 0
        var end: Int32 = 0

        var range: Range<Int> { Int(start)..<Int(end) }
        /// The text between the quotes, as it stands: escapes are not undone.
        var inner: Range<Int> { isString ? Int(start) &+ 1..<Int(end) &- 1 : 0..<0 }
        var isString: Bool { kind == .string || kind == .escapedString }
        var isAbsent: Bool { kind == .absent }
    }

    /// Position of the object's `{`.
    var open: Int32 = 0
    var type = Field()
    var to = Field()
    var from = Field()
    var peerID = Field()
    var payload = Field()
    var sealed = Field()
    var messageID = Field()
    var id = Field()
    var deviceType = Field()
    var deviceInfo = Field()
    var bellwire = Field()
    var proof = Field()
}

/// The frames that a peer may send (Wire, "Routing").
enum FrameType {
    case register
    case message
    /// Routed whole: WebRTC signalling and the pairing frames.
    case signalling
    case ping
    case pong
    case getPeers
    case peerStatus
    case other

    init(_ text: UnsafeRawBufferPointer) {
        switch text.count {
        case 7 where text.matches("message"): self = .message
        case 8 where text.matches("register"): self = .register
        case 4 where text.matches("ping"): self = .ping
        case 4 where text.matches("pong"): self = .pong
        case 9 where text.matches("get-peers"): self = .getPeers
        case 11 where text.matches("peer-status"), 19 where text.matches("peer-status-request"): self = .peerStatus
        case 5 where text.matches("offer"), 6 where text.matches("answer"), 13 where text.matches("ice-candidate"),
            14 where text.matches("ice-candidates"), 15 where text.matches("pairing:request"),
            20 where text.matches("pairing:confirmation"), 14 where text.matches("pairing:reject"):
            self = .signalling
        default: self = .other
        }
    }
}

extension UnsafeRawBufferPointer {
    /// Are these the bytes of `text`? Both must be of one length.
    @inline(__always)
    func matches(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        let expected = UnsafeBufferPointer(start: text.utf8Start, count: count)
        for index in 0..<count where self[index] != expected[index] { return false }
        return true
    }

    func starts(with text: StaticString) -> Bool {
        let length = text.utf8CodeUnitCount
        return count >= length && UnsafeRawBufferPointer(rebasing: self[0..<length]).matches(text)
    }
}
