import CWslay
import Testing

@testable import Transport

@Suite("Frames, as they leave")
struct FrameEncoderTests {
    private func encode(_ pieces: [[UInt8]], _ role: WebSocketRole) -> [UInt8] {
        let encoder = FrameEncoder(role)
        var queue = ByteQueue()
        let all = pieces.flatMap { $0 }
        var start = 0
        all.withUnsafeBytes { all in
            var buffers: [UnsafeRawBufferPointer] = []
            for piece in pieces {
                buffers.append(UnsafeRawBufferPointer(rebasing: all[start..<start + piece.count]))
                start += piece.count
            }
            buffers.withUnsafeBufferPointer { encoder.text($0, into: &queue) }
        }
        return Array(queue.bytes)
    }

    @Test("A server's text frame is plain, out of any pieces")
    func server() {
        let hello = hex("81 05 48 65 6c 6c 6f")
        #expect(encode([Array("Hello".utf8)], .server) == hello)
        #expect(encode([Array("He".utf8), [], Array("llo".utf8), []], .server) == hello)
        #expect(encode([[]], .server) == hex("81 00"))
        #expect(encode([], .server) == hex("81 00"))
        #expect(Array(encode([Array(repeating: 1, count: 125)], .server).prefix(3)) == hex("81 7d 01"))
        #expect(Array(encode([Array(repeating: 1, count: 126)], .server).prefix(4)) == hex("81 7e 00 7e"))
        #expect(Array(encode([Array(repeating: 1, count: 65_535)], .server).prefix(5)) == hex("81 7e ff ff 01"))
        #expect(
            Array(encode([Array(repeating: 1, count: 65_536)], .server).prefix(10))
                == hex("81 7f 00 00 00 00 00 01 00 00"))
    }

    @Test("A client's frame is masked with another key each time, and reads back")
    func client() {
        let text = String(repeating: "Grüße ", count: 2_000)
        let pieces = [
            Array(text.utf8.prefix(7)), Array(text.utf8.dropFirst(7).prefix(5_000)), Array(text.utf8.dropFirst(5_007)),
        ]
        let first = encode(pieces, .client)
        let second = encode(pieces, .client)
        #expect(first != second)
        #expect(decode(first, as: .server) == [.text(text)])
        #expect(decode(second, as: .server, step: 999) == [.text(text)])
    }

    @Test("Control frames stand whole between messages")
    func control() {
        let encoder = FrameEncoder(.server)
        var queue = ByteQueue()
        let text = Array("a".utf8)
        text.withUnsafeBytes { bytes in
            withUnsafePointer(to: bytes) { encoder.text(.init(start: $0, count: 1), into: &queue) }
            encoder.control(WSLAY_PING, bytes, into: &queue)
            withUnsafePointer(to: bytes) { encoder.text(.init(start: $0, count: 1), into: &queue) }
        }
        #expect(Array(queue.bytes) == hex("81 01 61 89 01 61 81 01 61"))
    }
}
