import JSON
import Testing
import Transport
import Wire

@testable import Signalling

@Suite(.serialized) @EventLoop struct RelayConnectionTests {
    @Test("it registers its id and tells each state; stop and start are idempotent")
    func registers() async throws {
        let relay = try StubRelay()
        let peer = Watched(try relay.url)
        #expect(peer.connection.send(to: "pc", payload: [:]) == .offline)
        peer.connection.start()
        peer.connection.start()
        await eventually { peer.connection.state.isOnline }
        #expect(peer.states == [.connecting, .registering, .online])
        #expect(
            relay.registrations
                == [.init(peerID: "did:key:zMe", deviceType: .mobile, deviceInfo: ["name": "test"])])
        peer.connection.stop()
        peer.connection.stop()
        #expect(peer.connection.state == .offline(.stopped))
        #expect(peer.states.count == 4)
        await eventually { relay.sockets.isEmpty }
        #expect(peer.connection.send(to: "pc", payload: [:]) == .offline)
        peer.connection.start()
        await eventually { peer.connection.state.isOnline }
        peer.connection.stop()
        relay.shut()
    }

    @Test("what it sends arrives literally; a frame that a peer would not take is refused")
    func sends() async throws {
        let relay = try StubRelay()
        let peer = Watched(try relay.url)
        peer.connection.start()
        await eventually { peer.connection.state.isOnline }
        #expect(peer.connection.send(to: "pc", payload: ["type": "pair-ack"]) == .written)
        #expect(peer.connection.send(to: "pc", payload: "text") == .written)
        let routed = SignallingFrame.Routed(kind: .pairingReject, to: "pc", members: ["pairingCode": "000000"])
        #expect(peer.connection.send(routed: routed) == .written)
        let long = JSONValue.string(String(repeating: "x", count: (1 << 20) - 1_024))
        #expect(peer.connection.send(to: "pc", payload: long) == .tooLarge)
        await eventually { relay.frames.count == 4 }
        #expect(
            Array(relay.frames.dropFirst())
                == [
                    .message(.init(to: "pc", payload: ["type": "pair-ack"])),
                    .message(.init(to: "pc", payload: "text")), .routed(routed),
                ])
        peer.connection.stop()
        relay.shut()
    }

    @Test("messages come to the handler, stored ones with their time, bad ones as malformed; the session goes on")
    func receives() async throws {
        let relay = try StubRelay()
        let peer = Watched(try relay.url)
        peer.connection.start()
        await eventually { peer.connection.state.isOnline }
        relay.say(.message(.init(from: "pc", payload: ["n": 1], timestamp: 5)))
        relay.say("no json")
        relay.say("[1]")
        relay.say(
            .offlineMessage(
                .init(original: .message(.init(to: "did:key:zMe", from: "pc", payload: "p")), storedAt: 77)))
        relay.say(.routed(.init(kind: .pairingConfirmation, from: "pc", members: ["pairingCode": "000000"])))
        relay.say(.peerOffline(.init(peerID: "pc")))
        relay.say(.error("slow down"))
        relay.say(.ping)
        await eventually { relay.frames.count == 2 }
        guard case .pong(let timestamp?) = relay.frames.last else {
            Issue.record("no pong")
            return
        }
        #expect(timestamp > 1_700_000_000_000)
        #expect(
            peer.messages == [
                .init(from: "pc", payload: ["n": 1], timestamp: 5, delivery: .live),
                .init(from: "pc", payload: "p", timestamp: nil, delivery: .stored(at: 77)),
            ])
        let malformed = peer.events.filter { if case .malformed = $0 { true } else { false } }
        #expect(malformed.count == 2)
        #expect(peer.events.contains(.peerOffline("pc")))
        #expect(peer.events.contains(.refused("slow down")))
        #expect(peer.connection.state.isOnline)
        peer.connection.stop()
        relay.shut()
    }

    @Test("a dropped connection comes back by itself and registers its own id, whatever it had sent")
    func reconnects() async throws {
        let relay = try StubRelay()
        let peer = Watched(try relay.url)
        peer.connection.start()
        await eventually { peer.connection.state.isOnline }
        for round in 1...3 {
            _ = peer.connection.send(to: "pc-1", payload: ["round": .integer(Int64(round))])
            await eventually { relay.frames.count == round * 2 }
            relay.dropAll()
            await eventually { relay.registrations.count == round + 1 && peer.connection.state.isOnline }
        }
        #expect(Set(relay.registrations.map(\.peerID)) == ["did:key:zMe"])
        peer.connection.stop()
        relay.shut()
    }

    @Test("a relay that is not there is tried again until it is")
    func comesUpLater() async throws {
        let first = try StubRelay()
        let url = try first.url
        let port = first.port
        first.shut()
        let peer = Watched(url)
        peer.connection.start()
        await eventually { peer.states.filter { $0 == .connecting }.count >= 2 }
        guard case .offline(let reason) = peer.states.dropFirst().first else {
            Issue.record("not offline after a failed connect")
            return
        }
        #expect(reason.code.name == "connect_failed")
        let relay = try StubRelay(port: port)
        peer.connection.reconnectNow()
        await eventually { peer.connection.state.isOnline }
        peer.connection.stop()
        relay.shut()
    }

    @Test("server-shutdown: it leaves at once, and comes back")
    func serverShutdown() async throws {
        let relay = try StubRelay()
        let peer = Watched(try relay.url)
        peer.connection.start()
        await eventually { peer.connection.state.isOnline }
        relay.say(.serverShutdown)
        await eventually { !peer.connection.state.isOnline }
        guard case .offline(let reason) = peer.connection.state else {
            Issue.record("not offline")
            return
        }
        #expect(reason.code == .serverShutdown)
        await eventually { peer.connection.state.isOnline }
        #expect(relay.registrations.count == 2)
        peer.connection.stop()
        relay.shut()
    }

    @Test("a refused registration is told with the relay's words, and tried again")
    func refused() async throws {
        let relay = try StubRelay(.refuses)
        let peer = Watched(try relay.url)
        peer.connection.start()
        await eventually { relay.registrations.count >= 2 }
        let reasons = peer.states.compactMap { state -> OfflineReason? in
            if case .offline(let reason) = state { reason } else { nil }
        }
        #expect(reasons.first?.code == .registrationRefused)
        #expect(reasons.first?.message.contains("not you") == true)
        relay.manner = .registers
        await eventually { peer.connection.state.isOnline }
        peer.connection.stop()
        relay.shut()
    }

    @Test("reconnectNow replaces a connection that stands; what the old one says afterwards is not heard")
    func replaces() async throws {
        let relay = try StubRelay()
        let peer = Watched(try relay.url)
        peer.connection.start()
        await eventually { peer.connection.state.isOnline }
        peer.connection.reconnectNow()
        #expect(peer.connection.state == .connecting)
        await eventually { relay.registrations.count == 2 && peer.connection.state.isOnline }
        #expect(peer.states.suffix(3) == [.connecting, .registering, .online])
        await eventually { relay.sockets.count == 1 }
        peer.connection.stop()
        relay.shut()
    }

    @Test("the handler may stop the connection from inside an event")
    func stopsInside() async throws {
        let relay = try StubRelay()
        var states: [LinkState] = []
        let connection = RelayConnection(url: try relay.url, registration: .init(peerID: "d")) { connection, event in
            guard case .stateChanged(let state) = event else { return }
            states.append(state)
            if state == .registering { connection.stop() }
        }
        connection.start()
        await eventually { states.count == 3 }
        #expect(states == [.connecting, .registering, .offline(.stopped)])
        await eventually { relay.sockets.isEmpty }
        relay.shut()
    }

    @Test("letting go of a connection ends it")
    func letGo() async throws {
        let relay = try StubRelay()
        var peer: Watched? = Watched(try relay.url)
        peer?.connection.start()
        await eventually { relay.registrations.count == 1 && relay.sockets.count == 1 }
        peer = nil
        _ = peer
        await eventually { relay.sockets.isEmpty }
        relay.shut()
    }
}
