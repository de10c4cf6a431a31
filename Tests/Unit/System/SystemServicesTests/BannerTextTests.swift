import TestSupport
import Testing

@testable import SystemServices

@Suite("Texts of banners")
struct BannerTextTests {
    @Test(
        "Markup, entities and quotes become text where markup is read",
        arguments: [
            ("<img src=\"http://x/y.png\">", "&lt;img src=&quot;http://x/y.png&quot;&gt;"),
            ("<b>bold</b> & 'so'", "&lt;b&gt;bold&lt;/b&gt; &amp; &apos;so&apos;"),
            ("&amp; &#60;i&#62;", "&amp;amp; &amp;#60;i&amp;#62;"),
            ("<a href='javascript:1'>ü€😀</a>", "&lt;a href=&apos;javascript:1&apos;&gt;ü€😀&lt;/a&gt;"),
            ("", ""),
        ])
    func escaped(text: String, expected: String) {
        #expect(BannerText.escaped(text) == expected)
    }

    @Test("What is not seen is taken out: controls, NUL, marks of direction, noncharacters")
    func invisible() {
        #expect(BannerText.line("a\u{0}b\u{1}c\u{7F}d\u{9B}e\u{1B}[31mf") == "abcde[31mf")
        #expect(BannerText.line("pay \u{202E}001\u{202C} \u{2066}x\u{2069}\u{200E}\u{200F}\u{061C}") == "pay 001 x")
        let odd: [UInt32] = [0xFEFF, 0x61, 0xFFFE, 0xFFFF, 0x62, 0xFDD0, 0x1_FFFE, 0x63, 0xFFF9]
        #expect(BannerText.line(odd.compactMap { Unicode.Scalar($0).map { String($0) } }.joined()) == "abc")
        // What writing needs stays: joiners, variation selectors, right-to-left letters.
        #expect(BannerText.line("می‌خواهم שלום 👨‍👩‍👧‍👦 ❤️") == "می‌خواهم שלום 👨‍👩‍👧‍👦 ❤️")
    }

    @Test("Line breaks of every kind are kept in the body, and are blanks in the title")
    func lineBreaks() {
        let text = "a\nb\r\nc\rd\u{2028}e\u{85}f\tg"
        #expect(BannerText.lines(text) == "a\nb\nc\nd\ne\nf g")
        #expect(BannerText.line(text) == "a b c d e f g")
    }

    @Test("A long text is cut on a character, with …")
    func cut() {
        #expect(BannerText.line(String(repeating: "a", count: 256)) == String(repeating: "a", count: 256))
        #expect(BannerText.line(String(repeating: "a", count: 257)) == String(repeating: "a", count: 255) + "…")
        let family = "👨‍👩‍👧‍👦"
        #expect(
            BannerText.line(String(repeating: family, count: 300), limit: 4) == String(repeating: family, count: 3)
                + "…")
        #expect(BannerText.lines(String(repeating: "ü", count: 5_000)).count == 4_096)
        #expect(BannerText.line("x", limit: 0) == "")
        // Nothing but what is taken out, and more of it than is looked at.
        #expect(BannerText.line(String(repeating: "\u{202E}", count: 10_000) + "x") == "…")
    }

    @Test("A character is not piled up without end")
    func piledUp() {
        let tower = "Z" + String(repeating: "\u{0301}", count: 1_000_000)
        let shown = BannerText.line(tower)
        #expect(shown.unicodeScalars.count <= 18)
        #expect(shown.unicodeScalars.first == "Z" && shown.hasSuffix("…"))
        let family = "👩🏽‍❤️‍💋‍👨🏻"
        #expect(BannerText.line(family) == family)
    }

    @Test("A text of a megabyte takes no noticeable time")
    func megabyte() {
        for piece in ["a", "<", "\u{202E}", "👨‍👩‍👧‍👦", "\u{0301}", "\n"] {
            let text = String(repeating: piece, count: 1 << 20)
            let time = processorTime {
                _ = BannerText.escaped(BannerText.lines(text))
                _ = BannerText.line(text)
            }
            // A debug build's.
            #expect(time < .seconds(1), "\(piece.unicodeScalars.map(\.value)) took \(time)")
        }
    }

    @Test("Random texts: what comes out is short, of one line, seen, and no markup")
    func random() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<3_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int.random(in: 0...400, using: &generator) {
                let range: ClosedRange<UInt32> =
                    [0...0x7F, 0...0x3000, 0xFD00...0xFFFF, 0...0x10FFFF].randomElement() ?? 0...1
                if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &generator)) { text.append(scalar) }
            }
            let line = BannerText.line(String(text), limit: 50)
            #expect(line.count <= 51 && line.unicodeScalars.count <= 51 * BannerText.maximumScalars)
            #expect(BannerText.isShown(line))
            #expect(BannerText.line(line, limit: 1_000) == line, "what is clean stays as it is")
            let escaped = BannerText.escaped(line)
            #expect(!escaped.contains { "<>\"'".contains($0) })
        }
    }
}
