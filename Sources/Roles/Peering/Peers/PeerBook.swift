package import Wire

/// A peer with an id.
package protocol Peer: Sendable {
    /// Its address: the `from` that its relay writes.
    var id: PeerID { get }
}

/// A peer that this role is paired with.
package protocol PairedPeer: Peer, Equatable {
    /// Whether it was paired sealed (WireSealing, "After a sealed pairing").
    var isSecure: Bool { get }
}

/// Peers with exactly one session each, which holds all state kept per peer.
///
/// ```swift
/// book.upsert(stored) { PeerSession() }
/// book[peer]?.lastHeard = now
/// book.forget(peer)
/// ```
///
/// Lookups take constant time. Peers keep the order in which they were added.
package struct PeerBook<Known: Peer, Session> {
    fileprivate struct Entry {
        var peer: Known
        /// Never `nil`; optional so that the subscript can lend it out in place.
        var session: Session?
    }

    private var entries: [Entry] = []
    private var places: [PeerID: Int] = [:]

    package init() {}

    /// If several peers have the same id, the first one counts.
    package init(_ peers: [Known], session: (Known) -> Session) {
        for peer in peers where places[peer.id] == nil { upsert(peer) { session(peer) } }
    }

    package var isEmpty: Bool { entries.isEmpty }
    package var count: Int { entries.count }
    // Closures: a key path into a generic type is made when it runs.
    package var peers: [Known] { entries.map { $0.peer } }
    package var ids: [PeerID] { entries.map { $0.peer.id } }
    /// The peer that was added first.
    package var first: Known? { entries.first?.peer }

    package func contains(_ id: PeerID) -> Bool { places[id] != nil }

    package func peer(_ id: PeerID) -> Known? { places[id].map { entries[$0].peer } }

    /// A peer's session, mutable in place; `nil` for an unknown peer. Don't assign `nil`: use ``forget(_:)``.
    package subscript(id: PeerID) -> Session? {
        get { places[id].flatMap { entries[$0].session } }
        _modify {
            guard let place = places[id] else {
                var nobody: Session?
                yield &nobody
                return
            }
            yield &entries[place].session
            precondition(entries[place].session != nil, "a peer keeps its session until it is forgotten")
        }
    }

    /// Updates a peer, or appends it with a new session.
    ///
    /// - Returns: whether it is new.
    @discardableResult
    package mutating func upsert(_ peer: Known, session: () -> Session) -> Bool {
        if let place = places[peer.id] {
            entries[place].peer = peer
            return false
        }
        places[peer.id] = entries.count
        entries.append(Entry(peer: peer, session: session()))
        return true
    }

    /// Updates a known peer; ignores an unknown one.
    package mutating func update(_ peer: Known) {
        guard let place = places[peer.id] else { return }
        entries[place].peer = peer
    }

    /// Forgets a peer and its session, which is returned; `nil` = unknown peer.
    @discardableResult
    package mutating func forget(_ id: PeerID) -> Session? {
        guard let place = places.removeValue(forKey: id) else { return nil }
        let session = entries.remove(at: place).session
        for next in place..<entries.count { places[entries[next].peer.id] = next }
        return session
    }

    /// Calls `body` with each peer and its mutable session, in order.
    package mutating func forEach(_ body: (Known, inout Session) -> Void) {
        for place in entries.indices {
            guard var session = entries[place].session.take() else { continue }
            defer { entries[place].session = session }
            body(entries[place].peer, &session)
        }
    }
}

extension PeerBook: Sendable where Session: Sendable {}
extension PeerBook.Entry: Sendable where Session: Sendable {}
