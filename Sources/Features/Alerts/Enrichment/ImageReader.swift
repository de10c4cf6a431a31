/// Reads an image's first bytes. Whatever they are, it stays inside them.
struct ImageReader {
    typealias Extent = (kind: ImageFormat.Kind, width: Int, height: Int)

    /// Number of frames; 0 = not an animation.
    private(set) var frames = 0
    /// Of the frames of a GIF together; there is no room in it for so many that this would overflow.
    private(set) var framePixels = 0

    /// Bytes read one by one: an image of 10 MiB in blocks of their full size has less than half of these.
    private static let maximumSteps = 100_000

    private let bytes: [UInt8]
    private var position = 0
    private var steps = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func read() -> Extent? {
        if skip([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) { return png() }
        if skip([0xff, 0xd8]) { return jpeg() }
        if skip("GIF87a".utf8) || skip("GIF89a".utf8) { return gif() }
        if skip("RIFF".utf8) { return webp() }
        return nil
    }

    // MARK: PNG

    /// The first chunk is IHDR, of 13 bytes.
    private mutating func png() -> Extent? {
        guard big(4) == 13, skip("IHDR".utf8), let width = big(4), let height = big(4) else { return nil }
        guard width <= Int(Int32.max), height <= Int(Int32.max) else { return nil }
        return (.png, width, height)
    }

    // MARK: JPEG

    /// Segments up to the frame header, whichever of its kinds.
    private mutating func jpeg() -> Extent? {
        while let marker = marker() {
            switch marker {
            // Restart markers and TEM stand alone.
            case 0x01, 0xd0...0xd7: continue
            // The image's own data, or its end, before any frame header.
            case 0x00, 0xd8, 0xd9, 0xda: return nil
            case 0xc0...0xcf where marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
                guard let length = big(2), length >= 8, byte() != nil, let height = big(2), let width = big(2) else {
                    return nil
                }
                return (.jpeg, width, height)
            default:
                guard let length = big(2), length >= 2, advance(length - 2) else { return nil }
            }
        }
        return nil
    }

    /// 0xff, filled up with more of it, and the marker's own byte.
    private mutating func marker() -> Int? {
        guard byte() == 0xff else { return nil }
        while let byte = byte() {
            if byte != 0xff { return byte }
        }
        return nil
    }

    // MARK: GIF

    /// The screen, and every frame that reaches over its edge: some decoders grow the screen by it.
    private mutating func gif() -> Extent? {
        guard let width = little(2), let height = little(2), let flags = byte(), advance(2) else { return nil }
        var extent = Extent(.gif, width, height)
        if skipColours(flags) { while frame(&extent) {} }
        // A truncated image is shown as far as it goes. One with too many blocks before its frames is refused.
        return steps < Self.maximumSteps ? extent : nil
    }

    /// One block; `false` after the last.
    private mutating func frame(_ extent: inout Extent) -> Bool {
        switch byte() {
        case 0x21: return advance(1) && skipBlocks()
        case 0x2c:
            guard let left = little(2), let top = little(2), let width = little(2), let height = little(2) else {
                return false
            }
            frames += 1
            framePixels += width * height
            extent.width = max(extent.width, left + width)
            extent.height = max(extent.height, top + height)
            guard let flags = byte() else { return false }
            return skipColours(flags) && advance(1) && skipBlocks()
        default: return false
        }
    }

    /// The table of colours that the flags announce.
    private mutating func skipColours(_ flags: Int) -> Bool {
        flags & 0x80 == 0 || advance(3 << (flags & 7 + 1))
    }

    /// Blocks with their length in front, up to an empty one.
    private mutating func skipBlocks() -> Bool {
        while let length = byte() {
            if length == 0 { return true }
            guard advance(length) else { return false }
        }
        return false
    }

    // MARK: WebP

    private mutating func webp() -> Extent? {
        guard advance(4), skip("WEBP".utf8) else { return nil }
        if skip("VP8 ".utf8) {
            // The chunk's length, the frame's tag of three bytes, the start code.
            guard advance(4), let tag = little(3), tag & 1 == 0, skip([0x9d, 0x01, 0x2a]),
                let width = little(2), let height = little(2)
            else { return nil }
            return (.webp, width & 0x3fff, height & 0x3fff)
        }
        if skip("VP8L".utf8) {
            guard advance(4), skip([0x2f]), let bits = little(4), bits >> 29 == 0 else { return nil }
            return (.webp, bits & 0x3fff + 1, bits >> 14 & 0x3fff + 1)
        }
        guard skip("VP8X".utf8), advance(4), let flags = little(4), let width = little(3), let height = little(3) else {
            return nil
        }
        if flags & 2 != 0 {
            while frames <= ImageFormat.maximumFrames, let name = take(4), let length = little(4),
                advance(length + length & 1)
            {
                if name.elementsEqual("ANMF".utf8) { frames += 1 }
            }
        }
        return (.webp, width + 1, height + 1)
    }

    // MARK: Bytes

    private mutating func skip(_ expected: some Collection<UInt8>) -> Bool {
        guard bytes[position...].starts(with: expected) else { return false }
        position += expected.count
        return true
    }

    private mutating func advance(_ count: Int) -> Bool {
        guard count <= bytes.count - position else { return false }
        position += count
        return true
    }

    private mutating func byte() -> Int? {
        guard steps < Self.maximumSteps, position < bytes.count else { return nil }
        defer {
            position += 1
            steps += 1
        }
        return Int(bytes[position])
    }

    private mutating func big(_ count: Int) -> Int? {
        take(count)?.reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func little(_ count: Int) -> Int? {
        take(count)?.reversed().reduce(0) { $0 << 8 | Int($1) }
    }

    private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
        let start = position
        return advance(count) ? bytes[start..<position] : nil
    }
}
