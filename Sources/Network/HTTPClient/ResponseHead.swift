/// Reads the head of a response line by line, and decides whether its body is wanted.
struct ResponseHead {
    /// Bytes of all heads of one transfer, informational ones and trailers included.
    static let maximumBytes = 64 << 10

    /// The `Location` of the last head.
    private(set) var location: String?
    private(set) var status = 0
    /// Whether the last head, an informational one aside, has come to its end.
    private(set) var isWhole = false
    private(set) var isTooLarge = false
    private var count = 0

    /// One line with its end. `false`: nothing more is wanted of this answer.
    mutating func take(_ line: UnsafeRawBufferPointer, status: Int) -> Bool {
        count += line.count
        guard count <= Self.maximumBytes else {
            isTooLarge = true
            return false
        }
        self.status = status
        if line.starts(with: "HTTP/".utf8) {
            (location, isWhole) = (nil, false)
        } else if line.allSatisfy({ $0 == 13 || $0 == 10 }) {
            if (100...199).contains(status) { return true }
            isWhole = true
            // Only of a 200 the body is read: not of a redirect, not of an error's page.
            return status == 200
        } else if location == nil, !isWhole {
            location = Self.location(in: line)
        }
        return true
    }

    /// Whether the answer sends us elsewhere.
    var isRedirect: Bool { isWhole && [301, 302, 303, 307, 308].contains(status) }

    private static func location(in line: UnsafeRawBufferPointer) -> String? {
        let name = "location:".utf8
        guard line.count > name.count, zip(line, name).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) else { return nil }
        let value = line[name.count...].drop { $0 == 32 || $0 == 9 }
        guard let end = value.lastIndex(where: { $0 > 32 }), !value.contains(0) else { return "" }
        return String(decoding: value[...end], as: UTF8.self)
    }
}
