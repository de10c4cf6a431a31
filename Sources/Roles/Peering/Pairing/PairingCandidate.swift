package import Identity
package import Sealing
package import Signalling
package import Store
package import Wire

/// A frame that arrived while its sender's pairing was being stored: a peer may be faster than the disk.
package struct HeldFrame: Sendable, Equatable {
    package let message: PeerMessage
    package let route: RouteID
}

/// Marks of the sealed frames that led to a pairing. Saved with it, so that none of them has an effect again.
package struct PairingMarks: Sendable, Equatable {
    static let limit = 64

    /// Marks that nothing else has recorded; at most the newest 64.
    package internal(set) var taken: [SealMark] = []
    /// The newest mark: anything the peer sealed before it is void.
    package internal(set) var newest: SealMark?

    package init() {}

    mutating func add(_ mark: SealMark, isRecorded: Bool) {
        newest = mark
        guard !isRecorded else { return }
        taken.append(mark)
        if taken.count > Self.limit { taken.removeFirst() }
    }

    /// Call it in the transaction that stores the pairing.
    package func save(_ connection: Connection) throws(StoreError) {
        let states = SealStates(connection)
        for mark in taken { try states.save(mark) }
        if let newest { try states.begin(newest) }
    }
}

extension PairingRecord {
    /// What the seal keeps of the pairing: the marks, and the preshared key. Call it in the transaction that stores the
    /// peer.
    ///
    /// A plain pairing changes nothing of a peer that was paired sealed (WireSealing, "After a sealed pairing").
    package func saveSeal(_ connection: Connection) throws(StoreError) {
        try marks.save(connection)
        guard peer.isSecure else { return }
        try SealPeers(connection).begin(peer.id, presharedKey: presharedKey)
    }
}

/// A pairing to be stored; then call ``PairingCoordinator/stored(_:_:accept:)``.
package struct PairingRecord<Known: PairedPeer>: Sendable {
    package let flow: PairingFlow
    package let peer: Known
    package let marks: PairingMarks
    /// The route that the peer was last heard over.
    package let route: RouteID?
    /// Of its sessions; `nil` = one of the two doesn't use sessions.
    package internal(set) var presharedKey: PresharedKey?
    /// Numbers the stores of this peer.
    let number: Int
}

/// Pairing state of one peer that is not paired yet, or pairs again.
struct PairingCandidate: Sendable {
    /// How many frames are held.
    static let heldLimit = 64

    var marks = PairingMarks()
    /// Marks that the replay window refuses, of the flow whose machine has verified the proof of their frame, if that was
    /// the last frame it took.
    var staleMarks: [PairingFlow: SealMark] = [:]
    /// The route that it was last heard over.
    var route: RouteID?
    /// Stores begun and finished; two flows may store the same peer.
    private var begun = 0
    private var done = 0
    /// Stores up to this number began before the peer was unpaired.
    private var voidThrough = 0
    private var held: [HeldFrame] = []

    var isStoring: Bool { done < begun }

    mutating func begin() -> Int {
        begun += 1
        return begun
    }

    /// These flows have taken a frame with this mark; `nil` = a plain one.
    mutating func take(_ mark: SealMark?, isRecorded: Bool, by flows: [PairingFlow]) {
        for flow in flows { staleMarks[flow] = mark?.isStale == true ? mark : nil }
        if let mark, !mark.isStale { marks.add(mark, isRecorded: isRecorded) }
    }

    /// For a pairing of this flow, which takes them all.
    mutating func takeMarks(for flow: PairingFlow) -> PairingMarks {
        defer { (marks, staleMarks) = (PairingMarks(), [:]) }
        var taken = marks
        taken.newest = staleMarks[flow] ?? marks.newest
        return taken
    }

    /// The peer was unpaired while it was being stored.
    mutating func unpair() { voidThrough = begun }

    func isVoid(_ number: Int) -> Bool { number <= voidThrough }

    /// Finishes one store. Returns the held frames once all are finished.
    mutating func end() -> [HeldFrame] {
        done += 1
        guard !isStoring else { return [] }
        defer { held = [] }
        return held
    }

    /// Frames over the limit are dropped: their sender repeats what matters.
    mutating func hold(_ frame: HeldFrame) { if held.count < Self.heldLimit { held.append(frame) } }
}

/// A peer of which only the id is known.
struct NamedPeer: Peer { let id: PeerID }
