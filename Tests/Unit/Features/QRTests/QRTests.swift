import Glibc
import QR
import TestSupport
import Testing

/// Codes are drawn and read again: by ZBar, which knows nothing of who drew them.
@Suite struct QRTests {
    @Test("what a PNG image says is read from it, for texts of every kind and length, at every scale")
    func roundTrip() throws {
        let texts = [
            "x", "{\"type\":\"desktop-pairing\"}", "Küche 🍵 日本語", "0123456789", "ABC $%*+-./:",
            "line\nbreak\ttab", String(repeating: "a", count: QRCode.maximumBytes),
            String(repeating: "é", count: QRCode.maximumBytes / 2),
        ]
        for text in texts {
            for scale in [2, 3, 8] { #expect(try read(png(of: text, scale: scale)) == [text]) }
        }
        #expect(try read(png(of: "large", scale: 32)) == ["large"])
    }

    @Test("random texts come back as they were")
    func randomTexts() throws {
        var generator = SeededGenerator(seed: 0x6265_6c6c)
        for _ in 0..<60 {
            let text = String(
                String.UnicodeScalarView(
                    (0..<Int.random(in: 1...200, using: &generator)).map { _ in
                        let range: ClosedRange<UInt32> =
                            [0x20...0x7e, 0xa0...0x24f, 0x4e00...0x9fa5, 0x1f300...0x1f5ff].randomElement(
                                using: &generator)
                            ?? 0x20...0x7e
                        return Unicode.Scalar(UInt32.random(in: range, using: &generator)) ?? " "
                    }))
            #expect(try read(png(of: text, scale: 4)) == [text])
        }
    }

    @Test("light modules on dark are read, with gaps between the rows, and several codes in one picture")
    func pixels() throws {
        let code = try QRCode("inverted")
        for isInverted in [false, true] {
            let picture = Picture([code], scale: 5, gap: 7, isInverted: isInverted)
            #expect(try picture.read() == ["inverted"])
        }
        let two = Picture([try QRCode("first"), try QRCode("second")], scale: 4, gap: 0, isInverted: false)
        #expect(Set(try two.read()) == ["first", "second"])
    }

    @Test("what the terminal shows can be scanned, from half blocks in black on white")
    func terminal() throws {
        let text = "{\"type\":\"device-pairing\",\"name\":\"Zähler\"}"
        let plain = try QRCode(text).terminalDrawing(plain: true)
        var rows: [[UInt8]] = []
        for line in plain.split(separator: "\n") {
            rows.append(line.map { $0 == "█" || $0 == "▀" ? 0 : 255 })
            rows.append(line.map { $0 == "█" || $0 == "▄" ? 0 : 255 })
        }
        #expect(try Picture(rows: rows, scale: 4).read() == [text])
        let coloured = try QRCode(text).terminalDrawing(plain: false)
        let lines = coloured.split(separator: "\n")
        #expect(lines.allSatisfy { $0.hasPrefix("\u{1b}[38;5;16;48;5;231m") && $0.hasSuffix("\u{1b}[0m") })
        #expect(lines.map { $0.dropFirst(19).dropLast(4) } == plain.split(separator: "\n"))
    }

    @Test("an SVG document has the same modules")
    func svg() throws {
        let code = try QRCode("as SVG")
        let document = code.svg()
        let plain = code.terminalDrawing(plain: true).split(separator: "\n")
        let size = plain[0].count
        #expect(document.contains("viewBox=\"0 0 \(size) \(size)\""))
        var rows = [[UInt8]](repeating: [UInt8](repeating: 255, count: size), count: size)
        let path = try #require(document.split(separator: "<path d=\"").last?.split(separator: "\"").first)
        for run in path.split(separator: "M") {
            let numbers = run.split { !$0.isNumber }.compactMap { Int($0) }
            for x in numbers[0]..<(numbers[0] + numbers[2]) { rows[numbers[1]][x] = 0 }
        }
        #expect(try Picture(rows: rows, scale: 4).read() == ["as SVG"])
    }

    @Test("bad texts, scales, pixels and files are named errors")
    func badInput() throws {
        #expect(code { _ = try QRCode("") } == .text)
        #expect(code { _ = try QRCode(String(repeating: "a", count: 2_049)) } == .text)
        for scale in [0, -1, 33, Int.max] { #expect(code { _ = try QRCode("x").png(scale: scale) } == .scale) }
        let white = [UInt8](repeating: 255, count: 100)
        for (width, height, stride) in [(0, 1, 1), (1, 0, 1), (10, 10, 9), (-1, 5, 5), (5, -1, 5)] {
            #expect(
                code { _ = try QRReader.read(grey: white, width: width, height: height, stride: stride) } == .pixels)
        }
        #expect(
            code { _ = try QRReader.read(grey: white, width: 2_147_483_647, height: 2, stride: 2_147_483_647) }
                == .tooLarge)
        #expect(code { _ = try QRReader.read(grey: white, width: 10, height: 10, stride: 10) } == .noCode)
        #expect(code { _ = try QRReader.read(path: "/nonexistent/code.png") } == .file)
        #expect(code { _ = try QRReader.read(path: "/") } == .file)
        #expect(code { _ = try QRReader.read(path: "/dev/null") } == .image)
        #expect(code { _ = try QRReader.read(path: "/dev/zero") } == .tooLarge)
    }

    @Test("damaged PNG images are an error or read: never anything else")
    func damaged() throws {
        let whole = try png(of: "damaged", scale: 4)
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<300 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...6, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            if Bool.random(using: &generator) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator)) }
            do throws(QRError) { #expect(try read(bytes) == ["damaged"]) } catch {
                #expect([.image, .noCode, .tooLarge].contains(error.code), "\(error)")
            }
        }
    }

    @Test("a picture that says it has more than 50 megapixels is refused before room is made for it")
    func tooManyPixels() throws {
        var bytes = try png(of: "x", scale: 1)
        // The head of the first chunk: width and height, big endian, then its checksum over type and data.
        bytes.replaceSubrange(16..<24, with: [0, 0, 0x75, 0x30, 0, 0, 0x75, 0x30])
        bytes.replaceSubrange(29..<33, with: checksum(bytes[12..<29]))
        #expect(code { _ = try self.read(bytes) } == .tooLarge)
    }

    // MARK: What the tests need

    private func png(of text: String, scale: Int) throws(QRError) -> [UInt8] {
        let buffer = try QRCode(text).png(scale: scale)
        defer { free(buffer.baseAddress) }
        return Array(buffer)
    }

    private func read(_ bytes: [UInt8]) throws(QRError) -> [String] {
        var name = Array("/tmp/bellwire-qr-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        defer { close(descriptor) }
        unlink(name)
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count <= 0 { break }
            rest = rest.dropFirst(count)
        }
        return try QRReader.read(path: "/proc/self/fd/\(descriptor)")
    }

    private func code(_ body: () throws -> Void) -> QRError.Code? {
        do { try body() } catch let error as QRError { return error.code } catch { return nil }
        return nil
    }

    /// CRC-32 of PNG (ISO 3309).
    private func checksum(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        var crc: UInt32 = 0xffff_ffff
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0xedb8_8320 : crc >> 1 }
        }
        crc = ~crc
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: crc >> $0) }
    }
}

/// Grey pixels with codes on them, side by side.
private struct Picture {
    private var grey: [UInt8]
    private let width: Int
    private let stride: Int

    init(_ codes: [QRCode], scale: Int, gap: Int, isInverted: Bool) {
        let drawings = codes.map { code in
            code.terminalDrawing(plain: true).split(separator: "\n").flatMap { line -> [[UInt8]] in
                [line.map { $0 == "█" || $0 == "▀" ? 0 : 255 }, line.map { $0 == "█" || $0 == "▄" ? 0 : 255 }]
            }
        }
        let height = drawings.map(\.count).max() ?? 0
        let rows = (0..<height).map { y in
            drawings.flatMap { y < $0.count ? $0[y] : [UInt8](repeating: 255, count: $0[0].count) }
        }
        self.init(rows: rows.map { $0.map { isInverted ? 255 - $0 : $0 } }, scale: scale, gap: gap)
    }

    init(rows: [[UInt8]], scale: Int, gap: Int = 0) {
        width = (rows.first?.count ?? 0) * scale
        stride = width + gap
        grey = []
        for row in rows {
            let line = row.flatMap { [UInt8](repeating: $0, count: scale) } + [UInt8](repeating: 128, count: gap)
            for _ in 0..<scale { grey += line }
        }
    }

    func read() throws -> [String] {
        try QRReader.read(grey: grey, width: width, height: grey.count / stride, stride: stride)
    }
}
