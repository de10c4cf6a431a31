/// Detects an image's format and size from its first bytes.
///
/// Only the headers are read. An SVG is a program, not an image.
package struct ImageFormat: Sendable, Equatable {
    package enum Kind: Sendable, Hashable, CaseIterable { case png, jpeg, gif, webp }

    /// More would be a bomb for whoever decodes it.
    package static let maximumPixels = 50_000_000
    package static let maximumFrames = 500
    /// Of all frames of a GIF together, which are decoded one after the other.
    package static let maximumFramePixels = 250_000_000

    package let kind: Kind
    package let width: Int
    package let height: Int
    /// Of a GIF or an animated WebP.
    package var frames = 0
    /// Of all frames of a GIF together.
    package var framePixels = 0

    /// `nil` when the bytes begin no image of these kinds, or one without an extent.
    package static func sniff(_ bytes: [UInt8]) -> ImageFormat? {
        var reader = ImageReader(bytes)
        guard let (kind, width, height) = reader.read(), width > 0, height > 0 else { return nil }
        return ImageFormat(
            kind: kind, width: width, height: height, frames: reader.frames, framePixels: reader.framePixels)
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
        if let excess = format.excess { throw excess }
        return format
    }

    /// What there is too much of, by its header alone.
    package var excess: EnrichmentError? {
        if pixels > Self.maximumPixels {
            return EnrichmentError(.tooManyPixels, "the image has more than \(Self.maximumPixels) pixels")
        }
        if frames > Self.maximumFrames {
            return EnrichmentError(.tooManyFrames, "the image has more than \(Self.maximumFrames) frames")
        }
        if framePixels > Self.maximumFramePixels {
            return EnrichmentError(
                .tooManyPixels, "the image's frames have more than \(Self.maximumFramePixels) pixels together")
        }
        return nil
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
