import CWslay
import Glibc
import Synchronization

/// The side of a WebSocket: client or server.
enum WebSocketRole { case client, server }

/// Writes frames (RFC 6455) behind each other into a queue of bytes: a server's texts by itself, all others by wslay.
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
        guard role == .server else { return write(1, pieces, into: &queue) }
        var length = 0
        for piece in pieces { length &+= piece.count }
        let start = queue.reserve(length &+ Self.longestHeader)
        var place = start + Self.putHeader(length, at: start)
        for piece in pieces {
            guard let bytes = piece.baseAddress else { continue }
            memcpy(place, bytes, piece.count)
            place += piece.count
        }
        queue.commit(place - start)
    }

    /// Of a frame without a mask.
    private static let longestHeader = 10

    /// The header of a whole text message without a mask. On the way of every message, so not by wslay, which calls back
    /// for each piece. Returns its length.
    @inline(__always)
    private static func putHeader(_ length: Int, at place: UnsafeMutableRawPointer) -> Int {
        // Final, no reserved bits, text.
        place.storeBytes(of: 0x81, as: UInt8.self)
        switch length {
        case ..<126:
            place.storeBytes(of: UInt8(truncatingIfNeeded: length), toByteOffset: 1, as: UInt8.self)
            return 2
        case ..<0x1_0000:
            place.storeBytes(of: 126, toByteOffset: 1, as: UInt8.self)
            place.storeBytes(of: UInt16(truncatingIfNeeded: length).bigEndian, toByteOffset: 2, as: UInt16.self)
            return 4
        default:
            place.storeBytes(of: 127, toByteOffset: 1, as: UInt8.self)
            place.storeBytes(of: UInt64(length).bigEndian, toByteOffset: 2, as: UInt64.self)
            return 10
        }
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
