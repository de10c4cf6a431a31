import JSON
import NATS
import Testing

/// The machine with a clock of the tests'.
@Suite struct ConnectionTests {
    typealias Action = NATSConnectionStateMachine.Action

    static let info = "INFO {\"server_name\":\"n1\",\"version\":\"2.9.10\",\"headers\":true,\"max_payload\":100}\r\n"

    static func machine(_ servers: String...) throws -> NATSConnectionStateMachine {
        NATSConnectionStateMachine(.init(servers: try servers.map { url in try NATSServer(url) }, name: "relay-1"))
    }

    static func receive(
        _ text: String, _ machine: inout NATSConnectionStateMachine, at now: UInt64 = 0, random: UInt64 = 0
    ) -> [Action] {
        Array(text.utf8).withUnsafeBytes { machine.received($0, at: now, random: random) }
    }

    static func up(_ machine: inout NATSConnectionStateMachine, at now: UInt64 = 0, info: String = info) -> [Action] {
        _ = machine.start(at: now)
        _ = machine.connected(at: now)
        _ = receive(info, &machine, at: now)
        return receive("PONG\r\n", &machine, at: now)
    }

    static func sent(_ actions: [Action]) -> String {
        actions.map { if case .send(let bytes) = $0 { String(decoding: bytes, as: UTF8.self) } else { "" } }.joined()
    }

    static func isDown(_ actions: [Action], _ code: NATSError.Code) -> Bool {
        actions.contains { if case .down(let error) = $0 { error.code == code } else { false } }
    }

    @Test func itLogsInAndSubscribes() throws {
        var machine = try Self.machine("nats://ada:secret@h")
        let (id, early) = machine.subscribe("a.*", queue: "q")
        #expect(early.isEmpty && machine.deadline == nil)
        #expect(machine.start(at: 5) == [.dial(try NATSServer("nats://ada:secret@h"))])
        #expect(machine.start(at: 6).isEmpty)
        #expect(machine.connected(at: 7).isEmpty)
        let login = Self.sent(Self.receive(Self.info, &machine, at: 8))
        #expect(login.hasPrefix("CONNECT {") && login.hasSuffix("}\r\nPING\r\n"))
        for part in [#""user":"ada""#, #""pass":"secret""#, #""name":"relay-1""#, #""no_responders":true"#] {
            #expect(login.contains(part), "\(part)")
        }
        #expect(!machine.isUp && machine.maximumPayload == 0)
        let actions = Self.receive("PONG\r\n", &machine, at: 9)
        #expect(Self.sent(actions) == "SUB a.* q \(id)\r\n")
        guard case .up(let info, _)? = actions.last else {
            Issue.record("not up")
            return
        }
        #expect(info.name == "n1" && machine.isUp && machine.maximumPayload == 100)
        let delivered = Self.receive("MSG a.b \(id) 2\r\nhi\r\nMSG a.b 99 0\r\n\r\n", &machine)
        #expect(
            delivered == [.deliver(NATSMessage(subject: "a.b", payload: Array("hi".utf8)), subscription: id)],
            "what is not subscribed is ignored")
        #expect(Self.sent(machine.unsubscribe(id)) == "UNSUB \(id)\r\n" && machine.unsubscribe(id).isEmpty)
        #expect(Self.sent(Self.receive("PING\r\n", &machine)) == "PONG\r\n")
    }

    @Test func aFrozenServerIsNoticedWithinSixSeconds() throws {
        var machine = try Self.machine("nats://one", "nats://two")
        _ = Self.up(&machine, at: 1_000)
        #expect(machine.passed(at: 2_999, random: 0).isEmpty)
        #expect(Self.sent(machine.passed(at: 3_000, random: 0)) == "PING\r\n")
        _ = Self.receive("PONG\r\n", &machine, at: 3_001)
        #expect(Self.sent(machine.passed(at: 5_000, random: 0)) == "PING\r\n")
        #expect(Self.sent(machine.passed(at: 7_000, random: 0)) == "PING\r\n")
        let actions = machine.passed(at: 9_000, random: 0)
        #expect(actions.first == .disconnect && Self.isDown(actions, .unresponsive))
        #expect(actions.last == .dial(try NATSServer("nats://two")), "the next server at once")
    }

    @Test func pausesGrowWhenAllServersFail() throws {
        var machine = try Self.machine("nats://one", "nats://two")
        var now: UInt64 = 0
        _ = machine.start(at: now)
        var pauses: [UInt64] = []
        for attempt in 1...16 {
            let actions = machine.ended("refused", at: now, random: UInt64.max)
            #expect(Self.isDown(actions, .disconnected))
            guard attempt >= 2 else {
                #expect(actions.last == .dial(try NATSServer("nats://two")))
                continue
            }
            let deadline = try #require(machine.deadline)
            pauses.append(deadline - now)
            now = deadline
            #expect(machine.passed(at: now - 1, random: 0).isEmpty)
            #expect(machine.passed(at: now, random: 0).count == 1)
        }
        #expect(pauses.allSatisfy { (50...2_000).contains($0) } && pauses.last.map { $0 >= 1_000 } == true)
        #expect(machine.stop() == [.disconnect] && machine.stop().isEmpty && machine.deadline == nil)
        #expect(machine.ended("late", at: now, random: 0).isEmpty)
    }

    @Test func eachStepHasAnEnd() throws {
        for steps in 0...2 {
            var machine = try Self.machine("nats://one")
            _ = machine.start(at: 0)
            if steps > 0 { _ = machine.connected(at: 1) }
            if steps > 1 { _ = Self.receive(Self.info, &machine, at: 2) }
            #expect(machine.deadline == 5_000)
            #expect(Self.isDown(machine.passed(at: 5_000, random: 0), .unresponsive), "\(steps)")
        }
    }

    @Test func wrongCredentialsAreNamedAndMissingPermissionsDoNotEndIt() throws {
        var machine = try Self.machine("nats://one")
        _ = machine.start(at: 0)
        _ = machine.connected(at: 0)
        _ = Self.receive(Self.info, &machine)
        #expect(Self.isDown(Self.receive("-ERR 'Authorization Violation'\r\n", &machine), .unauthorized))
        var other = try Self.machine("nats://one")
        _ = Self.up(&other)
        let actions = Self.receive("-ERR 'Permissions Violation for Publish to \"a\"'\r\n", &other)
        guard case .report(let error)? = actions.first else {
            Issue.record("not reported")
            return
        }
        #expect(error.code == .forbidden && other.isUp)
        #expect(Self.isDown(Self.receive("-ERR 'Slow Consumer'\r\n", &other), .refused))
    }

    @Test func tlsComesBeforeTheLogin() throws {
        var machine = try Self.machine("tls://one")
        _ = machine.start(at: 0)
        _ = machine.connected(at: 0)
        let offered = Self.info.replacing("\"headers\"", with: "\"tls_available\":true,\"headers\"")
        #expect(Self.receive(offered, &machine) == [.startTLS])
        #expect(Self.sent(machine.secured(at: 1)).hasPrefix("CONNECT "))
        var refused = try Self.machine("tls://one")
        _ = refused.start(at: 0)
        _ = refused.connected(at: 0)
        #expect(Self.isDown(Self.receive(Self.info, &refused), .unsupported), "no login goes out in plain text")
    }

    @Test func serversOfTheClusterAreLearnedAndALeavingOneIsLeft() throws {
        var machine = try Self.machine("nats://ada:secret@one")
        let named = Self.info.replacing("{", with: #"{"connect_urls":["two:5","one:4222","bad url","[::1]:6"],"#)
        _ = Self.up(&machine, info: named)
        let leaving = Self.info.replacing("{", with: #"{"ldm":true,"#)
        let actions = Self.receive(leaving, &machine)
        #expect(actions.last == .dial(try NATSServer("nats://ada:secret@two:5")))
        _ = machine.ended("refused", at: 0, random: 0)
        #expect(machine.deadline == 5_000, "the third is dialled")
        _ = machine.ended("refused", at: 0, random: 0)
        #expect(machine.deadline.map { $0 <= 100 } == true, "there are three servers")
    }

    @Test func bytesOfNoConnectionMeanNothing() throws {
        var machine = try Self.machine("nats://one", "nats://two")
        #expect(Self.receive("nonsense\r\n", &machine).isEmpty && machine.deadline == nil)
        _ = Self.up(&machine)
        let actions = Self.receive("-ERR 'Slow Consumer'\r\n-ERR 'again'\r\nPING\r\n", &machine)
        #expect(actions.last == .dial(try NATSServer("nats://two")))
        #expect(actions.count == 3, "one failure")
        #expect(Self.receive("PING\r\n", &machine).isEmpty)
    }

    @Test func anOldServerAndNonsenseAreNamed() throws {
        for text in ["INFO {\"version\":\"1.4\"}\r\n", "HTTP/1.1 400 Bad Request\r\n"] {
            var machine = try Self.machine("nats://one")
            _ = machine.start(at: 0)
            _ = machine.connected(at: 0)
            let actions = Self.receive(text, &machine)
            #expect(Self.isDown(actions, .unsupported) || Self.isDown(actions, .protocolError))
        }
    }
}
