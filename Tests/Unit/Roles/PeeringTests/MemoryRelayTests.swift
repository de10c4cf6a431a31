import Identity
import JSON
import Signalling
import TestSupport
import Testing
import Transport
import Wire

@testable import Peering

/// Routes over relays in memory, which decide as real ones do.
@Suite(.timeLimit(.minutes(1))) struct MemoryRelayTests {
    @EventLoop
    private final class Role {
        let routes: Routes
        let id: PeerID
        let events = Mailbox<RouteEvent>()

        init(_ side: RouteTable.Side, at relays: MemoryRelays) throws {
            try Identity.start()
            let key = try SigningKey.generate()
            id = PeerID(key.did)
            let registration = SignallingFrame.Register(
                peerID: id, deviceType: side == .device ? .mobile : .desktop)
            routes = Routes(
                side, of: id, kinds: [.relays(relays.maker, registration: registration, provingWith: key)])
            routes.handler = { [events] event in events.put(event) }
        }

        func event(
            _ what: String, _ location: SourceLocation = #_sourceLocation,
            where isWanted: @escaping (RouteEvent) -> Bool
        ) async throws -> RouteEvent {
            try await events.take(what, location, where: isWanted)
        }

        func online(_ url: String, _ location: SourceLocation = #_sourceLocation) async throws {
            _ = try await event("a registration at \(url)", location) { $0 == .linkChanged(RouteID(url), .online) }
        }
    }

    private let one = "ws://one.test"
    private let two = "ws://two.test"
    private let first: RouteID = "ws://one.test"
    private let second: RouteID = "ws://two.test"

    init() throws { try EventLoop.start() }

    /// A device and its desktop, both at both relays.
    @EventLoop
    private func pair() async throws -> (relays: MemoryRelays, device: Role, desktop: Role) {
        let relays = MemoryRelays()
        _ = (relays.relay(one), relays.relay(two))
        let (device, desktop) = (try Role(.device, at: relays), try Role(.desktop, at: relays))
        device.routes.setPeers([RoutedPeer(desktop.id, over: [one, two])])
        desktop.routes.setPeers([RoutedPeer(device.id, over: [])])
        for role in [device, desktop] {
            role.routes.start(standing: role === desktop ? [one, two] : [])
            try await role.online(one)
            try await role.online(two)
        }
        return (relays, device, desktop)
    }

    @EventLoop
    private func ask(_ role: Role, of peer: Role, over route: RouteID) {
        #expect(role.routes.link(route)?.send(to: peer.id, payload: ["type": "x"], sealed: true) == .written)
    }

    @Test("a device on two relays: its desktop is absent only while both call it absent")
    @EventLoop func twoRelays() async throws {
        let (relays, device, desktop) = try await pair()
        let reached = try await device.event("a route") { $0 == .reachable(desktop.id, over: first) }
        #expect(reached == .reachable(desktop.id, over: first))
        #expect(device.routes.link(first)?.relay?.isProved == true)
        // Who has never answered is nobody's to watch.
        for route in [first, second] {
            ask(desktop, of: device, over: route)
            _ = try await device.event("a frame of the desktop") { event in
                if case .message(_, over: route) = event { true } else { false }
            }
        }

        relays.relay(one).bar(desktop.id)
        ask(device, of: desktop, over: first)
        _ = try await device.event("the other route") { $0 == .reachable(desktop.id, over: second) }
        #expect(device.routes.isReachable(desktop.id) && device.routes.bestRoute(of: desktop.id) == second)

        relays.relay(two).bar(desktop.id)
        ask(device, of: desktop, over: second)
        _ = try await device.event("no route") { $0 == .lost(desktop.id, .absent) }
        #expect(device.routes.isAbsent(desktop.id))

        // The relay tells those that it has exchanged frames with that it has come.
        relays.relay(one).admit(desktop.id)
        _ = try await device.event("the first route again") { $0 == .reachable(desktop.id, over: first) }
        #expect(device.routes.connection(of: desktop.id)["online"] == true)
        relays.relay(two).admit(desktop.id)
        _ = try await device.event("its coming at the second") { $0 == .peerOnline(desktop.id, over: second) }
        #expect(device.routes.bestRoute(of: desktop.id) == first)
    }

    @Test("a relay keeps sealed messages for a desktop that is away, and delivers them when it comes")
    @EventLoop func stored() async throws {
        let (relays, device, desktop) = try await pair()
        relays.relay(one).bar(desktop.id)
        ask(device, of: desktop, over: first)
        _ = try await device.event("that it is away") { $0 == .peerOffline(desktop.id, over: first) }
        relays.relay(one).admit(desktop.id)
        let event = try await desktop.event("the message") { if case .message = $0 { true } else { false } }
        guard case .message(let message, let route) = event else { return }
        #expect(message.from == device.id && message.delivery != .live && route == first && message.isSealed)
    }

    @Test("frames are lost, kept back and reordered as a test wants")
    @EventLoop func filter() async throws {
        let (relays, device, desktop) = try await pair()
        let relay = relays.relay(one)
        relay.filter = { frame in
            switch frame.json["payload"]?["number"] {
            case 1: .lose
            case 2, 3: .keepBack
            default: .pass
            }
        }
        for number in 1...4 {
            _ = device.routes.link(first)?.send(
                to: desktop.id, payload: ["number": .integer(Int64(number))], sealed: false)
        }
        func number() async throws -> Int64? {
            let event = try await desktop.event("a message") { if case .message = $0 { true } else { false } }
            if case .message(let message, _) = event { return message.payload["number"]?.integer }
            return nil
        }
        #expect(try await number() == 4)
        #expect(relay.keptBack.count == 2)
        relay.release(reversed: true)
        #expect(try await number() == 3)
        #expect(try await number() == 2)
    }

    @Test("a relay that dies is lost, and found again when it is back")
    @EventLoop func kill() async throws {
        let (relays, device, desktop) = try await pair()
        relays.relay(one).kill()
        relays.relay(two).kill()
        _ = try await device.event("no route") { $0 == .lost(desktop.id, .disconnected) }
        #expect(device.routes.isAnyOnline == false)
        relays.relay(two).revive()
        _ = try await device.event("a route") { $0 == .reachable(desktop.id, over: second) }
        device.routes.suspend()
        _ = try await device.event("sleep") { $0 == .linkChanged(second, .offline(.suspended)) }
        device.routes.resume()
        try await device.online(two)
        device.routes.stop()
        #expect(device.routes.opened.isEmpty && device.routes.link(second) == nil)
        desktop.routes.stop()
    }

    @Test("an address that is none is told, and one without a relay is tried again")
    @EventLoop func nowhere() async throws {
        let relays = MemoryRelays()
        let device = try Role(.device, at: relays)
        device.routes.hold(["http://no-relay", "ws://nobody.test"])
        _ = try await device.event("an invalid url") {
            if case .invalid("http://no-relay", _) = $0 { true } else { false }
        }
        guard case .invalid = device.routes.connect("http://no-relay") else {
            Issue.record("it is none")
            return
        }
        _ = try await device.event("a failure") {
            if case .linkChanged("ws://nobody.test", .offline) = $0 { true } else { false }
        }
        _ = relays.relay("ws://nobody.test")
        guard case .connecting = device.routes.connect("ws://nobody.test") else {
            Issue.record("it is not up yet")
            return
        }
        try await device.online("ws://nobody.test")
        guard case .online = device.routes.connect("ws://nobody.test") else {
            Issue.record("it is up")
            return
        }
    }

    @Test("a deployed peer speaks through a relay as over a socket")
    @EventLoop func peers() async throws {
        let relays = MemoryRelays()
        let device = try Role(.device, at: relays)
        let relay = relays.relay(one)
        let peer = relay.peer("desktop-1")
        _ = try await peer.frame { $0["type"] == "registered" }
        device.routes.setPeers([RoutedPeer(PeerID("desktop-1"), over: [one])])
        device.routes.start()
        try await device.online(one)
        peer.message(device.id.text, ["type": "hello"])
        let event = try await device.event("a message") { if case .message = $0 { true } else { false } }
        guard case .message(let message, _) = event else { return }
        #expect(message.from == PeerID("desktop-1") && message.payload == ["type": "hello"])
        relay.say(["type": "peer-offline", "peerId": "desktop-1"], to: device.id)
        _ = try await device.event("an absence") { $0 == .lost(PeerID("desktop-1"), .absent) }
        try await peer.settle()
        peer.close()
    }
}
