/// Text in UTF-8 that ends inside a character, because a program cut it by its bytes.
package enum UTF8Cut {
    /// Number of bytes at the end that begin a character without completing it.
    ///
    /// 0 as well if these bytes may be text in a single-byte character set, such as a final `é`: that is, if all bytes before
    /// them are ASCII, unless they begin an emoji.
    package static func length(of bytes: some BidirectionalCollection<UInt8>) -> Int {
        guard let start = bytes.indices.suffix(3).last(where: { bytes[$0] & 0xc0 != 0x80 }) else { return 0 }
        let (tail, lead) = (Array(bytes[start...]), bytes[start])
        let whole = lead < 0xc2 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf5 ? 4 : 0
        guard tail.count < whole else { return 0 }
        let isEmoji = lead == 0xf0 && tail.count > 1 && tail[1] >= 0x90
        return isEmoji || bytes[..<start].contains { $0 >= 0x80 } ? tail.count : 0
    }
}
