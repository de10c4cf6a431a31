import COnDemand
import Glibc

/// Finds QR codes in pictures, by ZBar; libpng and libjpeg-turbo read the files. All three are loaded when they are used.
package enum QRReader {
    package static let maximumFileBytes = 32 << 20
    package static let maximumPixels = 50_000_000

    /// The texts of the codes in an image file; at least one.
    package static func read(path: String) throws(QRError) -> [String] {
        let bytes = try contents(of: path)
        let (texts, canBeOther) = try read(bytes, again: false)
        if !texts.isEmpty || !canBeOther { return try atLeastOne(texts) }
        return try atLeastOne(read(bytes, again: true).texts)
    }

    /// - Parameter again: the file's other meaning, if it has one.
    private static func read(_ bytes: [UInt8], again: Bool) throws(QRError) -> (texts: [String], canBeOther: Bool) {
        var image = bw_image()
        let (result, why) = withReason { why, size in
            bw_image_read(&image, bytes, bytes.count, again, UInt64(maximumPixels), why, size)
        }
        defer { free(image.grey) }
        switch result {
        case 0, 1: break
        case -ENOENT:
            throw QRError(.missingLibrary, "cannot use the library for this image format: \(why)")
        case -EINVAL:
            throw QRError(.image, "the file is not a readable PNG or JPEG image: \(why)")
        case -EFBIG:
            throw QRError(.tooLarge, "\(why); the limit is 50 megapixels: scale the picture down or crop it")
        default: throw QRError(.noMemory, "out of memory")
        }
        return (try texts(in: image), result == 1)
    }

    /// The texts of the codes in grey pixels (0 = black), which are copied.
    package static func read(
        grey: UnsafePointer<UInt8>, width: Int, height: Int, stride: Int
    ) throws(QRError) -> [String] {
        guard width > 0, height > 0, stride >= width else {
            throw QRError(.pixels, "width and height must be above 0, and stride at least the width")
        }
        guard width <= maximumPixels / height else {
            throw QRError(.tooLarge, "the picture has \(width) x \(height) pixels; the limit is 50 megapixels")
        }
        guard let copy = malloc(width * height) else { throw QRError(.noMemory, "out of memory") }
        defer { free(copy) }
        for row in 0..<height { memcpy(copy + row * width, grey + row * stride, width) }
        return try atLeastOne(
            texts(
                in: bw_image(
                    grey: copy.assumingMemoryBound(to: UInt8.self), width: UInt32(width), height: UInt32(height))))
    }

    private static func texts(in image: bw_image) throws(QRError) -> [String] {
        var found: [String] = []
        let (result, why) = withReason { why, size in
            withUnsafeMutablePointer(to: &found) { found in
                bw_zbar_read(
                    image.grey, image.width, image.height,
                    { context, start, count in
                        guard let context, let start else { return }
                        let bytes = UnsafeRawBufferPointer(start: start, count: count)
                        // ISO/IEC 18004 defaults to ISO 8859-1, but valid UTF-8 is hardly ever meant as that.
                        let text =
                            String(validating: bytes, as: UTF8.self)
                            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
                        context.assumingMemoryBound(to: [String].self).pointee.append(text)
                    }, found, why, size)
            }
        }
        switch result {
        case 0: break
        case -ENOENT:
            throw QRError(.missingLibrary, "cannot use libzbar, which reads QR codes: \(why)")
        default: throw QRError(.noMemory, "out of memory")
        }
        return found
    }

    private static func atLeastOne(_ texts: [String]) throws(QRError) -> [String] {
        guard !texts.isEmpty else {
            throw QRError(
                .noCode, "no QR code found; the code must be complete, sharp and have a border")
        }
        return texts
    }

    private static func contents(of path: String) throws(QRError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
        guard descriptor >= 0 else { throw fileError(path) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw fileError(path)
            }
            if count == 0 { return bytes }
            bytes += chunk.prefix(count)
            if bytes.count > maximumFileBytes {
                throw QRError(.tooLarge, "\(path) is larger than 32 MiB; scale the picture down")
            }
        }
    }

    private static func fileError(_ path: String) -> QRError {
        QRError(.file, "cannot read \(path): \(String(cString: strerror(errno)))")
    }
}
