/// A notification's text out of bytes of any length and character set: what is too long loses its middle, and says so.
package struct BodyText {
    /// In bytes, as the desktop has it.
    package static let limit = 65_536
    /// Longer ones are not read over HTTP.
    static let longest = 16 << 20

    private var head: [UInt8] = []
    private var tail: [UInt8] = []
    /// Bytes between head and tail that are no longer here.
    private var omitted = 0

    package init() {}

    /// The first ``limit`` bytes and the last ones of a longer text.
    init(ends: [UInt8], omitted: Int) {
        (head, tail, self.omitted) = (Array(ends.prefix(Self.limit)), Array(ends.dropFirst(Self.limit)), omitted)
    }

    package mutating func append(_ bytes: some Collection<UInt8>) {
        let room = Self.limit - head.count
        head += bytes.prefix(room)
        tail += bytes.dropFirst(room)
        let surplus = tail.count - Self.limit
        // Not each time: moving the rest would cost more than reading it.
        guard surplus > Self.limit else { return }
        tail.removeFirst(surplus)
        omitted += surplus
    }

    /// The text within the limit, and how many bytes of it were left out.
    package var text: (text: String, omitted: Int) { text { Charset.guess($0) } }

    func text(decoding decode: ([UInt8]) -> String) -> (text: String, omitted: Int) {
        guard omitted > 0 else { return Self.cut(decode(head + tail)) }
        // Both ends of the gap may be inside a character.
        let cutOff = head.suffix(3).reversed().prefix { $0 >= 0x80 }.count
        let (first, last) = (head.dropLast(cutOff), tail.drop { $0 & 0xc0 == 0x80 })
        let (before, after) = (decode(Array(first)), decode(Array(last)))
        return Self.joined(before, after, whole: omitted + before.utf8.count + after.utf8.count)
    }

    /// A text within the limit, and how many bytes of it were left out.
    package static func cut(_ text: String) -> (text: String, omitted: Int) {
        text.utf8.count <= limit ? (text, 0) : joined(text, text, whole: text.utf8.count)
    }

    /// The beginning of one text, a note, and the end of the other.
    private static func joined(_ head: String, _ tail: String, whole: Int) -> (text: String, omitted: Int) {
        // The note takes less than 64 bytes.
        let room = (limit - 64) / 2
        var end = head.utf8.index(head.startIndex, offsetBy: room, limitedBy: head.endIndex) ?? head.endIndex
        while end.samePosition(in: head.unicodeScalars) == nil { head.utf8.formIndex(before: &end) }
        var start = tail.utf8.index(tail.endIndex, offsetBy: -room, limitedBy: tail.startIndex) ?? tail.startIndex
        while start.samePosition(in: tail.unicodeScalars) == nil { tail.utf8.formIndex(after: &start) }
        let (first, last) = (head[..<end], tail[start...])
        let omitted = whole - first.utf8.count - last.utf8.count
        return ("\(first)\n[… \(omitted) bytes left out …]\n\(last)", omitted)
    }
}
