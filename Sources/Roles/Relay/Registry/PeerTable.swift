internal import Glibc
internal import JSON

/// All peers that the relay knows of, by id.
///
/// A lookup uses the id's bytes inside the frame and allocates nothing: open addressing with linear probing over hashes
/// with a random key per process, so that attackers cannot choose colliding ids. A peer keeps its index until it is
/// removed; the index is then reused.
struct PeerTable: ~Copyable {
    /// What every message asks of a peer: plain values, so that no reference is counted for them.
    private struct Entry {
        /// The id's bytes, escapes undone; `nil` = the index is free.
        var name: UnsafeRawBufferPointer?
        var standing: Standing?
    }

    /// Hash in the upper half, index + 1 in the lower; 0 = free.
    private var slots = OwnedBuffer<UInt64>(repeating: 0, count: 64)
    private var entries = OwnedBuffer<Entry>()
    /// Of the same peers.
    private var presences = OwnedBuffer<Presence>()
    private var free: [Int] = []
    private(set) var count = 0
    /// Whether there are other relays that may have peers.
    let isClustered: Bool
    /// Peers that other relays have, as far as somebody here may hear of them.
    var elsewhere: [Int: Whereabouts] = [:]
    /// Ids with frames that other relays have been offered, and may not take.
    var inTransit: Set<[UInt8]> = []

    init(isClustered: Bool = false) { self.isClustered = isClustered }

    deinit {
        for index in entries.indices { entries[index].name?.deallocate() }
    }

    func contains(_ index: Int) -> Bool { index < entries.count && entries[index].name != nil }

    // MARK: A peer that is in the table

    func name(of index: Int) -> [UInt8] { Array(nameBytes(of: index)) }

    private func nameBytes(of index: Int) -> UnsafeRawBufferPointer {
        guard let name = entries[index].name else { preconditionFailure("a peer that was removed") }
        return name
    }

    /// Whether it is the alias of a typed code (WirePairing, "Typed codes"): nothing is stored for it, and its presence is
    /// not reported.
    func isAlias(_ index: Int) -> Bool { Self.isAlias(nameBytes(of: index)) }

    static func isAlias(_ name: UnsafeRawBufferPointer) -> Bool { name.starts(with: "pairing-code:") }

    func presence(of index: Int) -> Presence { presences[index] }

    mutating func setPresence(_ presence: Presence, of index: Int) {
        guard contains(index) else { return }
        presences[index] = presence
        entries[index].standing = presence.registration?.standing
    }

    func registration(of index: Int) -> Registration? { presences[index].registration }

    /// The part of its registration that every message asks for.
    @inline(__always)
    func standing(of index: Int) -> Standing? { entries[index].standing }

    // MARK: Looking up

    /// Whether that index is a peer of that name.
    @inline(__always)
    func isNamed(_ name: UnsafeRawBufferPointer, _ index: Int) -> Bool {
        guard index >= 0, index < entries.count, let own = entries[index].name, own.count == name.count,
            let ownBytes = own.baseAddress, let bytes = name.baseAddress
        else { return false }
        return memcmp(ownBytes, bytes, own.count) == 0
    }

    func find(_ name: UnsafeRawBufferPointer) -> Int? {
        let hash = Self.hash(name)
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while slots[slot] != 0 {
            if slots[slot] >> 32 == UInt64(hash) {
                let index = Int(slots[slot] & 0xFFFF_FFFF) - 1
                if isNamed(name, index) { return index }
            }
            slot = (slot + 1) & mask
        }
        return nil
    }

    // MARK: Coming and going

    /// The peer of that name, made when there is none.
    mutating func findOrInsert(_ name: UnsafeRawBufferPointer, at moment: Moment) -> Int {
        if let index = find(name) { return index }
        if (count + 1) * 2 > slots.count { grow() }
        let own = UnsafeMutableRawBufferPointer.allocate(byteCount: name.count, alignment: 1)
        own.copyMemory(from: name)
        let entry = Entry(name: UnsafeRawBufferPointer(own), standing: nil)
        let presence = Presence.absent(since: moment.monotonic)
        let index: Int
        if let reused = free.popLast() {
            index = reused
            entries[index] = entry
            presences[index] = presence
        } else {
            index = entries.count
            entries.append(entry)
            presences.append(presence)
        }
        place(hash: Self.hash(name), index: index)
        count += 1
        return index
    }

    mutating func remove(_ index: Int) {
        guard let name = entries[index].name else { return }
        let mask = slots.count - 1
        var hole = Int(Self.hash(name)) & mask
        while slots[hole] & 0xFFFF_FFFF != UInt64(index + 1) { hole = (hole + 1) & mask }
        // What follows moves up, unless that would take it before its own place.
        var next = (hole + 1) & mask
        while slots[next] != 0 {
            let home = Int(slots[next] >> 32) & mask
            if (next - home) & mask >= (next - hole) & mask {
                slots[hole] = slots[next]
                hole = next
            }
            next = (next + 1) & mask
        }
        slots[hole] = 0
        name.deallocate()
        entries[index] = Entry()
        presences[index] = .absent(since: 0)
        elsewhere[index] = nil
        free.append(index)
        count -= 1
    }

    /// The indices of all peers.
    var indices: [Int] {
        var found: [Int] = []
        for index in entries.indices where entries[index].name != nil { found.append(index) }
        return found
    }

    private mutating func grow() {
        var old = OwnedBuffer<UInt64>(repeating: 0, count: slots.count * 2)
        swap(&old, &slots)
        for slot in old.indices where old[slot] != 0 {
            place(hash: UInt32(truncatingIfNeeded: old[slot] >> 32), index: Int(old[slot] & 0xFFFF_FFFF) - 1)
        }
    }

    private mutating func place(hash: UInt32, index: Int) {
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while slots[slot] != 0 { slot = (slot + 1) & mask }
        slots[slot] = UInt64(hash) << 32 | UInt64(index + 1)
    }

    private static func hash(_ name: UnsafeRawBufferPointer) -> UInt32 {
        var hasher = Hasher()
        hasher.combine(bytes: name)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }
}

/// The owner of an id.
enum Presence {
    /// Nobody, since that monotonic time.
    case absent(since: UInt64)
    case online(Registration)
    /// Somebody holds it and is asked for a sign of life, because another one wants it.
    indirect case contested(Registration, Claim)

    @inline(__always)
    var registration: Registration? {
        switch self {
        case .absent: nil
        case .online(let registration), .contested(let registration, _): registration
        }
    }
}

/// A newcomer that waits for an id.
struct Claim {
    /// Names the probe of the owner.
    let id: UInt64
    var newcomer: ConnectionID
    var device: Device
}

/// One id, held by one connection.
final class Registration: Sendable {
    let connection: ConnectionID
    let device: Device
    /// Epoch milliseconds.
    let registeredAt: Int64
    /// When the id was proved here first, in epoch milliseconds; `nil` = the connection has not proved it (Wire, "Proof
    /// of an id").
    private let provedAt: Int64?
    /// For the alias of a typed code: from where it is held.
    let aliasNetwork: String?
    /// What every message of this peer begins with, its id written once: `{"type":"message","from":"…","payload":`.
    private let messageHead: FrameBytes
    /// Where in ``messageHead`` the id stands as a JSON string.
    private let quotedName: Range<Int>

    init(
        connection: ConnectionID, name: [UInt8], device: Device, registeredAt: Int64, provedAt: Int64? = nil,
        aliasNetwork: String? = nil
    ) {
        self.provedAt = provedAt
        self.aliasNetwork = aliasNetwork
        self.connection = connection
        self.device = device
        self.registeredAt = registeredAt
        var head: [UInt8] = []
        head.reserveCapacity(name.count + 40)
        head.append(contentsOf: #"{"type":"message","from":"#.utf8)
        let start = head.count
        JSONText.appendQuoted(name, to: &head)
        quotedName = start..<head.count
        head.append(contentsOf: #","payload":"#.utf8)
        messageHead = FrameBytes(head)
    }

    @inline(__always)
    var standing: Standing {
        Standing(connection: connection, provedAt: provedAt, messageHead: messageHead.bytes, quotedName: quotedName)
    }

    var isProved: Bool { provedAt != nil }

    /// The id as a JSON string, quotes included.
    var quoted: Slice<UnsafeRawBufferPointer> { standing.quoted }
}

/// What every message asks of a ``Registration``: plain values, so that no reference is counted for them.
struct Standing {
    let connection: ConnectionID
    let provedAt: Int64?
    /// What every message of the peer begins with; valid until the table changes.
    let messageHead: UnsafeRawBufferPointer
    fileprivate let quotedName: Range<Int>

    @inline(__always)
    var isProved: Bool { provedAt != nil }

    /// Whether what it begins counts for its network: it has proved no id, or one that was new a day ago.
    @inline(__always)
    func isFresh(at epoch: Int64) -> Bool {
        guard let provedAt else { return true }
        return epoch &- provedAt < RelayStateMachine.freshAge
    }

    /// The id as a JSON string, quotes included.
    var quoted: Slice<UnsafeRawBufferPointer> { messageHead[quotedName] }
}

/// A peer's description of its device, from its registration.
package struct Device: Sendable, Equatable {
    package enum Kind: UInt8, Sendable { case unknown, mobile, desktop }

    /// More `deviceInfo` than this is not kept.
    package static let maximumInfo = 1_024

    package var kind = Kind.unknown
    /// The object as it came; empty = none.
    package var info: [UInt8] = []

    package init() {}

    /// Whether it may become part of a frame.
    static func isInfo(_ bytes: [UInt8]) -> Bool {
        bytes.isEmpty || bytes.count <= maximumInfo && (try? JSONValue(parsing: bytes))?.object != nil
    }
}

/// How a peer is online.
package struct Whereabouts: Sendable, Equatable {
    package var device: Device
    /// Epoch milliseconds.
    package var registeredAt: Int64

    package init(device: Device, registeredAt: Int64) { (self.device, self.registeredAt) = (device, registeredAt) }
}
