import Glibc
import Testing

@testable import Alerts

@Suite("What some bytes are an image of")
struct ImageFormatTests {
    private func size(_ bytes: [UInt8]) -> [Int]? {
        ImageFormat.sniff(bytes).map { [$0.width, $0.height] }
    }

    @Test("Each kind is known by its first bytes, with its size")
    func kinds() {
        #expect(ImageFormat.sniff(ImageSamples.png(640, 480)) == ImageFormat(kind: .png, width: 640, height: 480))
        for frame: UInt8 in [0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc9, 0xcf] {
            #expect(
                ImageFormat.sniff(ImageSamples.jpeg(640, 480, frame: frame))
                    == ImageFormat(kind: .jpeg, width: 640, height: 480))
        }
        #expect(ImageFormat.sniff(ImageSamples.gif(640, 480)) == ImageFormat(kind: .gif, width: 640, height: 480))
        #expect(size(ImageSamples.lossyWebP(640, 480)) == [640, 480])
        #expect(size(ImageSamples.losslessWebP(16_384, 480)) == [16_384, 480])
        #expect(size(ImageSamples.extendedWebP(640, 16_777_216)) == [640, 16_777_216])
        #expect(
            ImageSamples.all.compactMap { ImageFormat.sniff($0)?.fileExtension }
                == ["png", "jpg", "jpg", "gif", "gif", "webp", "webp", "webp"])
    }

    @Test("A frame that reaches over the edge of a GIF's screen counts")
    func frames() {
        #expect(size(ImageSamples.gif(1, 1, frame: (10, 20, 300, 400))) == [310, 420])
        #expect(size(ImageSamples.gif(1, 1, frame: (65_535, 65_535, 65_535, 65_535))) == [131_070, 131_070])
    }

    @Test("Tables and scans of a JPEG are no frame headers; one without a frame header is none")
    func jpegs() {
        for marker: UInt8 in [0xc4, 0xc8, 0xcc, 0xda, 0xd9, 0xd8, 0x00] {
            #expect(ImageFormat.sniff(ImageSamples.jpeg(4, 3, frame: marker)) == nil)
        }
        #expect(ImageFormat.sniff([0xff, 0xd8, 0xff, 0xe0, 0, 1, 0xff, 0xc0, 0, 11, 8, 0, 1, 0, 1]) == nil)
        #expect(ImageFormat.sniff([0xff, 0xd8] + [UInt8](repeating: 0xff, count: 1_000_000)) == nil)
        // A height that is told later only.
        #expect(ImageFormat.sniff(ImageSamples.jpeg(4, 0)) == nil)
    }

    @Test("What has no extent is none")
    func empty() {
        #expect(ImageFormat.sniff(ImageSamples.png(0, 5)) == nil)
        #expect(ImageFormat.sniff(ImageSamples.png(5, 0)) == nil)
        #expect(ImageFormat.sniff(ImageSamples.png(0x8000_0000, 1)) == nil)
        #expect(ImageFormat.sniff(ImageSamples.gif(0, 0)) == nil)
        #expect(ImageFormat.sniff(ImageSamples.lossyWebP(0, 0)) == nil)
    }

    @Test(
        "Other things are none",
        arguments: [
            "", "<svg xmlns=\"http://www.w3.org/2000/svg\"><script>x()</script></svg>", "<?xml version=\"1.0\"?><svg/>",
            "<!DOCTYPE html>", "GIF88a........", "GIF89a", "BM......", "RIFF....WAVEfmt ", "RIFF....WEBPXXXX....",
            "\u{feff}GIF89a........", "%PDF-1.4", "II*\0", "\0\0\0\u{18}ftypavif",
        ])
    func others(text: String) {
        #expect(ImageFormat.sniff(Array(text.utf8)) == nil)
    }

    @Test("An image is one by its header and by its bytes; without a header the bytes decide")
    func accepting() throws {
        let png = ImageSamples.png(4, 3)
        for type in [
            nil, "", "image/png", "IMAGE/PNG", " image/png ; charset=x", "image/jpeg", "image/webp;q=1", "image/x-icon",
        ] {
            #expect(try ImageFormat.accept(png, contentType: type).kind == .png)
        }
        for type in [
            "text/html", "application/octet-stream", "image/svg+xml", "IMAGE/SVG+XML; charset=utf-8", "image", "x",
            "text/image/png",
        ] {
            #expect(throws: EnrichmentError.self) { try ImageFormat.accept(png, contentType: type) }
        }
        let svg = Array("<svg/>".utf8)
        for type in [nil, "image/png", "image/svg+xml"] {
            #expect(throws: EnrichmentError.self) { try ImageFormat.accept(svg, contentType: type) }
        }
    }

    @Test("Fifty megapixels and not one more, whatever they multiply to")
    func pixels() throws {
        #expect(try ImageFormat.accept(ImageSamples.png(50_000, 1_000), contentType: nil).pixels == 50_000_000)
        for (width, height) in [(50_001, 1_000), (60_000, 60_000), (0x7fff_ffff, 0x7fff_ffff)] as [(UInt32, UInt32)] {
            do throws(EnrichmentError) {
                _ = try ImageFormat.accept(ImageSamples.png(width, height), contentType: nil)
                Issue.record("\(width) × \(height) was accepted")
            } catch { #expect(error.code == .tooManyPixels) }
        }
        #expect(throws: EnrichmentError.self) {
            try ImageFormat.accept(ImageSamples.gif(1, 1, frame: (0, 0, 60_000, 60_000)), contentType: nil)
        }
    }

    @Test("An animation has at most 500 frames", arguments: [1, 500, 501, 1_500])
    func animations(count: Int) {
        let one = ImageSamples.gif(4, 3, frame: (0, 0, 4, 3)).dropLast()
        let gif = one + (1..<count).flatMap { _ in one.suffix(15) } + [0x3b]
        var webp = ImageSamples.extendedWebP(4, 3)
        webp[20] = 2
        // Chunks of an odd length have a byte more.
        for _ in 0..<count { webp += Array("ANMF".utf8) + [1, 0, 0, 0, 7, 0] }
        for image in [Array(gif), webp] {
            do throws(EnrichmentError) {
                #expect(try ImageFormat.accept(image, contentType: nil).frames == count)
                #expect(count <= 500)
            } catch {
                #expect(error.code == .tooManyFrames && count > 500)
            }
        }
    }

    @Test("The frames of a GIF have 250 megapixels together and not one more")
    func framePixels() throws {
        let one = ImageSamples.gif(1, 1, frame: (0, 0, 10_000, 5_000)).dropLast()
        let five = Array(one + (1..<5).flatMap { _ in one.suffix(15) })
        #expect(try ImageFormat.accept(five + [0x3b], contentType: nil).framePixels == 250_000_000)
        let pixel = ImageSamples.gif(1, 1, frame: (0, 0, 1, 1)).suffix(16)
        #expect {
            try ImageFormat.accept(five + pixel, contentType: nil)
        } throws: { ($0 as? EnrichmentError)?.code == .tooManyPixels }
    }

    @Test("A beginning of an image is read without going over its end")
    func beginnings() {
        for sample in ImageSamples.all {
            for count in 0..<sample.count { _ = ImageFormat.sniff(Array(sample.prefix(count))) }
            for count in 0..<sample.count { _ = ImageFormat.sniff(Array(sample.suffix(count))) }
        }
    }

    @Test("Three hundred thousand mutations do no harm, and none has a size that is none")
    func mutations() {
        var generator = Mutations(seed: 7)
        let samples = ImageSamples.all + [ImageSamples.gif(9, 9, frame: (1, 1, 5, 5)) + ImageSamples.jpeg(2, 2)]
        var known = 0
        for number in 0..<300_000 {
            var bytes = samples[number % samples.count]
            for _ in 0..<generator.below(6) {
                switch generator.below(5) {
                case 0: bytes[generator.below(bytes.count)] = UInt8(generator.below(256))
                case 1: bytes[generator.below(bytes.count)] = [0, 0xff, 0x7f, 0x80][generator.below(4)]
                case 2: bytes.removeLast(generator.below(bytes.count))
                case 3: bytes.insert(UInt8(generator.below(256)), at: generator.below(bytes.count))
                default: bytes += bytes.prefix(generator.below(16))
                }
            }
            guard let format = ImageFormat.sniff(bytes) else { continue }
            known += 1
            if format.width <= 0 || format.height <= 0 || format.pixels <= 0 { Issue.record("\(format) of \(bytes)") }
        }
        #expect(known > 10_000)
    }

    @Test("What makes the reader walk for long is none, at once")
    func long() {
        let blocks = [UInt8](repeating: 1, count: 10 << 20)
        let hidden = [0x21, 0xfe] + blocks + [0] + ImageSamples.gif(1, 1, frame: (0, 0, 60_000, 60_000)).dropFirst(19)
        let begin = cpuSeconds()
        #expect(ImageFormat.sniff(ImageSamples.gif(4, 3).dropLast() + hidden) == nil)
        #expect(ImageFormat.sniff([0xff, 0xd8] + [UInt8](repeating: 0xff, count: 10 << 20)) == nil)
        #expect(cpuSeconds() - begin < 3)
        // Blocks of their full size, as an image has them.
        let frames = (0..<40_000).flatMap { _ in [255] + [UInt8](repeating: 7, count: 255) }
        #expect(ImageFormat.sniff(ImageSamples.gif(4, 3).dropLast() + [0x21, 0xfe] + frames + [0, 0x3b]) != nil)
    }
}

/// Random numbers that are the same in each run.
private struct Mutations {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func below(_ count: Int) -> Int {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return count > 0 ? Int(state >> 33) % count : 0
    }
}

/// The processor time of this thread: what others do on the machine does not count.
private func cpuSeconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
