@_exported public import Errors

/// The reason why a text is not the expected JSON.
package typealias JSONError = CodedError<JSONErrorDomain>

package enum JSONErrorDomain: ErrorDomain {}

extension JSONError.Code {
    package static var syntax: Self { Self("syntax") }
    package static var cut: Self { Self("cut") }
    package static var notUTF8: Self { Self("not_utf8") }
    package static var duplicateKey: Self { Self("duplicate_key") }
    package static var tooDeep: Self { Self("too_deep") }
    package static var numberRange: Self { Self("number_range") }
    package static var trailing: Self { Self("trailing") }
    package static var empty: Self { Self("empty") }
}
