import CBellwire
import JSON

extension Command {
    static let qr = Command(
        name: "qr",
        summary: "Draws text as a QR code, or reads QR codes from a picture.",
        about: [
            """
            Draws TEXT as a QR code on the terminal, or into a file with --svg or --png. Without TEXT, or with -, it \
            reads standard input, without the final line break; at most 2,048 bytes. On a terminal it sets its own \
            colours, so that the code can be scanned on dark and light backgrounds. Without colours it suits a light \
            background.
            """,
            """
            With --read it prints the text of each QR code in a PNG or JPEG picture, one per line; with --json, an \
            object with the list "texts". If there is no code in it, the exit code is 4.
            """,
        ],
        operands: [Operand(name: "TEXT", help: "The text; - or no operand reads standard input.")],
        ownOptions: [svg, png, scale, readImage],
        examples: [
            Example(line: "bellwire qr https://example.org", says: "Draws a QR code on the terminal."),
            Example(line: "bellwire qr --svg code.svg < code.txt", says: "Writes an SVG image of a file's text."),
            Example(line: "bellwire qr --read screenshot.png", says: "Prints the texts of the codes in a picture."),
        ],
        run: { arguments throws(Failure) in try runQR(arguments) })

    private static let svg = Option("svg", .required("FILE"), "Writes an SVG image; - = standard output.")
    private static let png = Option("png", .required("FILE"), "Writes a PNG image; - = standard output.")
    private static let scale = Option(
        "scale", .required("N"), "With --png: pixels per module, 1 to 32.", initial: "8")
    private static let readImage = Option("read", .required("IMAGE"), "Prints the texts of the codes in a picture.")

    private static func runQR(_ arguments: Arguments) throws(Failure) -> Exit {
        try arguments.exclude([svg, png, readImage], of: "qr")
        if arguments.isWritten(scale), !arguments.has(png) {
            throw Failure(.usage, "--scale requires --png (see bellwire qr --help)")
        }
        let pixels = try arguments.integer(scale, in: 1...32) ?? 8
        if let path = arguments.text(readImage) {
            guard arguments.operands.isEmpty else {
                throw Failure(.usage, "--read takes no TEXT (see bellwire qr --help)")
            }
            let texts = try result { bw_qr_read(path, $0) }.array ?? []
            if arguments.has(.json) {
                Output.json("texts", texts)
            } else {
                for text in texts.compactMap(\.string) { Output.line(Printable.line(text)) }
            }
            return .done
        }
        let text = try textToDraw(arguments)
        if let file = arguments.text(svg) ?? arguments.text(png) {
            let bytes =
                arguments.has(svg)
                ? Array(try resultText { bw_qr_svg(text, $0) }.utf8) : try image(of: text, scale: Int32(pixels))
            try Output.file(file, bytes)
            // Else the image is the output.
            if arguments.has(.json), file != "-" { Output.json(["file": .string(Word.shown(file))]) }
        } else if arguments.has(.json) {
            Output.json(["text": .string(text), "drawing": .string(try resultText { bw_qr_terminal(text, 1, $0) })])
        } else {
            Output.text(try resultText { bw_qr_terminal(text, Style.isOn(1) ? 0 : 1, $0) })
            let plain = try resultText { bw_qr_terminal(text, 1, $0) }
            if Output.isTerminal, let problem = QRDrawing.problem(with: plain, rowsBelow: { _ in 1 }) {
                Output.notice("\(problem); enlarge it, or use --png FILE or --svg FILE")
            }
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
