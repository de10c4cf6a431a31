public import CBellwire
import CQREncode
import Glibc
import Hosting
import JSON

// bellwire.h, "QR".

@_cdecl("bw_qr_terminal") @implementation
public func bw_qr_terminal(
    _ text: UnsafePointer<CChar>?, _ plain: Int32, _ drawing: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let drawing = try output(drawing, "drawing")
        let code = try QRCode(try CABI.text(text, "text"))
        try give(code.terminalDrawing(plain: plain != 0), to: drawing)
    }
}

/// A QR code as a square of modules, by libqrencode.
private struct QRCode {
    /// ISO/IEC 18004 asks for four light modules on each side.
    private static let quietZone = 4
    static let maximumBytes = 2_048

    private let width: Int
    private let isDark: [Bool]

    init(_ text: String) throws(HostError) {
        let count = text.utf8.count
        guard (1...QRCode.maximumBytes).contains(count) else {
            throw HostError(.invalid, "text must have 1 to 2048 bytes; it has \(count)", detail: ["field": "text"])
        }
        let bytes = Array(text.utf8)
        guard let code = QRcode_encodeData(Int32(count), bytes, 0, QR_ECLEVEL_L) else {
            throw HostError(.invalid, "the text does not fit in a QR code", detail: ["field": "text"])
        }
        defer { QRcode_free(code) }
        width = Int(code.pointee.width)
        // The lowest bit of each module's byte is its colour (qrencode.h).
        isDark = UnsafeBufferPointer(start: code.pointee.data, count: width * width).map { $0 & 1 == 1 }
    }

    private func isDark(_ x: Int, _ y: Int) -> Bool {
        guard (0..<width).contains(x), (0..<width).contains(y) else { return false }
        return isDark[y * width + x]
    }

    /// Two rows of modules in each line of text: half blocks, dark on light.
    func terminalDrawing(plain: Bool) -> String {
        let range = -QRCode.quietZone..<(width + QRCode.quietZone)
        var lines = ""
        for y in stride(from: range.lowerBound, to: range.upperBound, by: 2) {
            if !plain { lines += "\u{1b}[38;5;16;48;5;231m" }
            for x in range {
                switch (isDark(x, y), isDark(x, y + 1)) {
                case (true, true): lines += "█"
                case (true, false): lines += "▀"
                case (false, true): lines += "▄"
                case (false, false): lines += " "
                }
            }
            lines += plain ? "\n" : "\u{1b}[0m\n"
        }
        return lines
    }
}
