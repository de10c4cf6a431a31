/// Everything that a relay decides: who holds which id, who gets which frame, what is stored for whom.
///
/// It knows no sockets: connections are names, time comes in with each event, and actions come out. A socket owns at
/// most one id, and a deployed phone a second one, and an id belongs to at most one socket (Wire, "Who owns an id").
struct RelayStateMachine: ~Copyable {
    /// What to do about one frame.
    enum FrameAction {
        case none
        /// Send it to that connection, which holds the id it is for.
        case forward(to: ConnectionID, RoutedFrame)
        /// Nobody here holds the id that it is for: offer it to the other relays, and if none takes it, call
        /// ``notElsewhere(_:at:)``.
        case elsewhere(TransitFrame)
        case perform([Action])
    }

    /// One step, to be carried out in the order given.
    enum Action {
        case send(to: ConnectionID, [UInt8])
        case close(ConnectionID, CloseCause)
        /// Ask the connection for a sign of life, then call ``probeEnded(_:of:answered:at:)``.
        case probe(ConnectionID, peer: Int, claim: UInt64)
        /// When all that was sent to the connection so far is written, call ``written(to:peer:through:)``.
        case awaitWritten(ConnectionID, peer: Int, through: UInt64)
        /// Draw a nonce, and call ``challenge(_:nonce:security:at:)``.
        case challenge(ConnectionID)
        /// Keep for good that the id was proved, then call ``remembered(_:by:claim:at:)``.
        case remember([UInt8], by: ConnectionID, claim: UInt64)
        /// Ask the other relays for the id, then call ``claimed(_:by:claim:_:at:)``.
        case claim([UInt8], by: ConnectionID, claim: UInt64, isProved: Bool)
        /// For the other relays: an id is held here now.
        case came([UInt8])
        /// For the other relays: nobody here holds it any more.
        case left([UInt8])
        /// For the other relays: something more is kept for it.
        case kept([UInt8])
        /// Somebody here may hear of a peer that is not here: ask the other relays, now and from now on, and call
        /// ``seen(_:_:at:)``.
        case watch([UInt8])
        /// An id was proved that there is no place to remember: of all networks, or of its own.
        case cannotRemember(isNetworkFull: Bool)
    }

    struct Limits {
        /// Milliseconds that a connection has to register.
        var registerWithin: UInt64
        /// Longer frames are never sent, also if they have grown in the relay.
        var frameBytes: Int
        /// For one connection; 0 = no limit.
        var framesPerSecond: Int
        /// For one network; 0 = no limit.
        var framesPerSecondOfNetwork: Int
        /// Of large frames, for one connection and for one network; 0 = no limit.
        var bytesPerSecond: Int
        var bytesPerSecondOfNetwork: Int
        /// How often one network may name aliases of typed codes; 0 = no limit.
        var codeLookupsPerMinute: Int
        /// Whether the limits for one peer and one address hold for loopback, too.
        var limitsLoopback: Bool
        var doorkeeper: Doorkeeper.Limits
        var absent: AbsentStore.Limits
        var acquaintances: Acquaintances.Limits
        var aliases: AliasHolders.Limits
        /// Ids that are remembered as proved.
        var provedIDs: Int
        /// The only ids that may register, typed codes aside; `nil` = any.
        var allowed: Set<[UInt8]>?
    }

    struct Counters {
        /// Connections and registered ids now.
        var openConnections = 0
        var registeredPeers = 0
        // All others since the start.
        var connections: UInt64 = 0
        var registrations: UInt64 = 0
        var forwarded: UInt64 = 0
        /// Of forwarded frames.
        var forwardedBytes: UInt64 = 0
        var stored: UInt64 = 0
        var delivered: UInt64 = 0
        var peerOffline: UInt64 = 0
        var refusedFrames: UInt64 = 0
        /// The same by reason.
        var refusals = [UInt64](repeating: 0, count: Refusal.allCases.count)
        var limitedFrames: UInt64 = 0
        var replaced: UInt64 = 0
        var proved: UInt64 = 0
        var refusedProofs: UInt64 = 0
    }

    /// Ids are at most this long, in bytes.
    static let maximumName = 256
    /// What a registration counts in frames, besides its own.
    static let registrationCost = 19
    /// How long acquaintances of a peer that is gone are remembered, in milliseconds.
    static let acquaintanceAge: UInt64 = 24 * 60 * 60 * 1_000

    private(set) var limits: Limits
    var peers: PeerTable
    var absent: AbsentStore
    var acquaintances: Acquaintances
    var doorkeeper: Doorkeeper
    var aliases: AliasHolders
    var networks = Networks()
    var proved: ProvedIDs
    /// Under which this relay is dialled, as UTF-8. Kept up to date by the owner.
    var origins: Set<[UInt8]> = []
    var connections = OwnedBuffer<Connection>()
    var freeSlots: [Int] = []
    /// Connections in the order in which they came, each with the time by which it must have registered.
    var unregistered: [(connection: ConnectionID, deadline: UInt64)] = []
    var nextClaim: UInt64 = 1
    var timestamp = TimestampTail()
    var counters = Counters()

    /// Whether there are other relays to ask.
    var isClustered: Bool { peers.isClustered }
    var connectionCount: Int { counters.openConnections }
    var registeredCount: Int { counters.registeredPeers }

    init(limits: Limits, proved: ProvedIDs, isClustered: Bool = false) {
        self.limits = limits
        peers = PeerTable(isClustered: isClustered)
        self.proved = proved
        aliases = AliasHolders(limits: limits.aliases)
        absent = AbsentStore(limits: limits.absent)
        acquaintances = Acquaintances(limits: limits.acquaintances)
        doorkeeper = Doorkeeper(limits: limits.doorkeeper)
    }

    // MARK: Changes of what is permitted

    /// Other limits from now on. What is over one of them already stays until it ends by itself.
    mutating func change(_ limits: Limits) {
        self.limits = limits
        aliases.limits = limits.aliases
        absent.limits = limits.absent
        acquaintances.limits = limits.acquaintances
        doorkeeper.limits = limits.doorkeeper
        proved.limit = limits.provedIDs
    }

    /// Ends the registrations of ids that are not allowed any more.
    func expelDisallowed() -> [Action] {
        peers.indices.compactMap { peer in
            guard let registration = peers.registration(of: peer), !isAllowed(peers.name(of: peer)) else { return nil }
            return .close(registration.connection, .notAllowed)
        }
    }

    /// Aliases of typed codes are, so that two who are allowed can pair.
    func isAllowed(_ name: [UInt8]) -> Bool {
        guard let allowed = limits.allowed else { return true }
        return allowed.contains(name) || name.withUnsafeBytes { PeerTable.isAlias($0) }
    }

    // MARK: Connections come and go

    mutating func opened(from address: String, isLoopback: Bool, at moment: Moment) -> ConnectionID {
        var connection = Connection()
        connection.address = address
        connection.network = networks.came(from: address)
        connection.state = .unregistered(address: address)
        connection.isLimited = !isLoopback || limits.limitsLoopback
        let slot: Int
        if let reused = freeSlots.popLast() {
            slot = reused
            connection.generation = connections[slot].generation
            connections[slot] = connection
        } else {
            slot = connections.count
            connections.append(connection)
        }
        let id = ConnectionID(slot: slot, generation: connection.generation)
        unregistered.append((id, moment.monotonic &+ limits.registerWithin))
        doorkeeper.came(from: address)
        counters.openConnections += 1
        counters.connections += 1
        return id
    }

    mutating func closed(_ id: ConnectionID, at moment: Moment) -> [Action] {
        guard isOpen(id) else { return [] }
        var actions: [Action] = []
        withdrawClaim(of: id)
        let state = connections[id.slot].state
        let second = connections[id.slot].second
        let network = connections[id.slot].network
        networks.left(network, isCounted: isCounted(network, at: moment))
        connections[id.slot] = Connection()
        connections[id.slot].generation = id.generation &+ 1
        freeSlots.append(id.slot)
        counters.openConnections -= 1
        switch state {
        case .closed: break
        case .unregistered(let address): doorkeeper.left(address)
        case .registered(let peer): release(peer, heldBy: id, at: moment, &actions)
        }
        if let second { release(second, heldBy: id, at: moment, &actions) }
        return actions
    }

    func isOpen(_ id: ConnectionID) -> Bool {
        guard id.slot < connections.count, connections[id.slot].generation == id.generation else { return false }
        switch connections[id.slot].state {
        case .closed: return false
        case .unregistered, .registered: return true
        }
    }

    // MARK: Time

    /// Call it about once a second. Ends connections that did not register in time.
    mutating func tick(at moment: Moment) -> [Action] {
        var actions: [Action] = []
        var done = 0
        while done < unregistered.count, unregistered[done].deadline <= moment.monotonic {
            let id = unregistered[done].connection
            done += 1
            guard isOpen(id), case .unregistered = connections[id.slot].state else { continue }
            if connections[id.slot].claims != nil || connections[id.slot].pending != nil {
                // It waits for the owner of its id, the disk or other relays; that has an end of its own.
                unregistered.append((id, moment.monotonic &+ limits.registerWithin))
            } else {
                actions.append(.close(id, .notRegistered))
            }
        }
        unregistered.removeFirst(done)
        return actions
    }

    /// Call it about once a minute. Forgets stored frames that are too old, whom peers knew that have long been gone, and
    /// networks of which nothing is left.
    mutating func sweep(at moment: Moment) {
        for peer in absent.expire(at: moment) { forgetIfIdle(peer) }
        for peer in peers.indices where !acquaintances.isEmpty(for: peer) && peers.elsewhere[peer] == nil {
            guard case .absent(let since) = peers.presence(of: peer),
                moment.monotonic &- since >= Self.acquaintanceAge
            else { continue }
            for other in acquaintances.forgetAll(of: peer) { forgetIfIdle(other) }
            forgetIfIdle(peer)
        }
        let (absent, acquaintances) = (absent, acquaintances)
        let day = Self.day(moment)
        let networks = networks
        self.networks.sweep {
            absent.holds($0) || acquaintances.holds($0)
                || networks.hasCounted($0, at: moment.monotonic, on: day)
        }
    }

    /// Whether the network has a share of what is everybody's, or has used up some of its own.
    private func isCounted(_ network: Int, at moment: Moment) -> Bool {
        absent.holds(network) || acquaintances.holds(network)
            || networks.hasCounted(network, at: moment.monotonic, on: Self.day(moment))
    }

    static func day(_ moment: Moment) -> UInt64 { moment.monotonic / acquaintanceAge }

    /// A peer of whom nothing is known any more leaves the table.
    mutating func forgetIfIdle(_ peer: Int) {
        guard peers.contains(peer), case .absent = peers.presence(of: peer), absent.isEmpty(for: peer),
            acquaintances.isEmpty(for: peer)
        else { return }
        peers.remove(peer)
    }
}

/// The part of a stored frame that must be kept for a restart.
package struct ArchivedFrame: Sendable, Equatable {
    package enum Source: Sendable, Equatable {
        /// The address of a network, as text.
        case network(String)
        /// A proved id.
        case proved([UInt8])
    }

    /// Rising in the order of arrival, over all peers and restarts.
    package var sequence: Int64
    /// For whom it is stored.
    package var peer: [UInt8]
    package var source: Source
    /// Epoch milliseconds.
    package var storedAt: Int64
    package var isSealed: Bool
    package var bytes: [UInt8]

    package init(
        sequence: Int64, peer: [UInt8], source: Source, storedAt: Int64, isSealed: Bool, bytes: [UInt8]
    ) {
        (self.sequence, self.peer, self.source) = (sequence, peer, source)
        (self.storedAt, self.isSealed, self.bytes) = (storedAt, isSealed, bytes)
    }
}

package enum ArchiveChange: Sendable, Equatable {
    case kept(ArchivedFrame)
    case gone(Int64)
}

/// The state of one connection.
struct Connection {
    enum State {
        case closed
        case unregistered(address: String)
        case registered(peer: Int)
    }

    var generation: UInt32 = 0
    var state = State.closed
    /// Where it came from.
    var address = ""
    /// The number of that in ``Networks``.
    var network = -1
    /// The peer of a second id (Wire, "Who owns an id").
    var second: Int?
    /// The peer whose id this connection waits for.
    var claims: Int?
    /// The nonce that it may answer.
    var challenge: PendingChallenge?
    /// Until its proof is remembered, or other relays have answered.
    var pending: PendingRegistration?
    /// Whether the limit on frames holds for it.
    var isLimited = true
    var rate = FrameRate()
    /// Bytes of large frames.
    var bytes = NetworkRate()
    /// The peer to whom it sent last, and the version of ``Acquaintances`` at which they knew each other.
    var lastTarget = -1
    var lastVersion: UInt32 = 0
}
