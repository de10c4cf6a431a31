import Identity
import JSON
import TestSupport
import Testing
import Transport
import Wire

@testable import Signalling

/// Connections at relays that behave as the deployed programs do.
@Suite(.serialized, .timeLimit(.minutes(1))) @EventLoop struct NodeRelayTests {
    private final class Events {
        var all: [LinkEvent] = []
    }

    private func connect(
        to relay: NodeRelay, _ events: Events
    ) throws -> (connection: RelayConnection, id: String) {
        try Identity.start()
        let key = try SigningKey.generate()
        let connection = RelayConnection(
            url: try WebSocketURL(relay.url),
            registration: SignallingFrame.Register(peerID: PeerID(key.did), deviceType: .mobile), provingWith: key
        ) { _, event in events.all.append(event) }
        return (connection, key.did)
    }

    private func probes(to id: String, at relay: NodeRelay) -> Int {
        relay.received.count { $0.frame["payload"]?["type"] == "bellwire:probe" && $0.frame["to"] == .string(id) }
    }

    @Test(
        "the end of an older connection makes us unreachable: the probe finds out, and one registration helps",
        arguments: [NodeRelay.Program.standAlone, .desktopApp])
    func olderConnectionEnds(at program: NodeRelay.Program) async throws {
        let relay = try NodeRelay(program)
        let events = Events()
        let (connection, id) = try connect(to: relay, events)
        // The connection before the change of networks. The relay closes it, and then forgets the id.
        let old = try await RawPeer.register(id, at: relay.url)
        connection.start()
        await eventually { connection.state.isOnline && !relay.isListed(id) }
        let desktop = try await RawPeer.register("pc-1", at: relay.url)
        desktop.message(id, ["type": "chainlesschain:event", "payload": ["title": "lost"]])
        _ = try await desktop.frame { $0["type"] == "peer-offline" }

        await eventually { relay.isListed(id) }
        #expect(connection.state.isOnline && relay.registrations(of: id) == 3)
        desktop.message(id, ["type": "chainlesschain:event", "payload": ["title": "heard"]])
        // The next probe comes back, and nobody registers again: this relay would close the connection.
        await eventually { probes(to: id, at: relay) == 2 && connection.state.isOnline }
        desktop.message(id, ["type": "chainlesschain:event", "payload": ["title": "after"]])
        await eventually { events.all.contains { $0.title == "after" } }
        #expect(relay.registrations(of: id) == 3)
        #expect(events.all.compactMap(\.title) == ["lost", "heard", "after"])
        let states: [LinkState] = events.all.compactMap {
            if case .stateChanged(let state) = $0 { state } else { nil }
        }
        #expect(states == [.connecting, .registering, .online], "the session goes on")
        #expect(events.all.contains(.absenceReporting(.reports)))
        connection.stop()
        old.close()
        desktop.close()
        relay.close()
    }

    @Test("a relay that reports nobody is known as silent after 2 s; its probes come back and are seen by nobody")
    func silentRelay() async throws {
        let relay = try NodeRelay(.publicRelay)
        let events = Events()
        let (connection, id) = try connect(to: relay, events)
        connection.start()
        await eventually { events.all.contains(.absenceReporting(.silent)) && probes(to: id, at: relay) == 1 }
        #expect(connection.absenceReporting == .silent)
        let sender = try await RawPeer.register("pc-1", at: relay.url)
        sender.send(
            text: #"{"type":"message","from":"pc-1","to":"\#(id)","payload":{"type":"x","payload":{"title":"live"}}}"#)
        await eventually { events.all.contains { $0.title == "live" } }
        let others = events.all.filter {
            switch $0 {
            case .stateChanged, .senderNaming: false
            default: true
            }
        }
        #expect(others.count == 2)
        #expect(events.all.contains(.senderNaming(.bySender)))
        #expect(relay.registrations(of: id) == 1)
        connection.stop()
        sender.close()
        relay.close()
    }

    @Test("a peer names itself until a relay is known to name senders, and where it is known not to")
    func namesItself() async throws {
        for program in [NodeRelay.Program.standAlone, .standAlone2, .desktopApp, .publicRelay] {
            let relay = try NodeRelay(program)
            try Identity.start()
            let key = try SigningKey.generate()
            // Once right after the registration, then once the relay is known.
            let connection = RelayConnection(
                url: try WebSocketURL(relay.url),
                registration: SignallingFrame.Register(peerID: PeerID(key.did), deviceType: .mobile),
                provingWith: key
            ) { connection, event in
                switch event {
                case .stateChanged(.online): _ = connection.send(to: "pc-1", payload: ["n": 1], sealed: true)
                case .senderNaming: _ = connection.send(to: "pc-1", payload: ["n": 2], sealed: true)
                default: break
                }
            }
            func sent(_ number: JSONValue) async -> JSONValue? {
                await eventually { relay.received.contains { $0.frame["payload"]?["n"] == number } }
                return relay.received.last { $0.frame["payload"]?["n"] == number }?.frame
            }
            connection.start()
            let named: JSONObject = [
                "type": "message", "to": "pc-1", "from": .string(key.did), "payload": ["n": 1], "sealed": true,
            ]
            #expect(await sent(1) == .object(named))
            var later = named
            later["payload"] = ["n": 2]
            let second = await sent(2)
            if connection.senderNaming == .byRelay { later["from"] = nil }
            #expect(second == .object(later))
            connection.stop()
            relay.close()
        }
    }

    @Test("version 0.2 gets no more frames than it takes, and no connection ends for sending too much")
    func limitedRelay() async throws {
        let relay = try NodeRelay(.standAlone2)
        let (connection, id) = try connect(to: relay, Events())
        connection.start()
        await eventually { connection.senderNaming == .byRelay }
        let results = (0..<500).map { connection.send(to: "pc-1", payload: ["n": .integer($0)], sealed: true) }
        let written = results.count(of: .written)
        #expect((50...61).contains(written) && results.count(of: .congested) == 500 - written)
        await eventually { relay.received.count { $0.frame["payload"]?["n"] != nil } == written }
        #expect(relay.overloads == 0 && relay.registrations(of: id) == 1 && connection.state.isOnline)
        connection.stop()
        relay.close()
    }

    @Test("where the relay asks for a proof, a message has no 'from', also right after the registration")
    func provedRelay() async throws {
        try Identity.start()
        let (relay, key) = (try StubRelay(.challenges), try SigningKey.generate())
        let connection = RelayConnection(
            url: try relay.url, registration: SignallingFrame.Register(peerID: PeerID(key.did), deviceType: .mobile),
            provingWith: key
        ) { connection, event in
            guard event == .stateChanged(.online) else { return }
            _ = connection.send(to: "pc-1", payload: ["n": 1], sealed: true)
        }
        connection.start()
        await eventually { relay.frames.count == 3 }
        #expect(relay.frames.last == .message(.init(to: "pc-1", payload: ["n": 1], isSealed: true)))
        #expect(connection.isProved)
        connection.stop()
        relay.shut()
    }

    @Test(
        "a relay that believes the sender's name is found out, also if it believes only who hasn't registered",
        arguments: [
            (NodeRelay.Program.standAlone, SenderNaming.byRelay), (.standAlone2, .byRelay), (.desktopApp, .bySender),
            (.publicRelay, .bySender),
        ])
    func senders(at program: NodeRelay.Program, are naming: SenderNaming) async throws {
        let relay = try NodeRelay(program)
        let events = Events()
        let (connection, id) = try connect(to: relay, events)
        #expect(connection.senderNaming == .unknown)
        connection.start()
        await eventually { connection.senderNaming != .unknown }
        #expect(connection.senderNaming == naming)
        await eventually { relay.connections == 1 }
        let sent = relay.received.filter { $0.frame["payload"]?["type"] == "bellwire:sender-probe" }
        // The public relay has shown itself with the first one.
        #expect(sent.map(\.from) == (program == .publicRelay ? [id] : [id, nil]))
        #expect(sent.allSatisfy { $0.frame["to"] == .string(id) && $0.frame["from"] != .string(id) })
        // What was found out holds for the next registration.
        connection.reconnectNow()
        await eventually { connection.state.isOnline && relay.registrations(of: id) >= 2 }
        #expect(connection.senderNaming == naming)
        #expect(events.all.contains(.senderNaming(naming)) && !events.all.contains { $0.isMessage })
        connection.stop()
        relay.close()
    }
}

extension [SendResult] {
    fileprivate func count(of result: SendResult) -> Int { count { $0 == result } }
}

extension LinkEvent {
    fileprivate var isMessage: Bool { if case .message = self { true } else { false } }

    fileprivate var title: JSONValue? {
        guard case .message(let message) = self else { return nil }
        return message.payload["payload"]?["title"]
    }
}
