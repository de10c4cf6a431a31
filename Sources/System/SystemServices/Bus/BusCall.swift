import COnDemand

/// A call of a service's method.
package struct BusCall: Sendable {
    /// A well-known name, or the unique name of whoever owns it.
    package var destination: String
    package var path: String
    package var interface: String
    package var member: String
    package var arguments: [BusValue]
    /// Whether the bus may start the service for it.
    package var startsService: Bool

    package init(
        _ destination: String, _ path: String, _ interface: String, _ member: String, _ arguments: [BusValue] = [],
        startsService: Bool = false
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
        self.startsService = startsService
    }

    /// For errors: interface and method.
    var title: String { "\(interface).\(member)" }
}

/// Writes a call's values into a message.
struct BusWriter {
    private let message: RawMessage

    init(_ message: RawMessage) { self.message = message }

    func append(_ value: BusValue) throws(BusError) {
        switch value {
        case .byte(let number): try basic("y", number)
        case .bool(let flag): try basic("b", CInt(flag ? 1 : 0))
        case .int16(let number): try basic("n", number)
        case .uint16(let number): try basic("q", number)
        case .int32(let number): try basic("i", number)
        case .uint32(let number): try basic("u", number)
        case .int64(let number): try basic("x", number)
        case .uint64(let number): try basic("t", number)
        case .double(let number): try basic("d", number)
        case .text(let text): try self.text("s", text)
        case .path(let text): try self.text("o", text)
        case .signature(let text): try self.text("g", text)
        case .descriptor: throw BusError(.invalid, "file descriptors cannot be sent")
        case .bytes(let bytes):
            try check(bytes.withUnsafeBytes { bw_message_append_bytes(message.pointer, $0.baseAddress, $0.count) })
        case .array(let elements, let element): try container("a", element, elements)
        case .structure(let fields): try container("r", fields.map(\.type).joined(), fields)
        case .entry(let key, let value): try container("e", key.type + value.type, [key, value])
        case .variant(let inner): try container("v", inner.type, [inner])
        }
    }

    func open(_ type: Unicode.Scalar, _ contents: String) throws(BusError) {
        try check(bw_message_open(message.pointer, Self.code(type), contents))
    }

    func close() throws(BusError) {
        try check(bw_message_close(message.pointer))
    }

    /// Straight from where they are: no copy is left behind but the message's own.
    func bytes(_ bytes: UnsafeRawBufferPointer) throws(BusError) {
        try check(bw_message_append_bytes(message.pointer, bytes.baseAddress, bytes.count))
    }

    private func container(
        _ type: Unicode.Scalar, _ contents: String, _ values: [BusValue]
    ) throws(BusError) {
        try open(type, contents)
        for value in values { try append(value) }
        try close()
    }

    private func basic(_ type: Unicode.Scalar, _ value: some BitwiseCopyable) throws(BusError) {
        var value = value
        try check(bw_message_append(message.pointer, Self.code(type), &value))
    }

    private func text(_ type: Unicode.Scalar, _ text: String) throws(BusError) {
        guard !text.utf8.contains(0) else { throw BusError(.invalid, "a string for the bus contains NUL") }
        try check(text.withCString { bw_message_append(message.pointer, Self.code(type), $0) })
    }

    private static func code(_ type: Unicode.Scalar) -> CChar { CChar(truncatingIfNeeded: type.value) }

    private func check(_ result: CInt) throws(BusError) {
        guard result < 0 else { return }
        throw BusError(.invalid, BusError(result: result, "cannot send this value").message)
    }
}
