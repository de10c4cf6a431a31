import CBellwire

/// A QR code on the terminal.
enum QRDrawing {
    /// Draws the code if the terminal is large enough, with instructions below it. Otherwise, or with `alsoText`, prints
    /// its text on a separate line.
    static func show(_ payload: String, says: String, alsoText: Bool) throws(Failure) {
        guard Output.isTerminal else { return Output.line(payload) }
        let measured = try resultText { bw_qr_terminal(payload, 1, $0) }
        // Below it are the instructions, as many rows as they take, and the cursor.
        if let problem = problem(with: measured, rowsBelow: { columns in says.count / columns + 2 }) {
            Output.notice(
                "\(problem); enlarge it or use a smaller font. The code's text follows: pass it to the other side, or draw it "
                    + "with bellwire qr --png FILE")
            return Output.line(payload)
        }
        Output.text(Style.isOn(1) ? try resultText { bw_qr_terminal(payload, 0, $0) } : measured)
        Output.line(says)
        if alsoText { Output.line(payload) }
    }

    /// Why a drawing does not fit the terminal, so that no scanner can read it; `nil` if it does.
    ///
    /// - Parameters:
    ///   - drawing: without colours, which take no columns.
    ///   - rowsBelow: how many other rows must be seen with it, for a number of columns.
    static func problem(with drawing: String, rowsBelow: (Int) -> Int) -> String? {
        guard let size = Output.size else { return nil }
        let lines = drawing.split(separator: "\n")
        let columns = lines.map { $0.count }.max() ?? 0
        guard columns <= size.columns else {
            return "the QR code needs \(columns) columns, but the terminal has \(size.columns)"
        }
        let rows = lines.count + rowsBelow(size.columns)
        return rows <= size.rows ? nil : "the QR code needs \(rows) rows, but the terminal has \(size.rows)"
    }
}
