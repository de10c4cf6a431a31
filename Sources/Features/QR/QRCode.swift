import CQREncode

/// A QR code as a square of modules, by libqrencode.
package struct QRCode: Sendable {
    package static let maximumBytes = 2_048
    /// ISO/IEC 18004 asks for four light modules on each side.
    static let quietZone = 4

    private let width: Int
    private let isDark: [Bool]

    package init(_ text: String) throws(QRError) {
        let count = text.utf8.count
        guard (1...QRCode.maximumBytes).contains(count) else {
            throw QRError(.text, "text must have 1 to 2048 bytes, not \(count)")
        }
        let bytes = Array(text.utf8)
        guard let code = QRcode_encodeData(Int32(count), bytes, 0, QR_ECLEVEL_L) else {
            throw QRError(.text, "the text does not fit in a QR code")
        }
        defer { QRcode_free(code) }
        width = Int(code.pointee.width)
        // The lowest bit of each module's byte is its colour (qrencode.h).
        isDark = UnsafeBufferPointer(start: code.pointee.data, count: width * width).map { $0 & 1 == 1 }
    }

    /// The rows, and the columns, with the quiet zone.
    var range: Range<Int> { -QRCode.quietZone..<(width + QRCode.quietZone) }

    func isDark(_ x: Int, _ y: Int) -> Bool {
        guard (0..<width).contains(x), (0..<width).contains(y) else { return false }
        return isDark[y * width + x]
    }
}
