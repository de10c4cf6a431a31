package import JSON

/// Reads what a server sends, however it is cut.
///
/// After an error the connection must end: where the next operation begins is unknown.
package struct NATSParser: Sendable {
    package enum Operation: Sendable, Equatable {
        case info(JSONValue)
        case message(NATSMessage, subscription: UInt64)
        case ping
        case pong
        case ok
        /// A server's error, without its quotes.
        case error(String)
    }

    /// Of a control line, in bytes; NATS's own default for what clients send.
    static let maximumLine = 4_096
    /// Of the line with the server's description.
    static let maximumInfo = 1 << 20

    /// What a server can raise the largest payload to: NATS's own most.
    static let mostPayload = 64 << 20

    /// The largest payload with its headers that is accepted, in bytes.
    var maximumPayload: Int
    private var buffer: [UInt8] = []
    /// What was read of the buffer.
    private var start = 0
    /// How far it was searched for the end of a line.
    private var searched = 0
    /// A message whose payload is still to come.
    private var pending: Pending?

    private struct Pending {
        let subscription: UInt64
        let subject: String
        let reply: String?
        let headerBytes: Int
        let totalBytes: Int
    }

    package init(maximumPayload: Int = 8 << 20) { self.maximumPayload = maximumPayload }

    package mutating func take(_ bytes: UnsafeRawBufferPointer) throws(NATSError) -> [Operation] {
        buffer.append(contentsOf: bytes)
        var operations: [Operation] = []
        while let operation = try next() { operations.append(operation) }
        buffer.removeFirst(start)
        searched -= start
        start = 0
        return operations
    }

    private mutating func next() throws(NATSError) -> Operation? {
        if let pending { return try payload(of: pending) }
        guard let line = try line() else { return nil }
        let words = line.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 }, limit: 8)
        guard let verb = words.first.map({ String(decoding: $0, as: UTF8.self).uppercased() }) else {
            throw malformed("an empty line")
        }
        switch (verb, words.count) {
        case ("MSG", 4...5), ("HMSG", 5...6):
            pending = try message(words.dropFirst(), hasHeaders: verb == "HMSG")
            return try next()
        case ("PING", 1): return .ping
        case ("PONG", 1): return .pong
        case ("+OK", 1): return .ok
        case ("INFO", 2...):
            let text = Array(line.drop { $0 != UInt8(ascii: "{") })
            guard let value = try? JSONValue(parsing: text), value.object != nil else {
                throw malformed("an INFO that is not a JSON object")
            }
            return .info(value)
        case ("-ERR", _):
            let text = String(decoding: line.dropFirst(4), as: UTF8.self)
            return .error(String(text.drop { $0 == " " || $0 == "'" }.reversed().drop { $0 == "'" }.reversed()))
        default: throw malformed("an unknown operation")
        }
    }

    /// The next line without its end; `nil` = it has not come whole.
    private mutating func line() throws(NATSError) -> ArraySlice<UInt8>? {
        let rest = buffer[max(start, searched)...]
        guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else {
            searched = buffer.count
            try check(length: buffer.count - start)
            return nil
        }
        guard end > start, buffer[end - 1] == UInt8(ascii: "\r") else { throw malformed("a line without a CR") }
        let line = buffer[start..<(end - 1)]
        try check(length: line.count)
        start = end + 1
        searched = start
        return line
    }

    private func check(length: Int) throws(NATSError) {
        let isInfo = buffer[start...].starts(with: Array("INFO".utf8))
        guard length <= (isInfo ? Self.maximumInfo : Self.maximumLine) else { throw malformed("too long a line") }
    }

    /// `subject sid [reply] [header bytes] total bytes`
    private func message(_ words: ArraySlice<ArraySlice<UInt8>>, hasHeaders: Bool) throws(NATSError) -> Pending {
        var words = words.map { String(decoding: $0, as: UTF8.self) }
        guard let total = words.popLast().flatMap(Self.size), total <= maximumPayload else {
            throw malformed("a message that is larger than \(maximumPayload) bytes")
        }
        var headers = 0
        if hasHeaders {
            guard let size = words.popLast().flatMap(Self.size), size <= total else {
                throw malformed("a message whose headers are larger than itself")
            }
            headers = size
        }
        guard (2...3).contains(words.count), let subscription = UInt64(words[1]) else {
            throw malformed("a message without a subscription")
        }
        return Pending(
            subscription: subscription, subject: words[0], reply: words.count == 3 ? words[2] : nil,
            headerBytes: headers, totalBytes: total)
    }

    private static func size(_ text: String) -> Int? {
        guard text.utf8.count <= 10, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }

    private mutating func payload(of pending: Pending) throws(NATSError) -> Operation? {
        let end = start + pending.totalBytes
        guard buffer.count >= end + 2 else { return nil }
        guard buffer[end] == UInt8(ascii: "\r"), buffer[end + 1] == UInt8(ascii: "\n") else {
            throw malformed("a payload that does not end where it should")
        }
        let split = start + pending.headerBytes
        var headers = NATSHeaders()
        if pending.headerBytes > 0 { headers = try NATSHeaders(parsing: buffer[start..<split]) }
        let message = NATSMessage(
            subject: pending.subject, reply: pending.reply, headers: headers, payload: Array(buffer[split..<end]))
        start = end + 2
        searched = start
        self.pending = nil
        return .message(message, subscription: pending.subscription)
    }

    private func malformed(_ what: String) -> NATSError {
        NATSError(.protocolError, "the server sent \(what); is it a NATS server?")
    }
}

extension ArraySlice<UInt8> {
    /// Words, at most `limit`: the last one then has the rest.
    fileprivate func split(whereSeparator isSeparator: (UInt8) -> Bool, limit: Int) -> [ArraySlice<UInt8>] {
        split(maxSplits: limit - 1, omittingEmptySubsequences: true, whereSeparator: isSeparator)
    }
}
