/// Texts that are compared, stored or handed on, and not read by a person alone.
enum PlainText {
    /// Without control characters, NUL among them.
    static func isPlain(_ text: String) -> Bool { text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f } }
}
