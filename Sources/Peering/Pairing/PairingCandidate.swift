package import Sealing
package import Signalling
package import Store
import Wire

/// A frame that came while its sender's pairing was being stored: the peer may be faster than the disk.
package struct HeldFrame: Sendable, Equatable {
    package let message: RelayMessage
    package let url: String
}

/// Which seals have brought a pairing about: saved in the transaction that stores it, so that none counts again.
package struct PairingMarks: Sendable, Equatable {
    static let limit = 64

    /// Of frames that nothing else has recorded; the newest, where there are too many.
    package internal(set) var taken: [SealMark] = []
    /// The newest of all: what its peer has sealed before that is void.
    package internal(set) var newest: SealMark?

    package init() {}

    mutating func add(_ mark: SealMark, isRecorded: Bool) {
        newest = mark
        guard !isRecorded else { return }
        taken.append(mark)
        if taken.count > Self.limit { taken.removeFirst() }
    }

    /// In the transaction that stores the pairing.
    package func save(_ connection: Connection) throws(StoreError) {
        let states = SealStates(connection)
        for mark in taken { try states.save(mark) }
        if let newest { try states.begin(newest) }
    }
}

/// A pairing to be stored; then say ``PairingCoordinator/stored(_:_:accept:)``.
package struct PairingRecord<Known: PairedPeer>: Sendable {
    package let flow: PairingFlow
    package let peer: Known
    package let marks: PairingMarks
    /// The link that the peer was heard over.
    package let url: String?
    /// Which storing of this peer's.
    let number: Int
}

/// What pairings know of one peer that is not paired yet, or again.
struct PairingCandidate: Sendable {
    /// How many frames wait for the store.
    static let heldLimit = 64

    var marks = PairingMarks()
    /// The link that it was heard over last.
    var url: String?
    /// Written by so many flows up to now, and that many of them are done.
    private var begun = 0
    private var done = 0
    /// Those up to here were begun before it was unpaired.
    private var voidThrough = 0
    private var held: [HeldFrame] = []

    var isStoring: Bool { done < begun }

    mutating func begin() -> Int {
        begun += 1
        return begun
    }

    /// It was unpaired while it was being stored.
    mutating func unpair() { voidThrough = begun }

    func isVoid(_ number: Int) -> Bool { number <= voidThrough }

    /// One more is done. Gives what has waited, once all are.
    mutating func end() -> [HeldFrame] {
        done += 1
        guard !isStoring else { return [] }
        defer { held = [] }
        return held
    }

    /// One too many is dropped: its sender repeats what matters.
    mutating func hold(_ frame: HeldFrame) { if held.count < Self.heldLimit { held.append(frame) } }
}

/// The id of a peer, where there is nothing else to know of it.
struct NamedPeer: Peer { let id: PeerID }
