@testable import Alerts
import COnDemand
import Glibc
import QR

extension FuzzTarget {
    /// An image's extent is read inside its bytes; more bytes behind it change nothing of PNG, JPEG and WebP.
    static let images = FuzzTarget("images", limit: 4_096) { bytes in
        guard let format = ImageFormat.sniff(bytes) else { return }
        try require(format.width > 0 && format.height > 0 && format.pixels > 0, "an image without an extent")
        if format.kind != .gif {
            let longer = ImageFormat.sniff(bytes + [0xff, 0xd8, 0x2c])
            let isSame = longer?.kind == format.kind && longer?.width == format.width && longer?.height == format.height
            try require(isSame, "another extent with bytes behind it")
        }
        let isAccepted = (try? ImageFormat.accept(bytes, contentType: "image/png; q=1")) != nil
        let isWithinLimits =
            format.pixels <= ImageFormat.maximumPixels && format.frames <= ImageFormat.maximumFrames
            && format.framePixels <= ImageFormat.maximumFramePixels
        try require(isAccepted == isWithinLimits, "its size decides")
        let most = 1 << 16
        if format.kind == .gif, bw_image_check(bytes, bytes.count, UInt64(most)) == 0 {
            try require(
                format.frames > 0 && format.framePixels <= most, "frames were decoded that its header does not show")
        }
        try require((try? ImageFormat.accept(bytes, contentType: "image/svg+xml")) == nil, "an SVG is accepted")
    }

    /// PNG and JPEG files from anyone, and grey pixels, through the libraries of this machine.
    static let pictures = FuzzTarget("pictures", limit: 8_192) { bytes in
        var input = FuzzInput(bytes)
        if input.choice(8) == 0 {
            let (width, height) = (input.choice(64) + 1, input.choice(64) + 1)
            let grey = input.bytes(width * height)
            _ = try? QRReader.read(grey: grey, width: width, height: height, stride: width)
            return
        }
        _ = try? read(file: input.rest())
    }

    /// A text that was drawn is read from its picture.
    static let drawnCodes = FuzzTarget("drawn-codes", limit: 128) { bytes in
        var input = FuzzInput(bytes)
        let scale = input.choice(4) + 2
        let text = String(decoding: input.rest(), as: UTF8.self)
        guard !text.utf8.isEmpty else { return }
        let png = try QRCode(text).png(scale: scale)
        defer { free(png.baseAddress) }
        let found = try read(file: Array(png))
        try require(found == [text], "drawn \(Array(text.utf8)), read \(found.map { Array($0.utf8) })")
    }

    private static func read(file bytes: [UInt8]) throws -> [String] {
        var name = Array("/dev/shm/bellwire-fuzz-XXXXXX".utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw FuzzFinding("no file to write to") }
        unlink(name)
        defer { close(descriptor) }
        var written = 0
        while written < bytes.count {
            let count = bytes[written...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count > 0 else { throw FuzzFinding("the file cannot be written") }
            written += count
        }
        return try QRReader.read(path: "/proc/self/fd/\(descriptor)")
    }
}
