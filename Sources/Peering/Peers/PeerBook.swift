package import Wire

/// Somebody whom this role knows by an id.
package protocol Peer: Sendable {
    /// Where it is addressed: the `from` that its relay writes.
    var id: PeerID { get }
}

/// A peer that this role is paired with.
package protocol PairedPeer: Peer, Equatable {
    /// Whether it was paired sealed (protocol.md 4).
    var isSecure: Bool { get }
}

/// Peers, each with exactly one session: everything that is kept about it while it is known.
///
/// ```swift
/// book.upsert(stored) { PeerSession() }
/// book[peer]?.lastHeard = now
/// book.forget(peer)
/// ```
///
/// Lookups take constant time. The order is that in which the peers came.
package struct PeerBook<Known: Peer, Session> {
    fileprivate struct Entry {
        var peer: Known
        /// Never `nil`; optional so that the subscript can lend it out in place.
        var session: Session?
    }

    private var entries: [Entry] = []
    private var places: [PeerID: Int] = [:]

    package init() {}

    /// Of several peers with one id the first counts.
    package init(_ peers: [Known], session: (Known) -> Session) {
        for peer in peers where places[peer.id] == nil { upsert(peer) { session(peer) } }
    }

    package var isEmpty: Bool { entries.isEmpty }
    package var count: Int { entries.count }
    package var peers: [Known] { entries.map(\.peer) }
    package var ids: [PeerID] { entries.map(\.peer.id) }
    /// The one that came first.
    package var first: Known? { entries.first?.peer }

    package func contains(_ id: PeerID) -> Bool { places[id] != nil }

    package func peer(_ id: PeerID) -> Known? { places[id].map { entries[$0].peer } }

    /// A peer's session, to be changed in place; `nil` for a peer that is not here. Only ``forget(_:)`` ends one.
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

    /// Brings a peer up to date. One that is new comes last, with a new session.
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

    /// Changes a peer that is here.
    package mutating func update(_ peer: Known) {
        guard let place = places[peer.id] else { return }
        entries[place].peer = peer
    }

    /// Forgets a peer and all that was kept about it; gives its session. `nil` = it was not here.
    @discardableResult
    package mutating func forget(_ id: PeerID) -> Session? {
        guard let place = places.removeValue(forKey: id) else { return nil }
        let session = entries.remove(at: place).session
        for next in place..<entries.count { places[entries[next].peer.id] = next }
        return session
    }

    /// Calls `body` with each peer and its session, in order; the session may be changed.
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
