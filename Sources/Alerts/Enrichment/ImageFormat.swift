/// What kind of image some bytes begin, and how large it is.
///
/// Only the headers are read, and nothing is decoded: that is done by who shows it. An SVG is a program, not an image.
package struct ImageFormat: Sendable, Equatable {
    package enum Kind: Sendable, Hashable, CaseIterable { case png, jpeg, gif, webp }

    /// More would be a bomb for whoever decodes it.
    package static let maximumPixels = 50_000_000

    package let kind: Kind
    package let width: Int
    package let height: Int

    /// `nil` when the bytes begin no image of these kinds, or one without an extent.
    package static func sniff(_ bytes: [UInt8]) -> ImageFormat? {
        var reader = ImageReader(bytes)
        guard let (kind, width, height) = reader.read(), width > 0, height > 0 else { return nil }
        return ImageFormat(kind: kind, width: width, height: height)
    }

    /// By the `Content-Type` *and* by the bytes; without a `Content-Type` the bytes decide. Which of the four kinds the
    /// header names does not matter.
    package static func accept(_ bytes: [UInt8], contentType: String?) throws(EnrichmentError) -> ImageFormat {
        let type = contentType.map(mediaType) ?? ""
        guard type.isEmpty || (type.hasPrefix("image/") && !type.hasPrefix("image/svg")) else {
            throw EnrichmentError(.notAnImage, "the server's content type is not a supported image type")
        }
        guard let format = sniff(bytes) else {
            throw EnrichmentError(.notAnImage, "the file is not a PNG, JPEG, GIF or WebP image")
        }
        guard format.pixels <= maximumPixels else {
            throw EnrichmentError(.tooManyPixels, "the image has more than \(maximumPixels) pixels")
        }
        return format
    }

    package var pixels: Int {
        let (product, isTooLarge) = width.multipliedReportingOverflow(by: height)
        return isTooLarge ? .max : product
    }

    package var fileExtension: String {
        switch kind {
        case .png: "png"
        case .jpeg: "jpg"
        case .gif: "gif"
        case .webp: "webp"
        }
    }

    /// `image/png` of ` Image/PNG; charset=…`.
    private static func mediaType(_ text: String) -> String {
        let type = text.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 > 0x20 }
        return String(decoding: type, as: UTF8.self).lowercased()
    }
}
