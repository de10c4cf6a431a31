/// The reason why a code could not be drawn or read.
package struct QRError: Error, Sendable, Equatable {
    /// What kind of failure it is; open-ended.
    package struct Code: Hashable, Sendable {
        let name: String

        package init(_ name: String) { self.name = name }

        /// The text or a number cannot be drawn.
        package static let text = Code("text")
        package static let scale = Code("scale")
        /// The pixels are not described as pixels can be.
        package static let pixels = Code("pixels")
        /// The file cannot be read.
        package static let file = Code("file")
        /// The file is no image that can be read.
        package static let image = Code("image")
        package static let tooLarge = Code("too_large")
        /// A library is not on this machine.
        package static let missingLibrary = Code("missing_library")
        package static let noCode = Code("no_code")
        package static let noMemory = Code("no_memory")
    }

    package let code: Code
    package let message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
