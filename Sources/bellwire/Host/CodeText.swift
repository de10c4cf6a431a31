/// The text of a QR code, as a user gives it.
enum CodeText {
    /// The text itself, `@FILE`, or `-` for standard input.
    ///
    /// - Parameter whose: who shows the code, for the prompt on a terminal.
    static func read(_ operand: String, of whose: String) throws(Failure) -> String {
        var text = operand
        if operand == "-" {
            if LineInput.isTerminal { Output.notice("paste the text of the \(whose)'s QR code, then press Enter") }
            text = try LineInput.all()
        } else if operand.hasPrefix("@") {
            text = try LineInput.contents(ofFile: String(operand.dropFirst()))
        }
        return text.trimmed
    }
}

extension String {
    /// Without white space at both ends.
    var trimmed: String {
        var rest = self[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
