import Testing

@testable import Door

@Suite("Texts in any character set and of any length")
struct TextTests {
    @Test(
        "bytes without a declared character set",
        arguments: [
            (Array("Größe €".utf8), "Größe €"), ([0x67, 0x72, 0xf6, 0xdf, 0x65], "größe"), ([0x80, 0x93], "€“"),
            ([0x81], "\u{FFFD}"), ([0xff, 0xfe], "ÿþ"), ([0xff, 0xfe, 0x61, 0, 0x3d, 0xd8, 0, 0xde], "a😀"),
            ([0xfe, 0xff, 0, 0x61], "a"),
            ([0xef, 0xbb, 0xbf, 0x61], "a"), ([], ""),
            // A file name in ISO-8859-1 among lines in UTF-8, and a character that was cut off.
            (Array("ä ".utf8) + [0xe4] + Array(" ö".utf8), "ä ä ö"), (Array("ä€".utf8.dropLast()), "ä\u{FFFD}"),
            ([0xc3], "Ã"), ([0xed, 0xa0, 0x80, 0xf4, 0x90, 0xc0], "í\u{A0}€ô\u{FFFD}À"),
        ] as [([UInt8], String)])
    func guesses(_ bytes: [UInt8], _ text: String) {
        #expect(Charset.guess(bytes) == text)
    }

    @Test("every byte is converted by every character set that is known, and names of others are refused")
    func characterSets() throws {
        for name in [
            "UTF-8", "us-ascii", "ISO-8859-1", "iso-8859-15", "Windows-1252", "windows-1250", "koi8-u", "UTF-16LE",
            "big5", "shift_jis", "euc-kr", "GB18030", "iso-2022-jp",
        ] {
            let text = try #require(Charset.decode(Array(0...255), as: name), "\(name)")
            #expect(!text.isEmpty)
            if !name.hasPrefix("UTF-16") { #expect(text.contains("A") && text.contains("z"), "\(name)") }
        }
        for name in ["", "klingon", "iso-8859-0", "iso-8859-17", "windows-1259", "UTF-8//TRANSLIT", "../x", "utf-7"] {
            #expect(Charset.decode([0x61], as: name) == nil, "\(name)")
        }
    }

    @Test(
        "of a long text the beginning and the end stay, whatever the pieces it came in",
        arguments: [1, 7, 16_384, 1 << 20])
    func long(_ size: Int) {
        let line = Array("größe: error €\n".utf8)
        let whole = Array("begin\n".utf8) + (0..<30_000).flatMap { _ in line } + Array("end".utf8)
        for bytes in [whole, Array(whole.prefix(70_000)), Array(whole.prefix(140_000)), Array(whole.prefix(65_537))] {
            var body = BodyText()
            var rest = bytes[...]
            while !rest.isEmpty {
                body.append(rest.prefix(size))
                rest = rest.dropFirst(size)
            }
            let (text, omitted) = body.text
            #expect(text.utf8.count <= 65_536 && text.hasPrefix("begin\ngröße: error €\n"))
            #expect(text.contains("\n[… \(omitted) bytes left out …]\n") && omitted > 0)
            #expect(bytes.count == whole.count ? text.hasSuffix("€\nend") : true)
            // What is left and what was left out are the whole, but for a character cut at an end.
            #expect(abs(text.utf8.count + omitted - bytes.count) < 64 + 16)
        }
        var short = BodyText()
        short.append(whole.prefix(60_000))
        #expect(short.text.omitted == 0 && short.text.text.hasPrefix("begin"))
    }

    @Test("text in a small character set is cut by what it takes as UTF-8")
    func grows() {
        var body = BodyText()
        body.append([UInt8](repeating: 0xe4, count: 60_000))
        #expect(body.text.text.utf8.count <= 65_536 && body.text.omitted > 0)
        for _ in 0..<10 { body.append([UInt8](repeating: 0xe4, count: 60_000)) }
        #expect(body.text.text.utf8.count <= 65_536 && body.text.text.hasSuffix("ää"))
    }
}
