package import JSON
package import Wire

/// A `bellwire:rekey` (WireRekey, "Frames").
package enum RekeyFrame: Sendable, Equatable {
    package static let type = "bellwire:rekey"

    /// In a session from the old key, or in plain text from the new one.
    case statement(MoveStatement)
    /// In a session: what the peer's user has decided about that key.
    case answer(new: PeerID, isAccepted: Bool)
    /// In a session of the new key: the peer has stored the move.
    case stored(new: PeerID)

    /// The fields of the payload. Throws `malformed`.
    package init(decoding fields: JSONObject) throws(SealError) {
        guard fields["v"] == 1 else { throw SealError(.malformed, "a rekey frame of an unknown version") }
        guard let answer = fields["accept"] ?? fields["stored"] else {
            self = .statement(try MoveStatement(decoding: fields))
            return
        }
        guard let isYes = answer.bool, let new = fields["new"]?.string, (1...256).contains(new.utf8.count),
            fields["accept"] != nil || isYes
        else { throw SealError(.malformed, "an answer to a move can't be read") }
        self = fields["accept"] == nil ? .stored(new: PeerID(new)) : .answer(new: PeerID(new), isAccepted: isYes)
    }

    package var json: JSONValue {
        let fields: JSONObject =
            switch self {
            case .statement(let statement): statement.fields
            case .answer(let new, let isAccepted):
                ["v": 1, "new": .string(new.text), "accept": .bool(isAccepted)]
            case .stored(let new): ["v": 1, "new": .string(new.text), "stored": true]
            }
        return ["type": .string(Self.type), "payload": .object(fields)]
    }
}
