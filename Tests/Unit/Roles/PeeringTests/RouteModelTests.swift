import JSON
import Pairing
import Signalling
import TestSupport
import Testing
import Wire

@testable import Peering

private struct Absence: Hashable {
    let route: RouteID
    let peer: PeerID
}

/// The routes as a person would write them down: every word of every relay in one set.
private struct Reference {
    /// Of this kind there is no relay, and it is the best one.
    static let direct = "d"

    let side: RouteTable.Side
    /// A desktop's, from its first start.
    var standing: [RouteID] = []
    var isStarted = false
    var peers: [RoutedPeer] = []
    var held: [RouteID] = []
    var open: [RouteID: LinkState] = [:]
    var invalid: Set<RouteID> = []
    var absent: Set<Absence> = []
    var heardOver: [PeerID: RouteID] = [:]

    func routes(_ id: PeerID) -> [RouteID] {
        guard let peer = peers.first(where: { $0.id == id }) else { return [] }
        var routes = peer.routes
        if side == .desktop {
            routes += standing.filter { !routes.contains($0) }
            if let last = heardOver[id], routes.contains(last) { routes = [last] + routes.filter { $0 != last } }
        }
        let direct = RouteID(Self.direct)
        return routes.filter { $0 == direct } + routes.filter { $0 != direct }
    }

    func reach(_ id: PeerID) -> RouteEvent {
        let up = routes(id).filter { open[$0] == .online }
        if up.isEmpty { return .lost(id, .disconnected) }
        guard let best = up.first(where: { !absent.contains(Absence(route: $0, peer: id)) }) else {
            return .lost(id, .absent)
        }
        return .reachable(id, over: best)
    }

    var wanted: Set<RouteID> {
        let named = isStarted ? Set(peers.flatMap(\.routes) + (side == .desktop ? standing : [])) : []
        return named.union(held)
    }

    /// Opens and closes; a link that is closed has said nothing.
    mutating func reconcile() {
        invalid.formIntersection(wanted)
        for route in open.keys where !wanted.contains(route) { close(route) }
        for route in wanted where open[route] == nil && !invalid.contains(route) {
            open[route] = .offline(.stopped)
        }
    }

    mutating func close(_ route: RouteID) {
        open[route] = nil
        absent = absent.filter { $0.route != route }
    }
}

@Suite struct RouteModelTests {
    private let addresses = ["a", "b", "c", Reference.direct]
    private let ids = ["p", "q", "r"].map { PeerID($0) }

    @Test("as the reference says, whatever happens", arguments: 0..<60 as Range<UInt64>)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let side: RouteTable.Side = seed.isMultiple(of: 2) ? .device : .desktop
        let standing = side == .desktop ? ["a", "b"] : []
        var reference = Reference(side: side)
        var table = RouteTable(side) { $0 == Reference.direct ? 1 : 0 }
        /// What a role knows that only hears the events.
        var told: [PeerID: RouteEvent] = [:]
        var connections: [PeerID?: JSONObject] = [:]
        var open: Set<RouteID> = []
        var resting: Set<RouteID> = []
        for step in 0..<300 {
            let route = RouteID(addresses.randomElement(using: &generator) ?? "a")
            let id = ids.randomElement(using: &generator) ?? PeerID("p")
            var actions: [RouteTable.Action]
            switch Int.random(in: 0..<20, using: &generator) {
            case 0:
                actions = table.start(standing: standing)
                reference.isStarted = true
                reference.standing = standing.map { RouteID($0) }
                reference.reconcile()
            case 1 where step % 3 == 0:
                actions = table.stop()
                reference.isStarted = false
                reference.reconcile()
            case 2, 3:
                let chosen = ids.filter { _ in Bool.random(using: &generator) }
                reference.peers = chosen.map { id in
                    let named = addresses.filter { _ in Bool.random(using: &generator) }
                    guard side == .device else { return RoutedPeer(id, over: named.suffix(1)) }
                    return RoutedPeer(id, over: named, lan: named.first, relay: named.last)
                }
                for gone in ids where !chosen.contains(gone) {
                    reference.absent = reference.absent.filter { $0.peer != gone }
                    reference.heardOver[gone] = nil
                    told[gone] = nil
                    connections[gone] = nil
                }
                reference.reconcile()
                actions = table.setPeers(reference.peers)
            case 4:
                let held = addresses.filter { _ in Int.random(in: 0..<4, using: &generator) == 0 }
                reference.held = held.map { RouteID($0) }
                reference.reconcile()
                actions = table.hold(held)
            case 5:
                actions = table.openFailed(route, message: "none")
                if reference.open[route] != nil {
                    reference.close(route)
                    reference.invalid.insert(route)
                }
                open.remove(route)
                resting.remove(route)
            case 6...12:
                let state: LinkState =
                    [.online, .online, .connecting, .offline(.suspended)].randomElement(using: &generator) ?? .online
                actions = table.linkChanged(
                    route, state, relay: route == RouteID(Reference.direct) ? nil : RelayFacts())
                if reference.open[route] != nil {
                    reference.open[route] = state
                    if state == .online { reference.absent = reference.absent.filter { $0.route != route } }
                }
            case 13...15 where route != RouteID(Reference.direct):
                actions = table.peerOffline(id, over: route)
                if reference.open[route] != nil, reference.peers.contains(where: { $0.id == id }) {
                    reference.absent.insert(Absence(route: route, peer: id))
                }
            case 16:
                let isOnline = Bool.random(using: &generator)
                actions = table.peerStatus(id, isOnline: isOnline, over: route)
                if reference.open[route] != nil, reference.peers.contains(where: { $0.id == id }) {
                    if isOnline {
                        reference.absent.remove(Absence(route: route, peer: id))
                    } else {
                        reference.absent.insert(Absence(route: route, peer: id))
                    }
                }
            default:
                let isLive = Bool.random(using: &generator)
                actions = table.heard(id, over: route, isLive: isLive)
                if reference.peers.contains(where: { $0.id == id }) {
                    reference.heardOver[id] = route
                    if isLive { reference.absent.remove(Absence(route: route, peer: id)) }
                }
            }
            for action in actions {
                switch action {
                case .open(let route, let address, _):
                    #expect(open.insert(route).inserted, "\(address) was open")
                    #expect(RouteID(address) == route && table.address(of: route) == address)
                case .close(let route):
                    #expect(open.remove(route) != nil, "it was not open")
                    resting.remove(route)
                case .rest(let route, let isResting):
                    if isResting { resting.insert(route) } else { resting.remove(route) }
                case .report(.reachable(let id, let route)): told[id] = .reachable(id, over: route)
                case .report(.lost(let id, let loss)): told[id] = .lost(id, loss)
                case .report(.connectionChanged(let id, let connection)):
                    #expect(connections[id] != connection, "told twice")
                    connections[id] = connection
                case .report, .suspend, .resume: break
                }
            }
            #expect(open == Set(reference.open.keys) && open == Set(table.opened), "step \(step)")
            for peer in reference.peers {
                let reach = reference.reach(peer.id)
                #expect(told[peer.id] ?? .lost(peer.id, .disconnected) == reach, "step \(step)")
                #expect(table.isAbsent(peer.id) == (reach == .lost(peer.id, .absent)))
                #expect(table.routes(of: peer.id) == reference.routes(peer.id))
                if side == .device { #expect(connections[peer.id] == table.connection(of: peer.id)) }
                if case .reachable(_, let route) = reach {
                    #expect(table.isReachable(peer.id) && table.bestRoute(of: peer.id) == route)
                } else {
                    #expect(!table.isReachable(peer.id))
                }
            }
            if side == .desktop { #expect(connections[nil] ?? table.connection(of: nil) == table.connection(of: nil)) }
            let mayRest = restingRoutes(of: reference.peers) { id, route in
                reference.open[route] == .online && !reference.absent.contains(Absence(route: route, peer: id))
            }
            #expect(resting == mayRest.subtracting(reference.held).intersection(open), "step \(step)")
        }
    }
}
