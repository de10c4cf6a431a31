import JSON
import Pairing
import Signalling
import TestSupport
import Testing
import Wire

@testable import Peering

/// The routes as a person would write them down: every word of every relay in one set.
private struct Reference {
    let side: RouteTable.Side
    /// A desktop's, from its first start.
    var standing: [String] = []
    var isStarted = false
    var peers: [RoutedPeer] = []
    var held: [String] = []
    var open: [String: RelayConnectionState] = [:]
    var invalid: Set<String> = []
    var absent: Set<[String]> = []
    var heardOver: [PeerID: String] = [:]

    func routes(_ id: PeerID) -> [String] {
        guard let peer = peers.first(where: { $0.id == id }) else { return [] }
        let urls = side == .desktop ? standing : peer.urls
        guard side == .desktop, let last = heardOver[id], urls.contains(last) else { return urls }
        return [last] + urls.filter { $0 != last }
    }

    func reach(_ id: PeerID) -> RouteEvent {
        let up = routes(id).filter { open[$0] == .online }
        if up.isEmpty { return .lost(id, .disconnected) }
        guard let best = up.first(where: { !absent.contains([$0, id.text]) }) else { return .lost(id, .absent) }
        return .reachable(id, over: best)
    }

    var wanted: Set<String> {
        let named = isStarted ? Set(peers.flatMap(\.urls) + (side == .desktop ? standing : [])) : []
        return named.union(held)
    }

    /// Opens and closes; a link that is closed has said nothing.
    mutating func reconcile() {
        invalid.formIntersection(wanted)
        for url in open.keys where !wanted.contains(url) { close(url) }
        for url in wanted where open[url] == nil && !invalid.contains(url) { open[url] = .offline(.stopped) }
    }

    mutating func close(_ url: String) {
        open[url] = nil
        absent = absent.filter { $0.first != url }
    }
}

@Suite struct RouteModelTests {
    private let urls = ["a", "b", "c", "d"]
    private let ids = ["p", "q", "r"].map { PeerID($0) }

    @Test("as the reference says, whatever happens", arguments: 0..<60 as Range<UInt64>)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let side: RouteTable.Side = seed.isMultiple(of: 2) ? .device : .desktop
        let standing = side == .desktop ? ["a", "b"] : []
        var reference = Reference(side: side)
        var table = RouteTable(side)
        /// What a role knows that only hears the events.
        var told: [PeerID: RouteEvent] = [:]
        var connections: [PeerID?: JSONObject] = [:]
        var open: Set<String> = []
        var resting: Set<String> = []
        for step in 0..<300 {
            let url = urls.randomElement(using: &generator) ?? "a"
            let id = ids.randomElement(using: &generator) ?? PeerID("p")
            var actions: [RouteTable.Action]
            switch Int.random(in: 0..<20, using: &generator) {
            case 0:
                actions = table.start(standing: standing)
                reference.isStarted = true
                reference.standing = standing
                reference.reconcile()
            case 1 where step % 3 == 0:
                actions = table.stop()
                reference.isStarted = false
                reference.reconcile()
            case 2, 3:
                let chosen = ids.filter { _ in Bool.random(using: &generator) }
                reference.peers = chosen.map { id in
                    let named = side == .desktop ? [] : urls.filter { _ in Bool.random(using: &generator) }
                    return RoutedPeer(id, over: named, lan: named.first, relay: named.last)
                }
                for gone in ids where !chosen.contains(gone) {
                    reference.absent = reference.absent.filter { $0.last != gone.text }
                    reference.heardOver[gone] = nil
                    told[gone] = nil
                    connections[gone] = nil
                }
                reference.reconcile()
                actions = table.setPeers(reference.peers)
            case 4:
                reference.held = urls.filter { _ in Int.random(in: 0..<4, using: &generator) == 0 }
                reference.reconcile()
                actions = table.hold(reference.held)
            case 5:
                actions = table.openFailed(url, message: "none")
                if reference.open[url] != nil {
                    reference.close(url)
                    reference.invalid.insert(url)
                }
                open.remove(url)
                resting.remove(url)
            case 6...12:
                let state: RelayConnectionState =
                    [.online, .online, .connecting, .offline(.suspended)].randomElement(using: &generator) ?? .online
                actions = table.linkChanged(url, state)
                if reference.open[url] != nil {
                    reference.open[url] = state
                    if state == .online { reference.absent = reference.absent.filter { $0.first != url } }
                }
            case 13, 14, 15:
                actions = table.peerOffline(id, over: url)
                if reference.open[url] != nil, reference.peers.contains(where: { $0.id == id }) {
                    reference.absent.insert([url, id.text])
                }
            case 16:
                let isOnline = Bool.random(using: &generator)
                actions = table.peerStatus(id, isOnline: isOnline, over: url)
                if reference.open[url] != nil, reference.peers.contains(where: { $0.id == id }) {
                    if isOnline {
                        reference.absent.remove([url, id.text])
                    } else {
                        reference.absent.insert([url, id.text])
                    }
                }
            default:
                let isLive = Bool.random(using: &generator)
                actions = table.heard(id, over: url, isLive: isLive)
                if reference.peers.contains(where: { $0.id == id }) {
                    reference.heardOver[id] = url
                    if isLive { reference.absent.remove([url, id.text]) }
                }
            }
            for action in actions {
                switch action {
                case .open(let url, _): #expect(open.insert(url).inserted, "\(url) was open")
                case .close(let url):
                    #expect(open.remove(url) != nil, "\(url) was not open")
                    resting.remove(url)
                case .rest(let url, let isResting):
                    if isResting { resting.insert(url) } else { resting.remove(url) }
                case .report(.reachable(let id, let url)): told[id] = .reachable(id, over: url)
                case .report(.lost(let id, let loss)): told[id] = .lost(id, loss)
                case .report(.connectionChanged(let id, let connection)):
                    #expect(connections[id] != connection, "told twice")
                    connections[id] = connection
                case .report, .suspend, .resume: break
                }
            }
            #expect(open == Set(reference.open.keys) && open == Set(table.urls), "step \(step)")
            for peer in reference.peers {
                let reach = reference.reach(peer.id)
                #expect(told[peer.id] ?? .lost(peer.id, .disconnected) == reach, "step \(step)")
                #expect(table.isAbsent(peer.id) == (reach == .lost(peer.id, .absent)))
                #expect(table.routes(of: peer.id) == reference.routes(peer.id))
                if side == .device { #expect(connections[peer.id] == table.connection(of: peer.id)) }
                if case .reachable(_, let url) = reach {
                    #expect(table.isReachable(peer.id) && table.bestRoute(of: peer.id) == url)
                } else {
                    #expect(!table.isReachable(peer.id))
                }
            }
            if side == .desktop { #expect(connections[nil] ?? table.connection(of: nil) == table.connection(of: nil)) }
            let mayRest = restingRoutes(of: reference.peers) { id, url in
                reference.open[url] == .online && !reference.absent.contains([url, id.text])
            }
            #expect(resting == mayRest.subtracting(reference.held).intersection(open), "step \(step)")
        }
    }
}
