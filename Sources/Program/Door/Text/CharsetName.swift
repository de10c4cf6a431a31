/// A character set by one of the names that programs give it: IANA's, with its aliases, and those of Windows and Java.
struct CharsetName {
    enum Form {
        case utf8, ascii
        /// Windows-1252, of which ISO-8859-1 is a part.
        case western
        /// ISO-8859-15.
        case latin9
        case utf16(isBig: Bool)
        case utf32(isBig: Bool)
        /// By the C library's name. Others are not passed to it: some of its converters had faults.
        case library(String)
    }

    let form: Form

    /// `nil` for a character set that isn't known.
    init?(_ name: String) {
        // "ISO_8859-1:1987"
        let plain = name.lowercased().prefix { $0 != ":" }.map { $0 == "_" ? "-" : String($0) }.joined()
        let names = plain.hasPrefix("x-") ? [plain, String(plain.dropFirst(2))] : [plain]
        guard let form = names.lazy.compactMap({ Self.named[$0] ?? Self.numbered($0) }).first else { return nil }
        self.form = form
    }

    private static let named: [String: Form] = [
        "utf-8": .utf8, "utf8": .utf8, "unicode-1-1-utf-8": .utf8, "us-ascii": .ascii, "ascii": .ascii,
        "ansi-x3.4-1968": .ascii, "iso646-us": .ascii, "utf-16": .utf16(isBig: false), "utf16": .utf16(isBig: false),
        "utf-16le": .utf16(isBig: false), "utf-16be": .utf16(isBig: true), "ucs-2": .utf16(isBig: false),
        "utf-32": .utf32(isBig: false), "utf32": .utf32(isBig: false), "utf-32le": .utf32(isBig: false),
        "utf-32be": .utf32(isBig: true), "ucs-4": .utf32(isBig: false), "koi8-r": .library("KOI8-R"),
        "koi8": .library("KOI8-R"), "koi8-u": .library("KOI8-U"), "shift-jis": .library("CP932"),
        "sjis": .library("CP932"), "ms-kanji": .library("CP932"), "windows-31j": .library("CP932"),
        "euc-jp": .library("EUC-JP"), "iso-2022-jp": .library("ISO-2022-JP"), "gb2312": .library("GBK"),
        "euc-cn": .library("GBK"), "gbk": .library("GBK"), "gb18030": .library("GB18030"), "big5": .library("BIG5"),
        "cn-big5": .library("BIG5"), "big5-hkscs": .library("BIG5-HKSCS"), "big5hkscs": .library("BIG5-HKSCS"),
        "euc-kr": .library("CP949"), "ks-c-5601-1987": .library("CP949"), "uhc": .library("CP949"),
        "tis-620": .library("TIS-620"), "macintosh": .library("MACINTOSH"), "mac-roman": .library("MACINTOSH"),
        "macroman": .library("MACINTOSH"), "mac": .library("MACINTOSH"), "mac-cyrillic": .library("MAC-CYRILLIC"),
    ]

    private static func numbered(_ name: String) -> Form? {
        // ISO-8859-8-I differs in the order of lines that are shown, not in its letters.
        let name = ["-i", "-e"].contains(where: name.hasSuffix) ? String(name.dropLast(2)) : name
        for (prefixes, form) in families {
            // The longest first.
            guard let prefix = prefixes.first(where: name.hasPrefix) else { continue }
            let digits = name.dropFirst(prefix.count)
            guard 1...5 ~= digits.utf8.count, digits.utf8.allSatisfy({ 0x30...0x39 ~= $0 }), let number = Int(digits)
            else { continue }
            return form(number)
        }
        return nil
    }

    private static let families: [(prefixes: [String], form: @Sendable (Int) -> Form?)] = [
        (["iso-8859-", "iso8859-", "8859-"], { part($0) }), (["latin-", "latin", "l"], { latin[$0].flatMap(part) }),
        (["windows-", "ibm-", "ibm", "cp-", "cp", "ms"], { page($0) }),
    ]

    /// Of ISO-8859.
    private static func part(_ number: Int) -> Form? {
        switch number {
        case 1: .western
        case 15: .latin9
        case 2...16: .library("ISO-8859-\(number)")
        default: nil
        }
    }

    private static let latin = [1: 1, 2: 2, 3: 3, 4: 4, 5: 9, 6: 10, 7: 13, 8: 14, 9: 15, 10: 16]

    private static func page(_ number: Int) -> Form? {
        switch number {
        case 819, 1252: .western
        case 936: .library("GBK")
        case 65001: .utf8
        // Of DOS and the console of Windows.
        case 437, 737, 775, 850, 852, 855, 857, 858, 860...866, 869: .library("CP\(number)")
        case 874, 932, 949, 950, 1250...1258: .library("CP\(number)")
        default: nil
        }
    }
}
