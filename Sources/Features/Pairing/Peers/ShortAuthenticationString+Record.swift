import Identity
package import JSON

extension ShortAuthenticationString {
    /// As hosts show it: `{"digits":"123456","words":["…","…"]}`.
    package var json: JSONValue {
        ["digits": .string(digits), "words": .array(words.map(JSONValue.string))]
    }
}

extension ShortAuthenticationString {
    /// Out of a record; `nil` where there is none.
    init?(stored bits: Int64?) {
        guard let bits else { return nil }
        self.init(bits: Int(clamping: bits))
    }
}
