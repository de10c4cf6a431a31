import Door
import Glibc

/// Standard input, one line at a time, without ever waiting in a read.
final class LineInput {
    struct Line {
        /// Counted from 1.
        let number: Int
        /// Without its line break; or why it is not used.
        let text: Result<String, Failure>

        /// The same failure, which says where.
        func failure(_ failure: Failure) -> Failure {
            Failure(
                failure.exit, "line \(number) of standard input: \(failure.message)",
                error: failure.error)
        }
    }

    let descriptor: Int32 = 0
    private(set) var isOpen = true
    /// Whether a line is waited for; what is not waited for stays unread.
    var isWanted = true
    private var pending: [UInt8] = []
    private var isSkipping = false
    private var count = 0
    private let body: (Line) -> Void

    /// Of a longer line only its beginning is used, or nothing of it if it is JSON.
    static let limit = 256 * 1024

    private let takesJSON: Bool

    init(json: Bool, _ body: @escaping (Line) -> Void) { (takesJSON, self.body) = (json, body) }

    /// To be called when the descriptor is readable.
    func read() throws(Failure) {
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        let count = Glibc.read(descriptor, &buffer, buffer.count)
        if count < 0 {
            if errno == EINTR || errno == EAGAIN { return }
            throw Failure(.failed, "cannot read standard input: \(String(cString: strerror(errno)))")
        }
        if count == 0 {
            isOpen = false
            if !pending.isEmpty { end() }
            return
        }
        for byte in buffer[..<count] {
            if byte == UInt8(ascii: "\n") {
                end()
            } else if pending.count < LineInput.limit {
                pending.append(byte)
            } else {
                isSkipping = true
            }
        }
    }

    private func end() {
        defer {
            pending.removeAll(keepingCapacity: true)
            isSkipping = false
        }
        count += 1
        if pending.last == UInt8(ascii: "\r") { pending.removeLast() }
        let text: Result<String, Failure> =
            if isSkipping, takesJSON {
                .failure(Failure(.failed, "longer than \(LineInput.limit) bytes"))
            } else {
                .success(Charset.guess(pending))
            }
        body(Line(number: count, text: text))
    }

    /// All of standard input as text, or one line where it is a terminal; at most ``limit`` bytes.
    static func all() throws(Failure) -> String {
        try contents(of: 0, named: "standard input", endsWithLine: isTerminal)
    }

    /// All of standard input as a notification's text, or one line where it is a terminal: in any character set, and cut
    /// with a note if it is too long.
    static func body() throws(Failure) -> String {
        var body = BodyText()
        try read(0, named: "standard input", endsWithLine: isTerminal) { bytes throws(Failure) in body.append(bytes) }
        let (text, omitted) = body.text
        if omitted > 0 { Output.notice("standard input is too long: \(omitted) bytes in the middle are left out") }
        return text
    }

    static var isTerminal: Bool { isatty(0) == 1 }

    /// Whether a person can be asked: there is a terminal, and reading it in the background would not stop the process.
    static var canAsk: Bool { isTerminal && isatty(2) == 1 && tcgetpgrp(0) == getpgrp() }

    /// Forgets what was typed before anybody asked.
    static func forgetTyped() { tcflush(0, TCIFLUSH) }

    /// All of a file as text; at most ``limit`` bytes. A pipe's writer is waited for, until a signal comes.
    static func contents(ofFile path: String) throws(Failure) -> String {
        let descriptor = open(Word.terminated(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            throw Failure(.usage, "cannot open \(path): \(String(cString: strerror(errno)))")
        }
        defer { Glibc.close(descriptor) }
        return try contents(of: descriptor, named: path, endsWithLine: false)
    }

    private static func contents(
        of descriptor: Int32, named name: String, endsWithLine: Bool
    ) throws(Failure) -> String {
        var bytes: [UInt8] = []
        try read(descriptor, named: name, endsWithLine: endsWithLine) { part throws(Failure) in
            bytes += part
            if bytes.count > limit { throw Failure(.usage, "\(name) is larger than \(limit) bytes") }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.usage, "\(name) is not valid UTF-8")
        }
        return text
    }

    private static func read(
        _ descriptor: Int32, named name: String, endsWithLine: Bool, _ body: (ArraySlice<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var buffer = [UInt8](repeating: 0, count: 16 * 1024)
        while true {
            var entries = [descriptor, Interrupt.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&entries, 2, -1)
            if let signal = Interrupt.take() { throw .interrupted(signal) }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count >= 0 else {
                throw Failure(.failed, "cannot read \(name): \(String(cString: strerror(errno)))")
            }
            if count == 0 { return }
            try body(buffer[..<count])
            if endsWithLine, buffer[count - 1] == UInt8(ascii: "\n") { return }
        }
    }
}
