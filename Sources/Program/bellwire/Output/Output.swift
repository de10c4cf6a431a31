import Glibc
import JSON

/// The program's output. Each line is written at once, with one call.
enum Output {
    static func line(_ text: String) { write(text + "\n", to: 1) }

    /// A line of a log, on standard error as it is.
    static func errorLine(_ text: String) { write(text + "\n", to: 2) }

    static func text(_ text: String) { write(text, to: 1) }

    static func json(_ value: JSONValue) { line(value.serialized()) }

    /// A list, as the only member of an object.
    static func json(_ name: String, _ list: [JSONValue]) { json(.object([name: .array(list)])) }

    /// For the user at the terminal, on standard error; standard output is for scripts.
    static func notice(_ text: String, _ style: Style? = nil) {
        let line = "bellwire: \(Printable.line(Word.shown(text)))"
        write((style?.of(line, on: 2) ?? line) + "\n", to: 2)
    }

    /// Prints why the program ends, in one line on standard error.
    static func failure(_ failure: Failure, json: Bool) {
        guard json else { return notice(failure.message, failure.exit.isInterruption ? nil : .red) }
        var error = failure.error?.object ?? ["message": .string(failure.message)]
        if let message = error["message"]?.string { error["message"] = .string(Word.shown(message)) }
        write(
            JSONValue.object(["error": .object(error), "exit": .integer(Int64(failure.exit.code))]).serialized() + "\n",
            to: 2)
    }

    /// Whether standard output is a terminal.
    static var isTerminal: Bool { isatty(1) == 1 }

    /// The width for text: that of `COLUMNS`, or the terminal's; `nil` if unknown.
    static var columns: Int? {
        let written = getenv("COLUMNS").flatMap { Int(String(cString: $0)) }.flatMap { $0 > 0 ? $0 : nil }
        return written ?? size?.columns
    }

    /// Columns and rows of the terminal; `nil` if unknown.
    static var size: (columns: Int, rows: Int)? {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else { return nil }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Writes a file whole; `-` is standard output.
    static func file(_ path: String, _ bytes: [UInt8]) throws(Failure) {
        let descriptor = path == "-" ? 1 : open(Word.terminated(path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        var isWritten = descriptor >= 0 && bytes.withUnsafeBytes { write($0, to: descriptor) }
        if descriptor > 2 { isWritten = close(descriptor) == 0 && isWritten }
        guard isWritten else {
            throw Failure(.failed, "cannot write \(path): \(String(cString: strerror(errno)))")
        }
    }

    /// `false`, with errno, if not everything was written.
    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { return false }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
        return true
    }

    private static func write(_ text: String, to descriptor: Int32) {
        var text = text
        let failed = !text.withUTF8 { write(UnsafeRawBufferPointer($0), to: descriptor) }
        // A line that could not be written must not count as shown: exiting here, inside dispatch, makes the push come
        // again.
        if failed, descriptor == 1 {
            notice("cannot write to standard output: \(String(cString: strerror(errno)))")
            _exit(Exit.failed.code)
        }
    }
}
