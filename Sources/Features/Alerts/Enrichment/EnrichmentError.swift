/// The reason why an alert is shown without its image.
package struct EnrichmentError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The kind of failure, from an open list; events contain its name.
    package struct Code: Sendable, Hashable, CustomStringConvertible {
        package let name: String

        package init(_ name: String) { self.name = name }

        package var description: String { name }

        /// Its header or its bytes are not PNG, JPEG, GIF or WebP.
        package static let notAnImage = Code("not_an_image")
        package static let tooManyPixels = Code("too_many_pixels")
        package static let tooManyFrames = Code("too_many_frames")
        /// The cache's directory or disk.
        package static let notKept = Code("not_kept")
    }

    package let code: Code
    /// For people, in English.
    package let message: String

    package init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    package var description: String { message }
}
