@_exported public import Errors

/// The reason why an alert is shown without its image.
package typealias EnrichmentError = CodedError<EnrichmentErrorDomain>

package enum EnrichmentErrorDomain: ErrorDomain {}

extension EnrichmentError.Code {
    /// The header or data isn't PNG, JPEG, GIF or WebP.
    package static var notAnImage: Self { Self("not_an_image") }
    package static var tooManyPixels: Self { Self("too_many_pixels") }
    package static var tooManyFrames: Self { Self("too_many_frames") }
    /// The cache's directory or disk failed.
    package static var notKept: Self { Self("not_kept") }
}
