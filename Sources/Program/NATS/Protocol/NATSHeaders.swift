/// The headers of a message, in order; names may repeat. A server's own answers have a status.
package struct NATSHeaders: Sendable, Equatable {
    package struct Field: Sendable, Equatable {
        package let name: String
        package let value: String
    }

    /// Such as 503 (no responders) and 404; `nil` in messages of other clients.
    package private(set) var status: Int?
    package private(set) var statusText = ""
    package private(set) var fields: [Field] = []

    package init() {}

    /// Names are compared as they are: NATS keeps upper and lower case.
    package subscript(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    package var isEmpty: Bool { status == nil && fields.isEmpty }

    /// - Throws: ``NATSError/Code/invalidName``: a name may have letters, digits and other visible ASCII without colons; a
    ///   value has no control characters.
    package mutating func add(_ name: String, _ value: String) throws(NATSError) {
        guard Self.isName(name.utf8) else {
            throw NATSError(.invalidName, "a header's name must be visible ASCII without a colon")
        }
        guard value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw NATSError(.invalidName, "the header \(name) contains a control character")
        }
        fields.append(Field(name: name, value: value))
    }

    private static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
    }

    // MARK: On the wire

    private static let version = Array("NATS/1.0".utf8)

    /// Reads a block: the version with an optional status, the fields, an empty line.
    init(parsing bytes: ArraySlice<UInt8>) throws(NATSError) {
        var rest = bytes
        func line() throws(NATSError) -> ArraySlice<UInt8> {
            guard let end = rest.firstIndex(of: UInt8(ascii: "\n")), end > rest.startIndex,
                rest[end - 1] == UInt8(ascii: "\r")
            else { throw Self.malformed }
            defer { rest = rest[(end + 1)...] }
            return rest[..<(end - 1)]
        }
        let first = try line()
        guard first.starts(with: Self.version) else { throw Self.malformed }
        try readStatus(first.dropFirst(Self.version.count))
        while true {
            let field = try line()
            if field.isEmpty { break }
            guard let colon = field.firstIndex(of: UInt8(ascii: ":")), Self.isName(field[..<colon]) else {
                throw Self.malformed
            }
            let value = field[(colon + 1)...].drop { $0 == 0x20 || $0 == 0x09 }
            fields.append(Field(name: Self.text(field[..<colon]), value: Self.text(value)))
        }
        guard rest.isEmpty else { throw Self.malformed }
    }

    private mutating func readStatus(_ text: ArraySlice<UInt8>) throws(NATSError) {
        let words = text.split(separator: 0x20, maxSplits: 1)
        guard let number = words.first else { return }
        guard text.first == 0x20, number.count == 3, let status = Int(Self.text(number)), status >= 100 else {
            throw Self.malformed
        }
        self.status = status
        statusText = words.count > 1 ? Self.text(words[1]) : ""
    }

    private static func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    private static var malformed: NATSError {
        NATSError(.protocolError, "the server sent a message with malformed headers")
    }

    /// The block that ``init(parsing:)`` reads.
    var bytes: [UInt8] {
        var bytes = Self.version
        if let status { bytes += Array(" \(status)\(statusText.isEmpty ? "" : " \(statusText)")".utf8) }
        bytes += Array("\r\n".utf8)
        for field in fields { bytes += Array("\(field.name): \(field.value)\r\n".utf8) }
        return bytes + Array("\r\n".utf8)
    }
}
