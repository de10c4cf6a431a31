import CWslay
import Glibc

/// wslay's reader for one frame at a time.
///
/// It is given no byte beyond the frame's end, so that afterwards it is as new and can serve another connection.
final class FrameReader {
    /// What it takes in memory: wslay's buffer of 4 KiB, and the rest.
    static let byteCount = 4_352

    enum Outcome {
        case needsMore
        case broken
        /// A part of a frame's payload, valid until the next call, with the frame's header.
        case chunk(wslay_frame_iocb)
    }

    /// What wslay's callback takes from.
    private struct Source {
        var bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        /// How much of the frame is known to be missing; its header is fetched byte by byte.
        var wanted = 1
    }

    private let source: UnsafeMutablePointer<Source>
    private let context: wslay_frame_context_ptr
    private var received: UInt64 = 0
    /// Whether a part of this frame was given out already.
    private(set) var isInFrame = false

    init?() {
        source = .allocate(capacity: 1)
        source.initialize(to: Source())
        var callbacks = wslay_frame_callbacks(
            send_callback: nil,
            recv_callback: { buffer, room, _, source in
                guard let buffer, let source = source?.assumingMemoryBound(to: Source.self) else { return -1 }
                let bytes = source.pointee.bytes
                let count = min(bytes.count, room, source.pointee.wanted)
                guard count > 0, let base = bytes.baseAddress else { return -1 }
                memcpy(buffer, base, count)
                source.pointee.bytes = UnsafeRawBufferPointer(rebasing: bytes[count...])
                return count
            },
            genmask_callback: nil)
        var made: wslay_frame_context_ptr?
        guard wslay_frame_context_init(&made, &callbacks, source) == 0, let made else {
            source.deallocate()
            return nil
        }
        context = made
    }

    deinit {
        wslay_frame_context_free(context)
        source.deallocate()
    }

    /// Reads on in the frame. Moves `input` past what it took.
    func read(_ input: inout UnsafeMutableRawBufferPointer) -> Outcome {
        source.pointee.bytes = UnsafeRawBufferPointer(input)
        defer { input = UnsafeMutableRawBufferPointer(rebasing: input.suffix(source.pointee.bytes.count)) }
        while true {
            var frame = wslay_frame_iocb()
            let result = wslay_frame_recv(context, &frame)
            if result >= 0 { return .chunk(frame) }
            guard result == Int(WSLAY_ERR_WANT_READ.rawValue) else { return .broken }
            guard !source.pointee.bytes.isEmpty else { return .needsMore }
        }
    }

    /// Counts a chunk; `true` = the frame is complete, and this reader is as new.
    func didTake(_ frame: wslay_frame_iocb) -> Bool {
        received &+= UInt64(frame.data_length)
        isInFrame = received < frame.payload_length
        source.pointee.wanted = isInFrame ? Int(clamping: frame.payload_length &- received) : 1
        if !isInFrame { received = 0 }
        return !isInFrame
    }
}

/// Readers that are not in a frame, for any connection that is.
final class FrameReaderPool {
    private var idle: [FrameReader] = []
    private static let maximum = 16

    func take() -> FrameReader? {
        idle.popLast() ?? FrameReader()
    }

    func put(_ reader: FrameReader) {
        guard idle.count < Self.maximum else { return }
        idle.append(reader)
    }
}
