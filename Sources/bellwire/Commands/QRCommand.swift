import CBellwire
import JSON

extension Command {
    static let qr = Command(
        name: "qr",
        summary: "Draws a text as a QR code, or reads one from a picture.",
        about: [
            """
            Draws TEXT on the terminal; with --svg or --png into a file. Without TEXT, or with -, it is read from \
            standard input, without the line break at its end; at most 2,048 bytes. On a terminal it has colours of its \
            own, so that it can be scanned on dark and light backgrounds; without colours it is for a light one.
            """,
            """
            With --read it prints what the QR codes in a picture say, PNG or JPEG, a line each; with --json an object \
            with "text" for each. No code in it is exit code 4.
            """,
        ],
        operands: [Operand(name: "TEXT", help: "The text; - or nothing reads it from standard input.")],
        ownOptions: [svg, png, scale, readImage],
        examples: [
            Example(line: "bellwire qr https://example.org", says: "Draws it here."),
            Example(line: "bellwire desktop | head -n 1 | bellwire qr --png code.png", says: "A picture of it."),
            Example(line: "bellwire qr --read screenshot.png", says: "What the codes on it say."),
        ],
        run: { arguments throws(Failure) in try runQR(arguments) })

    private static let svg = Option("svg", .required("FILE"), "Writes an SVG image; - is standard output.")
    private static let png = Option("png", .required("FILE"), "Writes a PNG image; - is standard output.")
    private static let scale = Option(
        "scale", .required("N"), "With --png: pixels of a module, 1 to 32.", initial: "8")
    private static let readImage = Option("read", .required("IMAGE"), "Prints what the codes in a picture say.")

    private static func runQR(_ arguments: Arguments) throws(Failure) -> Exit {
        try arguments.exclude([svg, png, readImage], of: "qr")
        if arguments.has(scale), !arguments.has(png) {
            throw Failure(.usage, "--scale belongs to --png (see bellwire qr --help)")
        }
        let pixels = try arguments.integer(scale, in: 1...32) ?? 8
        if let path = arguments.text(readImage) {
            guard arguments.operands.isEmpty else {
                throw Failure(.usage, "--read goes without a TEXT (see bellwire qr --help)")
            }
            let texts = try result { bw_qr_read(path, $0) }.array?.compactMap(\.string) ?? []
            for text in texts {
                arguments.has(.json) ? Output.json(["text": .string(text)]) : Output.line(Printable.line(text))
            }
            return .done
        }
        let text = try textToDraw(arguments)
        if let file = arguments.text(svg) {
            try Output.file(file, Array(try resultText { bw_qr_svg(text, $0) }.utf8))
        } else if let file = arguments.text(png) {
            try Output.file(file, try image(of: text, scale: Int32(pixels)))
        } else if arguments.has(.json) {
            Output.json(["text": .string(text), "drawing": .string(try resultText { bw_qr_terminal(text, 1, $0) })])
        } else {
            Output.text(try resultText { bw_qr_terminal(text, Style.isOn(1) ? 0 : 1, $0) })
        }
        return .done
    }

    private static func textToDraw(_ arguments: Arguments) throws(Failure) -> String {
        guard let text = arguments.operands.first, text != "-" else {
            var text = try LineInput.all()
            if text.hasSuffix("\n") { text.removeLast() }
            return text
        }
        return text
    }

    private static func image(of text: String, scale: Int32) throws(Failure) -> [UInt8] {
        var bytes: UnsafeMutablePointer<UInt8>?
        var count = 0
        try check(bw_qr_png(text, scale, &bytes, &count))
        defer { bw_free(bytes) }
        return bytes.map { Array(UnsafeBufferPointer(start: $0, count: count)) } ?? []
    }
}
