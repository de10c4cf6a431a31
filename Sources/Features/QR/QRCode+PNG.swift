import COnDemand
import Glibc

extension QRCode {
    package static let scales = 1...32

    /// A PNG image, `scale` pixels a module: bytes that the caller gives to `free()`.
    package func png(scale: Int) throws(QRError) -> UnsafeMutableBufferPointer<UInt8> {
        guard QRCode.scales.contains(scale) else {
            throw QRError(.scale, "scale must be 1 to 32 pixels per module, not \(scale)")
        }
        let side = range.count * scale
        var grey: [UInt8] = []
        grey.reserveCapacity(side * side)
        for y in range {
            var row: [UInt8] = []
            row.reserveCapacity(side)
            for x in range { row.append(contentsOf: repeatElement(isDark(x, y) ? 0 : 255, count: scale)) }
            for _ in 0..<scale { grey += row }
        }
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        let (result, why) = withReason { why, size in
            grey.withUnsafeMutableBufferPointer { grey in
                var image = bw_image(grey: grey.baseAddress, width: UInt32(side), height: UInt32(side))
                return bw_image_write_png(&image, &bytes, &count, why, size)
            }
        }
        guard result == 0, let bytes else {
            if result == -ENOENT { throw QRError(.missingLibrary, "cannot use libpng: \(why)") }
            throw QRError(.noMemory, "out of memory")
        }
        return UnsafeMutableBufferPointer(start: bytes, count: count)
    }
}

/// Calls a function of C that puts the reason of its failure into a buffer.
func withReason<Result>(_ body: (UnsafeMutablePointer<CChar>, Int) -> Result) -> (Result, why: String) {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { buffer in
        buffer.initialize(repeating: 0)
        guard let start = buffer.baseAddress else { preconditionFailure("256 bytes have an address") }
        let result = body(start, buffer.count)
        return (result, String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
    }
}
