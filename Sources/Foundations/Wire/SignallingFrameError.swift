@_exported public import Errors

/// The reason why a text from a relay is not a frame. The text itself is never repeated.
package typealias SignallingFrameError = CodedError<SignallingFrameErrorDomain>

package enum SignallingFrameErrorDomain: ErrorDomain {}

extension SignallingFrameError.Code {
    /// The text is not one JSON value.
    package static var notJSON: Self { Self("not_json") }
    /// The JSON isn't an object, or has no `type`.
    package static var noType: Self { Self("no_type") }
    /// A frame of a known type without a required field.
    package static var missingField: Self { Self("missing_field") }
}
