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

    /// A longer line is not used.
    static let limit = 256 * 1024

    init(_ body: @escaping (Line) -> Void) { self.body = body }

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
            if isSkipping {
                .failure(Failure(.failed, "longer than \(LineInput.limit) bytes"))
            } else if let text = String(validating: pending, as: UTF8.self) {
                .success(text)
            } else {
                .failure(Failure(.failed, "not valid UTF-8"))
            }
        body(Line(number: count, text: text))
    }

    /// All of standard input as text, or one line where it is a terminal; at most ``limit`` bytes.
    static func all() throws(Failure) -> String {
        try contents(of: 0, named: "standard input", endsWithLine: isTerminal)
    }

    static var isTerminal: Bool { isatty(0) == 1 }

    /// Whether a person can be asked: there is a terminal, and reading it in the background would not stop the process.
    static var canAsk: Bool { isTerminal && isatty(2) == 1 && tcgetpgrp(0) == getpgrp() }

    /// Forgets what was typed before anybody asked.
    static func forgetTyped() { tcflush(0, TCIFLUSH) }

    /// All of a file as text; at most ``limit`` bytes.
    static func contents(ofFile path: String) throws(Failure) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
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
            if count == 0 { break }
            bytes += buffer[..<count]
            if endsWithLine, bytes.last == UInt8(ascii: "\n") { break }
            if bytes.count > limit { throw Failure(.usage, "\(name) is larger than \(limit) bytes") }
        }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(.usage, "\(name) is not valid UTF-8")
        }
        return text
    }
}
