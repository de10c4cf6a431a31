import Relay

/// What relays of a cluster say to each other. Anything else on their subjects is counted and ignored.
///
/// Binary, big-endian: version, kind, flags, the id's length (2 bytes) and the id, then what belongs to the kind. Names have
/// their length (2 bytes) in front, numbers are 8 bytes. A frame among several is flags, its sender's name, its length (4
/// bytes) and its bytes.
enum ClusterMessage: Equatable {
    /// A frame for an id's holder, from a peer of the sending relay.
    struct Frame: Equatable {
        let sender: [UInt8]
        let isSealed: Bool
        let bytes: [UInt8]
    }

    /// Frames for the id's holder, at least one; the answer is a ``FramesAnswer``.
    case frames([Frame])
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
    /// Two relays hold the id: both compare.
    case compare

    /// Ids and names of nodes have at most this many bytes.
    static let maximumName = 256
    /// Of each message about that id, in bytes.
    static func overhead(_ name: [UInt8]) -> Int { 5 + name.count }
    /// Of a frame among several, apart from its sender's name and its bytes.
    static let frameOverhead = 7

    fileprivate static let version: UInt8 = 1
    fileprivate static let isSet: UInt8 = 1

    private var kind: UInt8 {
        switch self {
        case .frames: 1
        case .kept: 2
        case .ask: 3
        case .claim: 4
        case .holds: 5
        case .here: 6
        case .left: 7
        case .compare: 8
        }
    }

    private var flag: Bool {
        switch self {
        case .kept(let kept): kept.isSealed
        case .frames, .ask, .left, .compare: false
        case .claim(let claim), .holds(let claim): claim.isProved
        case .here(let isProved, _): isProved
        }
    }

    func bytes(about name: [UInt8]) -> [UInt8] {
        var writer = Writer()
        writer.bytes.reserveCapacity(64 + name.count + count)
        writer.append(Self.version)
        writer.append(kind)
        writer.append(flag ? Self.isSet : 0)
        writer.append(name: name)
        switch self {
        case .frames(let frames):
            for frame in frames {
                writer.append(frame.isSealed ? Self.isSet : 0)
                writer.append(name: frame.sender)
                writer.append(UInt32(clamping: frame.bytes.count))
                writer.bytes += frame.bytes
            }
        case .kept(let kept):
            writer.append(UInt64(bitPattern: kept.storedAt))
            writer.bytes += kept.bytes
        case .claim(let claim), .holds(let claim):
            writer.append(UInt64(bitPattern: claim.stamp))
            writer.append(name: claim.node)
        case .here(_, let whereabouts):
            writer.append(UInt64(bitPattern: whereabouts.registeredAt))
            writer.append(whereabouts.device.kind.rawValue)
            writer.bytes += whereabouts.device.info
        case .ask, .left, .compare: break
        }
        return writer.bytes
    }

    /// Of what is long, about.
    private var count: Int {
        switch self {
        case .frames(let frames):
            frames.reduce(0) { $0 + Self.frameOverhead + $1.sender.count + $1.bytes.count }
        case .kept(let kept): kept.bytes.count
        case .here(_, let whereabouts): whereabouts.device.info.count
        case .ask, .claim, .holds, .left, .compare: 0
        }
    }

    /// `nil` for anything that ``bytes(about:)`` does not make.
    static func read(_ bytes: [UInt8]) -> (name: [UInt8], message: ClusterMessage)? {
        var reader = Reader(bytes)
        guard reader.byte() == version, let kind = reader.byte(), let flag = reader.flag(), let about = reader.name(),
            let message = read(kind, flag, &reader), reader.isAtEnd
        else { return nil }
        return (about, message)
    }

    private static func read(_ kind: UInt8, _ flag: Bool, _ reader: inout Reader) -> ClusterMessage? {
        switch kind {
        case 1 where !flag:
            var frames: [Frame] = []
            while !reader.isAtEnd {
                guard let isSealed = reader.flag(), let sender = reader.name(), let count: UInt32 = reader.number(),
                    count > 0, let bytes = reader.bytes(Int(count))
                else { return nil }
                frames.append(Frame(sender: sender, isSealed: isSealed, bytes: bytes))
            }
            return frames.isEmpty ? nil : .frames(frames)
        case 2:
            guard let storedAt: UInt64 = reader.number(), let bytes = reader.rest(), !bytes.isEmpty else { return nil }
            return .kept(Relay.Kept(bytes: bytes, storedAt: Int64(bitPattern: storedAt), isSealed: flag))
        case 3 where !flag: return .ask
        case 4, 5:
            guard let stamp: UInt64 = reader.number(), let node = reader.name() else { return nil }
            let claim = Claim(stamp: Int64(bitPattern: stamp), node: node, isProved: flag)
            return kind == 4 ? .claim(claim) : .holds(claim)
        case 6:
            guard let since: UInt64 = reader.number(), let kind = reader.byte().flatMap({ Device.Kind(rawValue: $0) }),
                let info = reader.rest(), info.count <= Device.maximumInfo
            else { return nil }
            var device = Device()
            (device.kind, device.info) = (kind, info)
            return .here(isProved: flag, Whereabouts(device: device, registeredAt: Int64(bitPattern: since)))
        case 7 where !flag: return .left
        case 8 where !flag: return .compare
        default: return nil
        }
    }

    private struct Writer {
        var bytes: [UInt8] = []

        mutating func append(_ number: some FixedWidthInteger) {
            withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        }

        mutating func append(name: [UInt8]) {
            append(UInt16(clamping: name.count))
            bytes += name
        }
    }

    /// Each value is `nil` if the bytes end before it does, or it isn't one.
    private struct Reader {
        private let all: [UInt8]
        private var place = 0

        init(_ bytes: [UInt8]) { all = bytes }

        var isAtEnd: Bool { place == all.count }

        mutating func bytes(_ count: Int) -> [UInt8]? {
            guard count <= all.count - place else { return nil }
            defer { place += count }
            return Array(all[place..<(place + count)])
        }

        mutating func rest() -> [UInt8]? { bytes(all.count - place) }

        mutating func number<Number: FixedWidthInteger & UnsignedInteger>() -> Number? {
            let size = MemoryLayout<Number>.size
            guard size <= all.count - place else { return nil }
            var number: Number = 0
            for byte in all[place..<(place + size)] { number = number << 8 | Number(byte) }
            place += size
            return number
        }

        mutating func byte() -> UInt8? {
            guard !isAtEnd else { return nil }
            defer { place += 1 }
            return all[place]
        }

        mutating func flag() -> Bool? {
            guard let flags = byte(), flags <= isSet else { return nil }
            return flags == isSet
        }

        mutating func name() -> [UInt8]? {
            guard let count: UInt16 = number(), (1...maximumName).contains(Int(count)) else { return nil }
            return bytes(Int(count))
        }
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

/// Which of several frames are with the peer's connection: ``ClusterAnswer/taken`` for all, or one byte for each.
enum FramesAnswer {
    static func bytes(_ taken: [Bool]) -> [UInt8] {
        taken.allSatisfy(\.self) ? [ClusterAnswer.taken.rawValue] : taken.map(\.answer.rawValue)
    }

    /// For so many frames. Without an answer, or with another one, none was taken.
    static func read(_ bytes: [UInt8]?, count: Int) -> [Bool] {
        if let bytes, ClusterAnswer.read(bytes) == .taken { return [Bool](repeating: true, count: count) }
        guard let bytes, bytes.count == count else { return [Bool](repeating: false, count: count) }
        return bytes.map { $0 == ClusterAnswer.taken.rawValue }
    }
}

extension Bool {
    fileprivate var answer: ClusterAnswer { self ? .taken : .absent }
}
