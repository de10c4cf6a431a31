import Relay

/// What relays of a cluster say to each other. Anything else on their subjects is counted and ignored.
///
/// Binary, big-endian: version, kind, flags, the id's length (2 bytes) and the id, then by kind a number (8 bytes), the
/// length of another name (2 bytes) and that name, a kind of device (1 byte), and the rest.
enum ClusterMessage: Equatable {
    /// A frame for the id's holder, from a peer of the sending relay.
    case frame(from: [UInt8], isSealed: Bool, bytes: [UInt8])
    /// A frame that the sending relay has kept for the id.
    case kept(Relay.Kept)
    /// Is the id held?
    case ask
    /// A connection at the sending relay wants the id.
    case claim(Claim)
    /// A connection at the sending relay has the id.
    case holds(Claim)
    /// The id is held at the sending relay: from now on, or as an answer to ``ask``.
    case here(isProved: Bool, Whereabouts)
    /// The sending relay does not hold it any more.
    case left

    /// Ids and names of nodes have at most this many bytes.
    static let maximumName = 256

    private static let version: UInt8 = 1
    private static let isSet: UInt8 = 1

    private var kind: UInt8 {
        switch self {
        case .frame: 1
        case .kept: 2
        case .ask: 3
        case .claim: 4
        case .holds: 5
        case .here: 6
        case .left: 7
        }
    }

    private var flag: Bool {
        switch self {
        case .frame(_, let isSealed, _): isSealed
        case .kept(let kept): kept.isSealed
        case .ask, .left: false
        case .claim(let claim), .holds(let claim): claim.isProved
        case .here(let isProved, _): isProved
        }
    }

    func bytes(about name: [UInt8]) -> [UInt8] {
        var writer: [UInt8] = [Self.version, kind, flag ? Self.isSet : 0]
        func append(_ name: [UInt8]) {
            let count = UInt16(clamping: name.count)
            writer += [UInt8(count >> 8), UInt8(truncatingIfNeeded: count)] + name
        }
        func append(_ number: Int64) {
            let bits = UInt64(bitPattern: number)
            writer += (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
        }
        append(name)
        switch self {
        case .frame(let sender, _, let bytes):
            append(sender)
            writer += bytes
        case .kept(let kept):
            append(kept.storedAt)
            writer += kept.bytes
        case .claim(let claim), .holds(let claim):
            append(claim.stamp)
            append(claim.node)
        case .here(_, let whereabouts):
            append(whereabouts.registeredAt)
            writer += [whereabouts.device.kind.rawValue] + whereabouts.device.info
        case .ask, .left: break
        }
        return writer
    }

    /// `nil` for anything that ``bytes(about:)`` does not make.
    static func read(_ bytes: [UInt8]) -> (name: [UInt8], message: ClusterMessage)? {
        var rest = bytes[...]
        func name() -> [UInt8]? {
            guard let high = rest.popFirst(), let low = rest.popFirst() else { return nil }
            let count = Int(high) << 8 | Int(low)
            guard (1...maximumName).contains(count), rest.count >= count else { return nil }
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        func number() -> Int64? {
            guard rest.count >= 8 else { return nil }
            defer { rest = rest.dropFirst(8) }
            return Int64(bitPattern: rest.prefix(8).reduce(0) { $0 << 8 | UInt64($1) })
        }
        guard rest.popFirst() == version, let kind = rest.popFirst(), let flags = rest.popFirst(), flags <= isSet,
            let about = name()
        else { return nil }
        let flag = flags == isSet
        let message: ClusterMessage
        switch kind {
        case 1:
            guard let sender = name(), !rest.isEmpty else { return nil }
            return (about, .frame(from: sender, isSealed: flag, bytes: Array(rest)))
        case 2:
            guard let storedAt = number(), !rest.isEmpty else { return nil }
            return (about, .kept(Relay.Kept(bytes: Array(rest), storedAt: storedAt, isSealed: flag)))
        case 3 where !flag: message = .ask
        case 4, 5:
            guard let stamp = number(), let node = name() else { return nil }
            let claim = Claim(stamp: stamp, node: node, isProved: flag)
            message = kind == 4 ? .claim(claim) : .holds(claim)
        case 6:
            guard let since = number(), let kind = rest.popFirst().flatMap({ Device.Kind(rawValue: $0) }),
                rest.count <= Device.maximumInfo
            else { return nil }
            var device = Device()
            (device.kind, device.info) = (kind, Array(rest))
            return (about, .here(isProved: flag, Whereabouts(device: device, registeredAt: since)))
        case 7 where !flag: message = .left
        default: return nil
        }
        return rest.isEmpty ? (about, message) : nil
    }
}

/// The answer to a ``ClusterMessage``: one byte.
enum ClusterAnswer: UInt8 {
    /// The frame is with the peer's connection.
    case taken = 1
    /// Nobody here holds the id, or not as it must be held.
    case absent = 2
    /// The id is the asking relay's.
    case yielded = 5
    /// The id stays here: its connection lives.
    case stays = 6
    /// The id stays here: it was proved.
    case proved = 7
    /// A connection here wanted the id as well, and wants it no longer. Whether another relay holds it is not said.
    case gaveWay = 8

    static func read(_ bytes: [UInt8]) -> ClusterAnswer? { bytes.count == 1 ? ClusterAnswer(rawValue: bytes[0]) : nil }
}
