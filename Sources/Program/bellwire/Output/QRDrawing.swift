import CBellwire

/// A QR code on the terminal.
enum QRDrawing {
    /// Draws the code if the terminal is wide enough, with instructions below it. Otherwise, or with `alsoText`, prints
    /// its text on a separate line.
    static func show(_ payload: String, says: String, alsoText: Bool) throws(Failure) {
        let drawing = Output.isTerminal ? try self.drawing(of: payload) : nil
        if let drawing {
            Output.text(drawing)
            Output.line(says)
        }
        if drawing == nil || alsoText { Output.line(payload) }
    }

    /// `nil`, with a message, if the terminal is too narrow.
    private static func drawing(of payload: String) throws(Failure) -> String? {
        // Measured without colours, which take no columns.
        let measured = try resultText { bw_qr_terminal(payload, 1, $0) }
        let width = measured.split(separator: "\n").map(\.count).max() ?? 0
        if let columns = Output.columns, columns < width {
            Output.notice("the QR code needs \(width) columns, but the terminal has \(columns); its text:")
            return nil
        }
        return Style.isOn(1) ? try resultText { bw_qr_terminal(payload, 0, $0) } : measured
    }
}
