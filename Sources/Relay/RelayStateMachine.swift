/// Everything that a relay decides: who holds which id, who gets which frame, what is stored for whom.
///
/// It knows no sockets: connections are names, time comes in with each event, and actions come out. A socket owns at
/// most one id, and an id belongs to at most one socket (Wire, "Who owns an id").
struct RelayStateMachine {
    /// What to do about one frame.
    enum FrameAction {
        case none
        /// Send it to that connection, which holds the id it is for.
        case forward(to: ConnectionID, RoutedFrame)
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
        /// Keep for good that the id was proved.
        case remember([UInt8])
        /// An id was proved that there is no place to remember.
        case cannotRemember
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
        /// How often one network may name aliases of typed codes; 0 = no limit.
        var codeLookupsPerMinute: Int
        /// Whether the limits for one peer and one address hold for loopback, too.
        var limitsLoopback: Bool
        var doorkeeper: Doorkeeper.Limits
        var absent: AbsentStore.Limits
        var acquaintances: Acquaintances.Limits
        var aliases: AliasHolders.Limits
    }

    struct Counters {
        /// Connections and registered ids now.
        var openConnections = 0
        var registeredPeers = 0
        // All others since the start.
        var connections: UInt64 = 0
        var registrations: UInt64 = 0
        var forwarded: UInt64 = 0
        var stored: UInt64 = 0
        var delivered: UInt64 = 0
        var peerOffline: UInt64 = 0
        var refusedFrames: UInt64 = 0
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

    let limits: Limits
    var peers = PeerTable()
    var absent: AbsentStore
    var acquaintances: Acquaintances
    var doorkeeper: Doorkeeper
    var aliases: AliasHolders
    var networks = Networks()
    var proved: ProvedIDs
    /// Under which this relay is dialled, as UTF-8. Kept up to date by the owner.
    var origins: Set<[UInt8]> = []
    var connections: [Connection] = []
    var freeSlots: [Int] = []
    /// Connections in the order in which they came, each with the time by which it must have registered.
    var unregistered: [(connection: ConnectionID, deadline: UInt64)] = []
    var nextClaim: UInt64 = 1
    var timestamp = TimestampTail()
    var counters = Counters()

    var connectionCount: Int { counters.openConnections }
    var registeredCount: Int { counters.registeredPeers }

    init(limits: Limits, proved: ProvedIDs) {
        self.limits = limits
        self.proved = proved
        aliases = AliasHolders(limits: limits.aliases)
        absent = AbsentStore(limits: limits.absent)
        acquaintances = Acquaintances(limits: limits.acquaintances)
        doorkeeper = Doorkeeper(limits: limits.doorkeeper)
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
        let network = connections[id.slot].network
        networks.left(network, isCounted: isCounted(network))
        connections[id.slot] = Connection()
        connections[id.slot].generation = id.generation &+ 1
        freeSlots.append(id.slot)
        counters.openConnections -= 1
        switch state {
        case .closed: break
        case .unregistered(let address): doorkeeper.left(address)
        case .registered(let peer): release(peer, heldBy: id, at: moment, &actions)
        }
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
            if connections[id.slot].claims != nil {
                // It waits for the owner of its id; that has an end of its own.
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
        for peer in peers.indices where !acquaintances.isEmpty(for: peer) {
            guard case .absent(let since) = peers[peer].presence,
                moment.monotonic &- since >= Self.acquaintanceAge
            else { continue }
            for other in acquaintances.forgetAll(of: peer) { forgetIfIdle(other) }
            forgetIfIdle(peer)
        }
        let (absent, acquaintances) = (absent, acquaintances)
        networks.sweep { absent.holds($0) || acquaintances.holds($0) }
    }

    /// Does the network have a share of what is everybody's?
    private func isCounted(_ network: Int) -> Bool { absent.holds(network) || acquaintances.holds(network) }

    /// A peer of whom nothing is known any more leaves the table.
    mutating func forgetIfIdle(_ peer: Int) {
        guard peers.contains(peer), case .absent = peers[peer].presence, absent.isEmpty(for: peer),
            acquaintances.isEmpty(for: peer)
        else { return }
        peers.remove(peer)
    }
}

/// What the machine knows of one connection.
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
    /// The peer whose id this connection waits for.
    var claims: Int?
    /// The nonce that it may answer.
    var challenge: PendingChallenge?
    /// Whether the limit on frames holds for it.
    var isLimited = true
    var rate = FrameRate()
    /// The peer to whom it sent last, and the version of ``Acquaintances`` at which they knew each other.
    var lastTarget = -1
    var lastVersion: UInt32 = 0
}
