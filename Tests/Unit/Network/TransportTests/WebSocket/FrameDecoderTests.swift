import Testing

@testable import Transport

/// A decoder's events, with their bytes copied out.
enum Decoded: Equatable {
    case text(String)
    case ping([UInt8])
    case pong([UInt8])
    case close(UInt16?, String)
    case failed(UInt16, String)
}

/// Feeds `bytes` in pieces of `step` and writes down what they mean.
func decode(_ bytes: [UInt8], as role: WebSocketRole, limit: Int = 1 << 20, step: Int = .max) -> [Decoded] {
    var decoder = FrameDecoder(role: role, limit: limit, readers: FrameReaderPool())
    var events: [Decoded] = []
    var start = 0
    while start < bytes.count {
        var piece = Array(bytes[start..<min(bytes.count, start + min(step, bytes.count))])
        start += piece.count
        piece.withUnsafeMutableBytes { buffer in
            var input = UnsafeMutableRawBufferPointer(rebasing: buffer[...])
            while let event = decoder.next(&input) {
                switch event {
                case .text(let text): events.append(.text(String(decoding: text, as: UTF8.self)))
                case .ping(let payload): events.append(.ping(Array(payload)))
                case .pong(let payload): events.append(.pong(Array(payload)))
                case .close(let code, let reason):
                    events.append(.close(code, String(decoding: reason, as: UTF8.self)))
                case .failed(let code, let error): events.append(.failed(code, error.code.name))
                }
            }
            #expect(input.isEmpty, "the decoder left bytes behind")
        }
    }
    return events
}

/// A masked text frame, made by hand.
func maskedText(_ payload: [UInt8], first: UInt8 = 0x81, key: [UInt8] = [0x37, 0xfa, 0x21, 0x3d]) -> [UInt8] {
    var frame = [first]
    switch payload.count {
    case ...125: frame.append(0x80 | UInt8(payload.count))
    case ...0xffff: frame += [0x80 | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xff)]
    default: frame += [0x80 | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
    }
    return frame + key + payload.enumerated().map { $1 ^ key[$0 % 4] }
}

@Suite("Frames, as they come")
struct FrameDecoderTests {
    @Test("The examples of RFC 6455 5.7 mean what it says")
    func examples() {
        #expect(decode(hex("81 05 48 65 6c 6c 6f"), as: .client) == [.text("Hello")])
        #expect(decode(hex("81 85 37 fa 21 3d 7f 9f 4d 51 58"), as: .server) == [.text("Hello")])
        #expect(decode(hex("01 03 48 65 6c 80 02 6c 6f"), as: .client) == [.text("Hello")])
        #expect(decode(hex("89 05 48 65 6c 6c 6f"), as: .client) == [.ping(Array("Hello".utf8))])
        #expect(decode(hex("8a 85 37 fa 21 3d 7f 9f 4d 51 58"), as: .server) == [.pong(Array("Hello".utf8))])
    }

    @Test("Frames cut anywhere mean the same", arguments: [1, 2, 3, 5, 7, 11, 64, 127, 4_096])
    func cut(step: Int) {
        let long = Array(String(repeating: "äb¢", count: 40_000).utf8)
        let bytes =
            maskedText(Array("one".utf8)) + maskedText(long) + hex("89 81 00 00 00 00 78")
            + maskedText(Array("two ".utf8), first: 0x01) + hex("8a 80 01 02 03 04")
            + maskedText(Array("three".utf8), first: 0x80) + maskedText([]) + hex("88 82 00 00 00 00 03 e8")
        let expected: [Decoded] = [
            .text("one"), .text(String(decoding: long, as: UTF8.self)), .ping([0x78]), .pong([]), .text("two three"),
            .text(""), .close(1000, ""),
        ]
        #expect(decode(bytes, as: .server, step: step) == expected)
    }

    @Test(
        "Every length around the edges of the length field arrives whole, masked and not",
        arguments: [
            0, 1, 7, 8, 9, 31, 32, 33, 125, 126, 127, 65_535, 65_536, 65_537,
        ])
    func lengths(length: Int) {
        let text = String((0..<length).map { Character(UnicodeScalar(UInt8(0x20 + $0 % 90))) })
        #expect(decode(maskedText(Array(text.utf8)), as: .server) == [.text(text)])
        #expect(decode(maskedText(Array(text.utf8)), as: .server, step: 1_000) == [.text(text)])
        let plain = maskedText(Array(text.utf8), key: [0, 0, 0, 0])
        let header = plain.count - length - 4
        let unmasked = [0x81, plain[1] & 0x7f] + plain[2..<header] + plain[(header + 4)...]
        #expect(decode(Array(unmasked), as: .client) == [.text(text)])
    }

    @Test(
        "Text that is not UTF-8 fails with 1007",
        arguments: [
            "c3", "c3 28", "ff", "ed a0 80", "f4 90 80 80", "c0 af", "61 62 63 64 65 66 67 68 80",
        ])
    func badUTF8(text: String) {
        #expect(decode(maskedText(hex(text)), as: .server) == [.failed(1007, "not_utf8")])
        #expect(decode(maskedText(hex(text)), as: .server, step: 1) == [.failed(1007, "not_utf8")])
    }

    @Test("A character split over frames is whole; one that stays cut fails with 1007")
    func splitUTF8() {
        let first = maskedText(hex("e2 82"), first: 0x01)
        #expect(decode(first + maskedText(hex("ac"), first: 0x80), as: .server) == [.text("€")])
        #expect(
            decode(first + maskedText(hex("28"), first: 0x80), as: .server) == [.failed(1007, "not_utf8")])
        #expect(decode(first + maskedText([], first: 0x80), as: .server) == [.failed(1007, "not_utf8")])
    }

    @Test("A message over the limit fails with 1009 before its bytes come")
    func tooBig() {
        #expect(decode(maskedText(Array(repeating: 0x61, count: 100)), as: .server, limit: 100).count == 1)
        let over = maskedText(Array(repeating: 0x61, count: 101))
        #expect(decode(over, as: .server, limit: 100) == [.failed(1009, "message_too_big")])
        let header = hex("81 ff 00 00 00 00 00 10 00 01 00 00 00 00 61")
        #expect(decode(header, as: .server) == [.failed(1009, "message_too_big")])
        let huge = hex("81 ff 7f ff ff ff ff ff ff ff 00 00 00 00 61")
        #expect(decode(huge, as: .server) == [.failed(1009, "message_too_big")])
        let parts =
            maskedText(Array(repeating: 0x61, count: 60), first: 0x01)
            + maskedText(Array(repeating: 0x61, count: 60), first: 0x00)
        #expect(decode(parts, as: .server, limit: 100) == [.failed(1009, "message_too_big")])
    }

    @Test("A binary message fails with 1003")
    func binary() {
        #expect(decode(hex("82 81 00 00 00 00 61"), as: .server) == [.failed(1003, "binary_message")])
    }

    @Test(
        "Whatever breaks the rules fails with 1002",
        arguments: [
            ("a client's frame without mask", "81 01 61"),
            ("reserved bit", "c1 81 00 00 00 00 61"),
            ("unknown opcode", "83 81 00 00 00 00 61"),
            ("unknown control opcode", "8b 81 00 00 00 00 61"),
            ("fragment of nothing", "80 81 00 00 00 00 61"),
            ("message in a message", "01 81 00 00 00 00 61 81 81 00 00 00 00 61"),
            ("fragmented ping", "09 81 00 00 00 00 61"),
            ("long ping", "89 fe 00 7e 00 00 00 00"),
            ("length not in its shortest form, 16 bits", "81 fe 00 05 00 00 00 00 61 61 61 61 61"),
            ("length not in its shortest form, 64 bits", "81 ff 00 00 00 00 00 00 00 05 00 00 00 00 61 61 61 61 61"),
            ("length over 63 bits", "81 ff ff ff ff ff ff ff ff ff 00 00 00 00 61"),
            ("close of one byte", "88 81 00 00 00 00 03"),
            ("close code 1005", "88 82 00 00 00 00 03 ed"),
            ("close code 999", "88 82 00 00 00 00 03 e7"),
            ("close code 5000", "88 82 00 00 00 00 13 88"),
        ])
    func broken(what: String, bytes: String) {
        for step in [Int.max, 1] {
            #expect(decode(hex(bytes), as: .server, step: step).last == .failed(1002, "protocol_error"), "\(what)")
        }
    }

    @Test("A masked frame from a server fails with 1002")
    func maskedByServer() {
        #expect(decode(maskedText([0x61]), as: .client) == [.failed(1002, "protocol_error")])
    }

    @Test("Close frames give their code and reason; a reason that is not UTF-8 fails with 1007")
    func close() {
        #expect(decode(hex("88 80 00 00 00 00"), as: .server) == [.close(nil, "")])
        #expect(decode(hex("88 04 03 e9 62 79"), as: .client) == [.close(1001, "by")])
        #expect(decode(hex("88 03 03 e9 ff"), as: .client) == [.failed(1007, "not_utf8")])
    }

    @Test("Nothing is read after a failure")
    func afterFailure() {
        #expect(decode(hex("82 81 00 00 00 00 61") + maskedText([0x61]), as: .server).count == 1)
    }

    @Test("Random bytes never trap, whatever they mean")
    func random() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var bytes = (0..<64).map { _ in UInt8.random(in: 0...255, using: &generator) }
            bytes[0] = [0x81, 0x01, 0x80, 0x89, 0x88, bytes[0]][Int.random(in: 0..<6, using: &generator)]
            _ = decode(bytes, as: .server, limit: 1_000, step: Int.random(in: 1...64, using: &generator))
            _ = decode(bytes, as: .client, limit: 1_000, step: Int.random(in: 1...64, using: &generator))
        }
    }
}
