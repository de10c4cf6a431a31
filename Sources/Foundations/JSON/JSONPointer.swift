/// The path to a value inside another: a JSON Pointer (RFC 6901), such as `/data/routes/0/url`; empty = the whole.
package struct JSONPointer: Sendable, Equatable {
    private let tokens: [String]

    /// `nil` if the text is not a pointer: it must be empty or begin with `/`, and `~` may occur only in `~0` and `~1`.
    package init?(_ text: String) {
        guard !text.isEmpty else {
            tokens = []
            return
        }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.first?.isEmpty == true else { return nil }
        var tokens: [String] = []
        for part in parts.dropFirst() {
            guard let token = JSONPointer.unescape(part) else { return nil }
            tokens.append(token)
        }
        self.tokens = tokens
    }

    private static func unescape(_ part: Substring) -> String? {
        var token = ""
        var isEscaped = false
        for scalar in part.unicodeScalars {
            switch (isEscaped, scalar) {
            case (false, "~"): isEscaped = true
            case (false, _): token.unicodeScalars.append(scalar)
            case (true, "0"): token += "~"
            case (true, "1"): token += "/"
            case (true, _): return nil
            }
            if scalar != "~" { isEscaped = false }
        }
        return isEscaped ? nil : token
    }

    func value(in root: JSONValue) -> JSONValue? {
        var value = root
        for token in tokens {
            switch value {
            case .object(let object):
                guard let member = object[token] else { return nil }
                value = member
            case .array(let elements):
                // Digits only, no leading zero: `Int` alone would take a sign.
                guard let index = Int(token), String(index) == token, elements.indices.contains(index) else {
                    return nil
                }
                value = elements[index]
            case .null, .bool, .integer, .double, .string: return nil
            }
        }
        return value
    }
}

extension JSONValue {
    /// The value at a pointer; `nil` if there is none.
    package subscript(pointer: JSONPointer) -> JSONValue? { pointer.value(in: self) }
}
