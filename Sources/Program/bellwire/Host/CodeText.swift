import CBellwire
import JSON

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

    /// The text of the QR code in a picture: the only code, or the only one for pairing.
    static func read(image path: String) throws(Failure) -> String {
        let texts = try result { bw_qr_read(path, $0) }.array?.compactMap(\.string) ?? []
        let found = texts.count > 1 ? texts.filter { $0.contains("-pairing\"") } : texts
        guard found.count == 1 else {
            let many = found.isEmpty ? "\(texts.count) QR codes, none of them" : "\(found.count) QR codes"
            throw Failure(.failed, "\(path) shows \(many) for pairing; crop the picture to the right one")
        }
        return found[0]
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
