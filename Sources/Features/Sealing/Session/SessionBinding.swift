import Wire

/// The bytes that bind a session to its peers, its offer and each of its frames (WireSessions, "Keys" and "Frames").
enum SessionBinding {
    /// `bellwire-seal-v2 ‖ initiator ‖ responder ‖ sid ‖ suites`: the label and the ids each end with a line feed, the
    /// sid has 16 bytes, each suite has two.
    ///
    /// `nil` for an id with a line feed in it, which could be cut in another way.
    static func prologue(initiator: PeerID, responder: PeerID, id: SessionID, suites: [SessionSuite]) -> [UInt8]? {
        let lineFeed = UInt8(ascii: "\n")
        for peer in [initiator, responder] where peer.text.utf8.contains(lineFeed) { return nil }
        var bytes = Array("bellwire-seal-v2\n\(initiator.text)\n\(responder.text)\n".utf8) + id.bytes
        for suite in suites { withUnsafeBytes(of: suite.number.bigEndian) { bytes += $0 } }
        return bytes
    }

    /// `"s2" ‖ sid ‖ direction ‖ n`, 27 bytes. The direction is 1 from the initiator and 2 from the responder; n has eight
    /// bytes, big-endian.
    static func associatedData(_ id: SessionID, fromInitiator: Bool, counter: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(27)
        bytes += "s2".utf8
        bytes += id.bytes
        bytes.append(fromInitiator ? 1 : 2)
        withUnsafeBytes(of: counter.bigEndian) { bytes += $0 }
        return bytes
    }
}
