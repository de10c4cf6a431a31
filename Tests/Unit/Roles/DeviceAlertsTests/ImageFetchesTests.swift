import Alerts
import Testing

@testable import DeviceAlerts

@Suite("Images are decoded before they count")
struct ImageFetchesTests {
    /// 1 x 1 pixels with two colors; a frame's blocks follow.
    private static let start = Array("GIF89a".utf8) + [1, 0, 1, 0, 0x80, 0, 0, 1, 2, 3, 4, 5, 6]
    private static let comment: [UInt8] = [0x21, 0xfe, 3, 1, 2, 3, 2, 4, 5, 0]
    private static let end: [UInt8] = [0x3b]

    private static func frame(
        _ width: UInt8 = 1, _ height: UInt8 = 1, flags: [UInt8] = [0], codes: [UInt8] = [2, 0x4c, 1]
    ) -> [UInt8] {
        [0x2c, 0, 0, 0, 0, width, 0, height, 0] + flags + [2] + codes + [0]
    }

    @Test("a GIF is whole with all of its frames, whatever stands between them")
    func wholeGIF() {
        let table: [UInt8] = [0x80, 9, 9, 9, 8, 8, 8]
        let all = Self.comment + Self.frame() + Self.comment + Self.frame(flags: table) + Self.frame(flags: [0x40])
        #expect(ImageFetches.isWhole(Self.start + Self.frame() + Self.end))
        #expect(ImageFetches.isWhole(Self.start + all + Self.comment + Self.end))
        // What is behind the trailer is not looked at.
        #expect(ImageFetches.isWhole(Self.start + all + Self.end + [1, 2, 3]))
    }

    @Test("no beginning of a GIF is whole")
    func cutGIF() {
        let whole = Self.start + Self.comment + Self.frame() + Self.frame(flags: [0x80, 9, 9, 9, 8, 8, 8]) + Self.end
        #expect(ImageFetches.isWhole(whole))
        for count in 0..<whole.count {
            let bytes = Array(whole.prefix(count))
            // Without a header it is no image, which is found before.
            #expect(ImageFormat.sniff(bytes) == nil || !ImageFetches.isWhole(bytes), "\(count) bytes")
        }
    }

    @Test(
        "damaged pixels are found: codes that end too soon, that nothing stands for, or that are none",
        arguments: [
            frame(2, 2), frame(codes: [1, 0x2c]), frame(codes: [2, 0x3c, 0]), frame(codes: []), frame(0, 1),
            frame(1, 0), frame() + frame(9, 9), frame() + [0x2c], frame() + [0x00], [], comment,
        ])
    func damagedGIF(blocks: [UInt8]) {
        #expect(!ImageFetches.isWhole(Self.start + blocks + Self.end))
    }

    @Test("what is too large by its header alone is not decoded: it is refused by its name")
    func largeGIF() {
        let frames = [[UInt8]](repeating: Self.frame(0xff, 0xff), count: 501).flatMap(\.self)
        #expect(ImageFetches.isWhole(Self.start + frames + Self.end))
        #expect(ImageFormat.sniff(Self.start + frames)?.excess?.code == .tooManyFrames)
    }
}
