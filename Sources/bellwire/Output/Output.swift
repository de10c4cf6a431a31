import Glibc
import JSON

/// What the program says: each line is written at once, whole.
enum Output {
    static func line(_ text: String) { write(text + "\n", to: 1) }

    static func text(_ text: String) { write(text, to: 1) }

    static func json(_ value: JSONValue) { line(value.serialized()) }

    /// For the person at the terminal; standard output stays what a script wants.
    static func notice(_ text: String, _ style: Style? = nil) {
        let line = "bellwire: \(Printable.line(text))"
        write((style?.of(line, on: 2) ?? line) + "\n", to: 2)
    }

    /// Why the program ends, in one line on standard error.
    static func failure(_ failure: Failure, json: Bool) {
        guard json else { return notice(failure.message, failure.exit.isInterruption ? nil : .red) }
        let error = failure.error ?? ["message": .string(failure.message)]
        write(
            JSONValue.object(["error": error, "exit": .integer(Int64(failure.exit.code))]).serialized() + "\n", to: 2)
    }

    /// Whether standard output is a person's terminal.
    static var isTerminal: Bool { isatty(1) == 1 }

    /// Columns of the terminal; `nil` when it does not say.
    static var columns: Int? {
        var size = winsize()
        guard ioctl(1, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Writes a file whole; `-` is standard output.
    static func file(_ path: String, _ bytes: [UInt8]) throws(Failure) {
        let descriptor = path == "-" ? 1 : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o666)
        var isWritten = descriptor >= 0 && bytes.withUnsafeBytes { write($0, to: descriptor) }
        if descriptor > 2 { isWritten = close(descriptor) == 0 && isWritten }
        guard isWritten else {
            throw Failure(.failed, "cannot write \(path): \(String(cString: strerror(errno)))")
        }
    }

    /// `false` and errno when not all of it could be written.
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
        // A line that nobody got must not count as shown: inside dispatch, ending here hands the push over again later.
        if failed, descriptor == 1 {
            notice("cannot write to standard output: \(String(cString: strerror(errno)))")
            _exit(Exit.failed.code)
        }
    }
}
