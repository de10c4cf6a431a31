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
            ([0xc3], "Ã"), (Array("done 😀".utf8.dropLast()), "done \u{FFFD}"),
            ([0xed, 0xa0, 0x80, 0xf4, 0x90, 0xc0], "í\u{A0}€ô\u{FFFD}À"),
        ] as [([UInt8], String)])
    func guesses(_ bytes: [UInt8], _ text: String) {
        #expect(Charset.guess(bytes) == text)
    }

    @Test("every byte is converted by every character set that is known, and names of others are refused")
    func characterSets() throws {
        for name in [
            "UTF-8", "us-ascii", "ISO-8859-1", "iso-8859-15", "Windows-1252", "windows-1250", "koi8-u", "UTF-16LE",
            "big5", "shift_jis", "euc-kr", "GB18030", "iso-2022-jp", "Big5-HKSCS", "windows-1255", "windows-1258",
            "cp437",
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
        "character sets have many names",
        arguments: [
            (
                "kůň", [0x6b, 0xf9, 0xf2],
                ["ISO_8859-2", "iso8859-2", "latin2", "L2", "ISO_8859-2:1987", "iso-8859-2-e"]
            ),
            (
                "Größe", [0x47, 0x72, 0xf6, 0xdf, 0x65],
                ["cp819", "IBM819", "latin1", "ISO_8859-1", "l9", "x-cp1252", "latin5"]
            ),
            ("Größe", [0x47, 0x72, 0x94, 0xe1, 0x65], ["cp437", "IBM437", "cp850", "IBM-850", "cp858", "cp852"]),
            ("Да", [0x84, 0xa0], ["cp866", "IBM866", "cp-866"]),
            ("日本", [0x93, 0xfa, 0x96, 0x7b], ["cp932", "x-sjis", "MS932"]),
            ("中文", [0xd6, 0xd0, 0xce, 0xc4], ["cp936", "x-gbk", "windows-936", "GB2312"]),
            ("한국", [0xc7, 0xd1, 0xb1, 0xb9], ["cp949", "ms949", "UHC", "ks_c_5601-1987"]),
            ("繁體", [0xc1, 0x63, 0xc5, 0xe9], ["cp950", "Big5-HKSCS", "Big5", "x-big5"]),
            ("สวัสดี", [0xca, 0xc7, 0xd1, 0xca, 0xb4, 0xd5], ["windows-874", "cp874", "TIS-620", "iso-8859-11"]),
            ("é", [0x8e], ["x-mac-roman", "macintosh", "macroman"]),
            ("aä", [0x61, 0xc3, 0xa4], ["cp65001", "UTF8", "utf_8"]),
            ("a😀", [0, 0, 0, 0x61, 0, 1, 0xf6, 0], ["utf-32be"]),
            ("a😀", [0x61, 0, 0, 0, 0, 0xf6, 1, 0], ["UTF-32", "utf-32le"]),
            ("a", [0, 0, 0xfe, 0xff, 0, 0, 0, 0x61], ["utf-32"]), ("\u{FFFD}", [0, 0xd8, 0, 0, 1], ["utf-32"]),
        ] as [(String, [UInt8], [String])])
    func aliases(_ text: String, _ bytes: [UInt8], _ names: [String]) {
        for name in names { #expect(Charset.decode(bytes, as: name) == text, "\(name)") }
    }

    @Test("letters that the converter holds back, because a mark may follow, are there")
    func lastLetters() {
        #expect(Charset.decode([0xf9, 0xec, 0xe5, 0xed], as: "windows-1255") == "שלום")
        #expect(Charset.decode([0x43, 0x68, 0xe0, 0x6f], as: "windows-1258") == "Chào")
        #expect(Charset.decode([0x6f], as: "windows-1258") == "o" && Charset.decode([], as: "windows-1258") == "")
        #expect(Charset.decode([0x6f, 0xd2], as: "windows-1258")?.hasPrefix("o") == false)
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
