/// Text in UTF-8 that ends inside a character, because a program cut it by its bytes.
package enum UTF8Cut {
    /// Bytes at the end that are the beginning of a character. 0 if there are none, and if they could be text in a character
    /// set of single bytes, such as an `é` at the end: then no character before them is in UTF-8, and they don't begin one of
    /// the emoji and their kind.
    package static func length(of bytes: some BidirectionalCollection<UInt8>) -> Int {
        guard let start = bytes.indices.suffix(3).last(where: { bytes[$0] & 0xc0 != 0x80 }) else { return 0 }
        let (tail, lead) = (Array(bytes[start...]), bytes[start])
        let whole = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
        guard tail.count < whole else { return 0 }
        let isEmoji = lead == 0xf0 && tail.count > 1 && tail[1] >= 0x90
        return isEmoji || bytes[..<start].contains { $0 >= 0x80 } ? tail.count : 0
    }
}
