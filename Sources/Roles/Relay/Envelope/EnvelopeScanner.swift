/// Checks in one pass that a frame is one whole JSON object, and finds its envelope.
///
/// Strict RFC 8259, with the limits of the parsers behind us (jansson): nesting of 2,048, surrogates only in pairs, no
/// NUL in a key. Envelope keys that stand twice are refused: another reader might take the other one. The bytes must be
/// valid UTF-8; Transport has checked that. Duplicate keys deeper down and numbers out of range are left to the receiver.
struct EnvelopeScanner {
    enum Failure: Error {
        case notAnObject, syntax, cut, tooDeep, duplicateKey, trailing
    }

    /// Depth at which jansson gives up, counted as it counts: a scalar is one deeper than what holds it.
    static let maximumDepth = 2_048

    private let base: UnsafeRawPointer
    private let end: UnsafeRawPointer
    private var cursor: JSONCursor

    private init(_ base: UnsafeRawPointer, count: Int) {
        self.base = base
        end = base + count
        cursor = JSONCursor(base, end: base + count)
    }

    /// Frames of 2 GiB and more are refused as cut; Transport's limit is far below.
    static func scan(_ bytes: UnsafeRawBufferPointer) throws(Failure) -> Envelope {
        guard let base = bytes.baseAddress, bytes.count < Int(Int32.max) else { throw .cut }
        var scanner = EnvelopeScanner(base, count: bytes.count)
        return try scanner.object()
    }

    private mutating func object() throws(Failure) -> Envelope {
        var envelope = Envelope()
        cursor.skipSpace()
        guard let first = cursor.peek else { throw .cut }
        guard first == UInt8(ascii: "{") else { throw .notAnObject }
        envelope.open = offset
        cursor.advance()
        cursor.skipSpace()
        if cursor.peek == UInt8(ascii: "}") {
            cursor.advance()
        } else {
            try members(into: &envelope)
        }
        cursor.skipSpace()
        guard cursor.isAtEnd else { throw .trailing }
        return envelope
    }

    private mutating func members(into envelope: inout Envelope) throws(Failure) {
        while true {
            let keyStart = cursor.position
            let escaped = try cursor.skipKey()
            let key = UnsafeRawBufferPointer(start: keyStart + 1, count: cursor.position - keyStart - 2)
            try cursor.expectColon()

            var field = Envelope.Field()
            field.start = offset
            field.kind = try cursor.skipValue()
            field.end = offset

            let name = escaped ? EnvelopeKey(unescaping: key) : EnvelopeKey(key)
            if let name { try store(field, as: name, in: &envelope) }
            guard try cursor.hasNextMember() else { return }
        }
    }

    @inline(__always)
    private func store(
        _ field: Envelope.Field, as key: EnvelopeKey, in envelope: inout Envelope
    ) throws(Failure) {
        switch key {
        case .type: try set(&envelope.type, field)
        case .to: try set(&envelope.to, field)
        case .from: try set(&envelope.from, field)
        case .peerID: try set(&envelope.peerID, field)
        case .payload: try set(&envelope.payload, field)
        case .sealed: try set(&envelope.sealed, field)
        case .messageID: try set(&envelope.messageID, field)
        case .id: try set(&envelope.id, field)
        case .deviceType: try set(&envelope.deviceType, field)
        case .deviceInfo: try set(&envelope.deviceInfo, field)
        case .bellwire: try set(&envelope.bellwire, field)
        case .proof: try set(&envelope.proof, field)
        }
    }

    @inline(__always)
    private func set(_ place: inout Envelope.Field, _ field: Envelope.Field) throws(Failure) {
        guard place.kind == .absent else { throw .duplicateKey }
        place = field
    }

    private var offset: Int32 { Int32(truncatingIfNeeded: cursor.position - base) }
}

/// The top-level keys that mean something to the relay.
private enum EnvelopeKey {
    case type, to, from, peerID, payload, sealed, messageID, id, deviceType, deviceInfo, bellwire, proof

    /// The bytes between a key's quotes.
    @inline(__always)
    init?(_ key: UnsafeRawBufferPointer) {
        switch key.count {
        case 2 where key.matches("to"): self = .to
        case 2 where key.matches("id"): self = .id
        case 4 where key.matches("type"): self = .type
        case 4 where key.matches("from"): self = .from
        case 5 where key.matches("proof"): self = .proof
        case 6 where key.matches("peerId"): self = .peerID
        case 6 where key.matches("sealed"): self = .sealed
        case 7 where key.matches("payload"): self = .payload
        case 8 where key.matches("bellwire"): self = .bellwire
        case 9 where key.matches("messageId"): self = .messageID
        case 10 where key.matches("deviceType"): self = .deviceType
        case 10 where key.matches("deviceInfo"): self = .deviceInfo
        default: return nil
        }
    }

    /// A key with escapes in it is the key that they spell: `"t\u006f"` is `to` for every parser.
    init?(unescaping key: UnsafeRawBufferPointer) {
        // The longest key that matters has ten characters, six bytes each when all are escaped.
        guard key.count <= 60 else { return nil }
        let plain = JSONText.unescaped(key)
        guard let known = plain.withUnsafeBytes({ EnvelopeKey($0) }) else { return nil }
        self = known
    }
}
