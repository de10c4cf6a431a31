/// The reason why a text is not the expected JSON.
package struct JSONError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of error; more may be added.
    package struct Code: Sendable, Hashable {
        package let name: String

        package init(_ name: String) { self.name = name }

        package static let syntax = Code("syntax")
        package static let cut = Code("cut")
        package static let notUTF8 = Code("not_utf8")
        package static let duplicateKey = Code("duplicate_key")
        package static let tooDeep = Code("too_deep")
        package static let numberRange = Code("number_range")
        package static let trailing = Code("trailing")
        package static let empty = Code("empty")
    }

    package let code: Code
    /// For people, in English. Says where, and never repeats the text itself.
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    package var description: String { message }
}
