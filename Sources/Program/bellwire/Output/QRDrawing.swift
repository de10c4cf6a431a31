import CBellwire

/// A QR code on the terminal.
enum QRDrawing {
    /// Prints the code's text, and on a terminal that is large enough the code below it, with instructions.
    ///
    /// - Parameters:
    ///   - textOnly: does not draw.
    ///   - below: the lines that follow, for which there must be rows as well.
    static func show(_ payload: String, says: String, textOnly: Bool, below: [String] = []) throws(Failure) {
        // First, so that no length of it moves the drawing out of the window.
        Output.line(payload)
        guard Output.isTerminal else { return }
        guard !textOnly else { return Output.line(says) }
        let measured = try resultText { bw_qr_terminal(payload, 1, $0) }
        // Below it are those lines, as many rows as they take, and the cursor.
        if let problem = problem(
            with: measured, rowsBelow: { columns in ([says] + below).reduce(1) { $0 + rows(of: $1, columns) } })
        {
            return Output.notice(
                "\(problem); enlarge it or use a smaller font. The code's text is above: pass it to the other side, or draw "
                    + "it with bellwire qr --png FILE")
        }
        Output.text(Style.isOn(1) ? try resultText { bw_qr_terminal(payload, 0, $0) } : measured)
        Output.line(says)
    }

    private static func rows(of line: String, _ columns: Int) -> Int { max(1, (line.count + columns - 1) / columns) }

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
