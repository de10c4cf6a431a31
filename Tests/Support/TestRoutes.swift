import JSON
package import Peering
import Signalling
package import Transport
import Wire

/// Routes that are no relays, in memory: whatever is sent arrives at the peer's end at once, or not at all.
///
/// Nothing registers, nobody reports that a peer is absent, and nothing is kept for a peer that is away.
///
/// ```swift
/// let routes = TestRoutes()
/// let desktop = try Desktop.open(options, channel, links: noRelays, kinds: [routes.meetings("ws://here.test")])
/// ```
@EventLoop
package final class TestRoutes {
    /// How many payloads have arrived.
    package private(set) var carried = 0
    private var isUp = true
    private var ends: [WeakEnd] = []

    private struct WeakEnd {
        weak var end: TestRouteEnd?
    }

    package nonisolated init() {}

    /// Peers that have this address, in a code or in their options, reach each other there.
    package nonisolated func meetings(_ address: String) -> RouteKind {
        RouteKind(rank: 0) {
            $0 == address
        } make: { [self] (address, own, handler) in
            join(TestRouteEnd(own, at: address, of: self, handler))
        }
    }

    /// Every paired peer is reached directly, rather than over anything else.
    package nonisolated func direct() -> RouteKind {
        RouteKind(rank: 1) {
            $0.hasPrefix("direct:")
        } reaches: {
            ["direct:\($0.text)"]
        } make: { [self] (address, own, handler) in
            let ends = [own.text, String(address.dropFirst("direct:".count))].sorted().joined(separator: " ")
            return join(TestRouteEnd(own, at: ends, isDirect: true, of: self, handler))
        }
    }

    /// Ends every connection. `false` = they come back.
    package func cut(_ isCut: Bool) {
        isUp = !isCut
        settle()
    }

    private func join(_ end: TestRouteEnd) -> TestRouteEnd {
        ends.removeAll { $0.end == nil }
        ends.append(WeakEnd(end: end))
        return end
    }

    /// Each end is told, in a later turn of the loop, whether it is up.
    func settle() {
        EventLoop.post { [self] in
            for end in ends.compactMap(\.end) {
                let hasPeer = !end.isDirect || ends.contains { $0.end?.meets(end) == true }
                end.isNow(up: isUp && hasPeer)
            }
        }
    }

    /// It arrives in a later turn of the loop, even if its sender has closed this end by then.
    func carry(_ payload: JSONValue, from end: TestRouteEnd, to peer: PeerID) {
        guard let target = ends.compactMap(\.end).first(where: { $0.own == peer && $0.meets(end) }) else { return }
        let text = payload.serialized()
        EventLoop.post { [self, from = end.own] in
            guard let payload = try? JSONValue(parsing: text), target.receives(payload, from: from) else { return }
            carried += 1
        }
    }
}

/// One end of a route.
@EventLoop
final class TestRouteEnd: RouteLink {
    let own: PeerID
    let isDirect: Bool
    private(set) var state = LinkState.offline(.stopped)
    let relay: RelayFacts? = nil
    private let place: String
    private let routes: TestRoutes
    private let handler: RouteLinkHandler
    private var isStarted = false
    private var isSuspended = false

    init(
        _ own: PeerID, at place: String, isDirect: Bool = false, of routes: TestRoutes,
        _ handler: @escaping RouteLinkHandler
    ) {
        (self.own, self.place, self.isDirect, self.routes, self.handler) = (own, place, isDirect, routes, handler)
    }

    private var isOpen: Bool { isStarted && !isSuspended }

    /// Whether what is sent at one end arrives at the other.
    func meets(_ other: TestRouteEnd) -> Bool { self !== other && place == other.place && isOpen && other.isOpen }

    func start() { open { isStarted = true } }
    func stop() { open { isStarted = false } }
    func suspend() { open { isSuspended = true } }
    func resume() { open { isSuspended = false } }
    func rest(_ isResting: Bool) {}
    func reconnectNow() {}

    func send(to peer: PeerID, payload: JSONValue, sealed: Bool) -> SendResult {
        guard state.isOnline else { return .offline }
        routes.carry(payload, from: self, to: peer)
        return .written
    }

    private func open(_ change: () -> Void) {
        change()
        if !isOpen { become(.offline(isStarted ? .suspended : .stopped)) }
        routes.settle()
    }

    func isNow(up isUp: Bool) {
        guard isOpen else { return }
        become(isUp ? .online : .connecting)
    }

    /// `false` = it is down by now.
    func receives(_ payload: JSONValue, from peer: PeerID) -> Bool {
        guard state.isOnline else { return false }
        handler(self, .message(PeerMessage(from: peer, payload: payload, timestamp: nil, delivery: .live)))
        return true
    }

    private func become(_ new: LinkState) {
        guard new != state else { return }
        state = new
        handler(self, .stateChanged(new))
    }
}
