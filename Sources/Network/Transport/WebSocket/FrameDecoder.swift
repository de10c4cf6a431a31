import CWslay

/// The events that a peer's bytes decode to. Borrowed parts are valid until the decoder is asked again.
enum FrameEvent {
    case text(UnsafeRawBufferPointer)
    case ping(UnsafeRawBufferPointer)
    case pong(UnsafeRawBufferPointer)
    /// `nil` = the close frame had no code.
    case close(code: UInt16?, reason: UnsafeRawBufferPointer)
    /// The peer broke the rules: the connection closes with this code. The decoder is of no use after it.
    case failed(code: UInt16, TransportError)
}

/// Reads the frames of one peer (RFC 6455), without a socket: bytes in, messages out.
///
/// wslay reads the frames, byte by byte and with copies. Nearly all traffic is a whole text message in one frame, which
/// is read in place (``FrameDecoder/takeWhole(_:)``). Everything else (fragments, frames split across reads, control
/// frames, and invalid ones) goes through wslay.
struct FrameDecoder: ~Copyable {
    /// Frames from a client are masked, frames from a server are not.
    private let isMasked: Bool
    private let limit: Int
    private let minorLimit: Int
    private let readers: FrameReaderPool
    /// Present only in the middle of a frame, so that an idle connection has none of wslay's 4 KiB.
    private var reader: FrameReader?
    /// The fragments so far, or the message given out last.
    private var message = ByteQueue()
    private var control = ByteQueue()
    /// A text message has begun and is not finished.
    private var isInMessage = false
    private var isMessageGivenOut = false
    private var isControlGivenOut = false
    private var hasFailed = false
    /// Control frames and short fragments so far, which cost far more than their bytes. The owner takes away what time
    /// allows.
    var minorFrames = 0
    /// Names the message or frame that ``heldBytes`` are of: another one has another number.
    private(set) var unfinished: UInt32 = 0

    /// Shorter fragments of an unfinished message count as ``minorFrames``.
    private static let minorFragment: UInt64 = 1_024

    /// `minorLimit`: more ``minorFrames`` fail with 1008.
    init(role: WebSocketRole, limit: Int, minorLimit: Int = .max, readers: FrameReaderPool) {
        isMasked = role == .server
        self.limit = limit
        self.minorLimit = minorLimit
        self.readers = readers
    }

    /// Memory that an unfinished message or frame takes; 0 between messages.
    @inline(__always)
    var heldBytes: Int {
        (reader == nil ? 0 : FrameReader.byteCount) &+ message.capacity &+ control.capacity
    }

    /// Whether the last bytes ended inside a frame.
    var isInFrame: Bool { reader != nil }

    /// The next event in `input`, which is moved past what was read; `nil` = all of it was read. May change the bytes.
    mutating func next(_ input: inout UnsafeMutableRawBufferPointer) -> FrameEvent? {
        if isMessageGivenOut {
            isMessageGivenOut = false
            message.reset()
        }
        if isControlGivenOut {
            isControlGivenOut = false
            control.reset()
        }
        guard !hasFailed else {
            input = UnsafeMutableRawBufferPointer(rebasing: input.suffix(0))
            return nil
        }
        if reader == nil, !isInMessage, let text = Self.takeWhole(&input, isMasked: isMasked, limit: limit) {
            guard text.isUTF8 else { return fail(1007, .notUTF8, "a message is not UTF-8") }
            return .text(UnsafeRawBufferPointer(text.bytes))
        }
        if reader == nil, let control = Self.takeWholeControl(&input, isMasked: isMasked) {
            return countMinorFrame() ?? (control.isPing ? .ping(control.bytes) : .pong(control.bytes))
        }
        return readFrames(&input)
    }

    // MARK: Through wslay

    private mutating func readFrames(_ input: inout UnsafeMutableRawBufferPointer) -> FrameEvent? {
        while !input.isEmpty || reader != nil {
            let reader: FrameReader
            if let current = self.reader {
                reader = current
            } else {
                guard let fresh = readers.take() else { return fail(1011, .system, "out of memory for a frame") }
                reader = fresh
                self.reader = fresh
                if !isInMessage { unfinished &+= 1 }
            }
            switch reader.read(&input) {
            case .needsMore: return nil
            case .broken: return fail(1002, .protocolError, "a frame is malformed")
            case .chunk(let frame):
                if let failure = check(frame, isFirst: !reader.isInFrame) { return failure }
                let bytes = UnsafeRawBufferPointer(start: frame.data, count: frame.data_length)
                let isControl = frame.opcode >= 8
                if isControl { control.append(bytes) } else { message.append(bytes) }
                guard reader.didTake(frame) else { continue }
                readers.put(reader)
                self.reader = nil
                if isControl || frame.fin == 0 && frame.payload_length < Self.minorFragment,
                    let failure = countMinorFrame()
                {
                    return failure
                }
                if isControl {
                    isControlGivenOut = true
                    return controlEvent(frame.opcode)
                }
                guard frame.fin == 1 else { continue }
                isInMessage = false
                isMessageGivenOut = true
                let text = UnsafeRawBufferPointer(message.bytes)
                guard UTF8Check.isValid(text) else { return fail(1007, .notUTF8, "a message is not UTF-8") }
                return .text(text)
            }
        }
        return nil
    }

    private mutating func countMinorFrame() -> FrameEvent? {
        minorFrames += 1
        guard minorFrames > minorLimit else { return nil }
        return fail(1008, .tooManyFrames, "too many control frames and short fragments")
    }

    /// The rules that wslay leaves to its caller.
    private mutating func check(_ frame: wslay_frame_iocb, isFirst: Bool) -> FrameEvent? {
        guard isFirst else { return nil }
        guard frame.rsv == 0 else { return fail(1002, .protocolError, "a frame has reserved bits set") }
        guard (frame.mask == 1) == isMasked else {
            return fail(
                1002, .protocolError, isMasked ? "a client's frame is not masked" : "a server's frame is masked")
        }
        switch frame.opcode {
        case 0 where isInMessage, 1 where !isInMessage:
            isInMessage = true
            // Both counts are bounded: 63 bits by wslay, and the limit.
            guard frame.payload_length <= UInt64(max(0, limit - message.count)) else {
                return fail(1009, .messageTooBig, "a message is larger than \(limit) bytes")
            }
            return nil
        case 0: return fail(1002, .protocolError, "a fragment belongs to no message")
        case 1: return fail(1002, .protocolError, "a message starts inside another")
        case 2: return fail(1003, .binaryMessage, "a message is binary; only text is allowed")
        case 8, 9, 10: return nil
        default: return fail(1002, .protocolError, "a frame has an unknown opcode")
        }
    }

    private mutating func controlEvent(_ opcode: UInt8) -> FrameEvent {
        let bytes = UnsafeRawBufferPointer(control.bytes)
        switch opcode {
        case 9: return .ping(bytes)
        case 10: return .pong(bytes)
        default:
            guard bytes.count > 0 else { return .close(code: nil, reason: bytes) }
            guard bytes.count >= 2 else { return fail(1002, .protocolError, "a close frame is malformed") }
            let code = UInt16(bytes[0]) << 8 | UInt16(bytes[1])
            let reason = UnsafeRawBufferPointer(rebasing: bytes[2...])
            guard CloseCode.mayBeSent(code) else {
                return fail(1002, .protocolError, "a close frame has a code that must not be sent")
            }
            guard UTF8Check.isValid(reason) else { return fail(1007, .notUTF8, "a close reason is not UTF-8") }
            return .close(code: code, reason: reason)
        }
    }

    private mutating func fail(_ code: UInt16, _ error: TransportError.Code, _ message: String) -> FrameEvent {
        hasFailed = true
        reader = nil
        self.message.reset()
        control.reset()
        isMessageGivenOut = false
        isControlGivenOut = false
        return .failed(code: code, TransportError(error, message))
    }
}
