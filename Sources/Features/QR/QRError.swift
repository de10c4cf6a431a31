@_exported public import Errors

/// The reason why a code could not be drawn or read.
package typealias QRError = CodedError<QRErrorDomain>

package enum QRErrorDomain: ErrorDomain {}

extension QRError.Code {
    /// The text or a number cannot be drawn.
    package static var text: Self { Self("text") }
    package static var scale: Self { Self("scale") }
    /// Invalid pixel dimensions or format.
    package static var pixels: Self { Self("pixels") }
    /// The file cannot be read.
    package static var file: Self { Self("file") }
    /// The file isn't a readable image.
    package static var image: Self { Self("image") }
    package static var tooLarge: Self { Self("too_large") }
    /// A library is not on this machine.
    package static var missingLibrary: Self { Self("missing_library") }
    package static var noCode: Self { Self("no_code") }
    package static var noMemory: Self { Self("no_memory") }
}
