@testable import Alerts

/// The first bytes of images, as their formats have them.
enum ImageSamples {
    static func png(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13] + Array("IHDR".utf8) + big(width, 4)
            + big(height, 4)
            + [8, 2, 0, 0, 0, 1, 2, 3, 4]
    }

    /// With segments in front of the frame header, whose marker is given.
    static func jpeg(_ width: UInt32, _ height: UInt32, frame: UInt8 = 0xc0) -> [UInt8] {
        let application: [UInt8] = [0xff, 0xe0, 0, 16] + Array("JFIF\0".utf8) + [1, 1, 0, 0, 1, 0, 1, 0, 0]
        // A picture within the picture, as cameras put it there: its size is not the picture's.
        let inner: [UInt8] = [0xff, 0xd8, 0xff, 0xc0, 0, 11, 8, 0, 1, 0, 1]
        let exif: [UInt8] = [0xff, 0xe1, 0, UInt8(2 + inner.count)] + inner
        let filled: [UInt8] = [0xff, 0xff, 0xff, frame, 0, 11, 8]
        return [0xff, 0xd8] + application + exif + filled + big(height, 2) + big(width, 2) + [1, 1, 0x11, 0]
    }

    static func gif(_ width: UInt32, _ height: UInt32, frame: (UInt32, UInt32, UInt32, UInt32)? = nil) -> [UInt8] {
        var bytes = Array("GIF89a".utf8) + little(width, 2) + little(height, 2) + [0x80, 0, 0, 1, 2, 3, 4, 5, 6]
        bytes += [0x21, 0xf9, 4, 0, 0, 0, 0, 0]
        if let frame {
            bytes += [0x2c] + little(frame.0, 2) + little(frame.1, 2) + little(frame.2, 2) + little(frame.3, 2) + [0]
            bytes += [2, 2, 0x4c, 1, 0]
        }
        return bytes + [0x3b]
    }

    static func lossyWebP(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        riff("VP8 ", [0x10, 0, 0, 0x9d, 0x01, 0x2a] + little(width, 2) + little(height, 2))
    }

    static func losslessWebP(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        riff("VP8L", [0x2f] + little((width - 1) | (height - 1) << 14, 4))
    }

    static func extendedWebP(_ width: UInt32, _ height: UInt32) -> [UInt8] {
        riff("VP8X", [0, 0, 0, 0] + little(width - 1, 3) + little(height - 1, 3))
    }

    static let all: [[UInt8]] = [
        png(4, 3), jpeg(4, 3), jpeg(4, 3, frame: 0xc2), gif(4, 3), gif(4, 3, frame: (0, 0, 4, 3)), lossyWebP(4, 3),
        losslessWebP(4, 3), extendedWebP(4, 3),
    ]

    private static func riff(_ kind: String, _ chunk: [UInt8]) -> [UInt8] {
        Array("RIFF".utf8) + little(UInt32(12 + chunk.count), 4) + Array("WEBP".utf8) + Array(kind.utf8)
            + little(UInt32(chunk.count), 4) + chunk
    }

    private static func big(_ value: UInt32, _ count: Int) -> [UInt8] { little(value, count).reversed() }

    private static func little(_ value: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt32(8 * $0)) }
    }
}
