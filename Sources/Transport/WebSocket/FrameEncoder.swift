import CWslay
import Glibc
import Synchronization

/// The side of a WebSocket: client or server.
enum WebSocketRole { case client, server }

/// Writes frames (RFC 6455) behind each other into a queue of bytes, by wslay.
///
/// One encoder serves all connections of a thread with this role, because each call writes whole frames. (Each role
/// needs its own: wslay 1.1.1 keeps masking after the first masked frame.)
final class FrameEncoder {
    /// What wslay's callbacks write to.
    private struct Sink {
        var queue: UnsafeMutablePointer<ByteQueue>?
    }

    private let sink: UnsafeMutablePointer<Sink>
    private let context: wslay_frame_context_ptr
    private let role: WebSocketRole

    init(_ role: WebSocketRole) {
        self.role = role
        sink = .allocate(capacity: 1)
        sink.initialize(to: Sink())
        var callbacks = wslay_frame_callbacks(
            send_callback: { bytes, count, _, sink in
                guard let queue = sink?.assumingMemoryBound(to: Sink.self).pointee.queue else { return -1 }
                queue.pointee.append(UnsafeRawBufferPointer(start: bytes, count: count))
                return count
            },
            recv_callback: nil,
            genmask_callback: { key, count, _ in
                guard let key else { return -1 }
                MaskKeys.fill(UnsafeMutableRawBufferPointer(start: key, count: count))
                return 0
            })
        var made: wslay_frame_context_ptr?
        guard wslay_frame_context_init(&made, &callbacks, sink) == 0, let made else { fatalError("out of memory") }
        context = made
    }

    deinit {
        wslay_frame_context_free(context)
        sink.deallocate()
    }

    /// One text message out of `pieces`.
    func text(_ pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>, into queue: inout ByteQueue) {
        write(1, pieces, into: &queue)
    }

    /// A ping, pong or close frame; at most 125 bytes are taken.
    func control(_ opcode: wslay_opcode, _ payload: UnsafeRawBufferPointer, into queue: inout ByteQueue) {
        let payload = UnsafeRawBufferPointer(rebasing: payload.prefix(125))
        withUnsafePointer(to: payload) {
            write(UInt8(opcode.rawValue), UnsafeBufferPointer(start: $0, count: 1), into: &queue)
        }
    }

    private func write(
        _ opcode: UInt8, _ pieces: UnsafeBufferPointer<UnsafeRawBufferPointer>, into queue: inout ByteQueue
    ) {
        var length = 0
        for piece in pieces { length &+= piece.count }
        var frame = wslay_frame_iocb()
        frame.fin = 1
        frame.opcode = opcode
        frame.payload_length = UInt64(length)
        frame.mask = role == .client ? 1 : 0
        withUnsafeMutablePointer(to: &queue) { queue in
            _ = queue.pointee.reserve(length &+ 14)
            sink.pointee.queue = queue
            // The first piece brings the header along; an empty message has no other.
            var isHeaderWritten = false
            for piece in pieces where !piece.isEmpty {
                isHeaderWritten = true
                send(piece, &frame)
            }
            if !isHeaderWritten { send(UnsafeRawBufferPointer(start: nil, count: 0), &frame) }
            sink.pointee.queue = nil
        }
    }

    private func send(_ piece: UnsafeRawBufferPointer, _ frame: inout wslay_frame_iocb) {
        frame.data = piece.baseAddress?.assumingMemoryBound(to: UInt8.self)
        frame.data_length = piece.count
        // The queue takes everything, so wslay never stops half way.
        let sent = wslay_frame_send(context, &frame)
        assert(sent == piece.count)
    }
}

/// Random bytes for masks, fetched a page at a time.
private enum MaskKeys {
    private struct Pool: ~Copyable {
        var bytes = [UInt8](repeating: 0, count: 1_024)
        var used = 1_024
    }

    /// Encoders are of one thread each; the loop's and a test's may differ.
    private static let pool = Mutex(Pool())

    static func fill(_ key: UnsafeMutableRawBufferPointer) {
        pool.withLock { pool in
            guard key.count <= pool.bytes.count else { return }
            if pool.bytes.count - pool.used < key.count {
                RandomBytes.fill(&pool.bytes)
                pool.used = 0
            }
            key.copyBytes(from: pool.bytes[pool.used..<pool.used + key.count])
            pool.used += key.count
        }
    }
}
