import Foundation
import TestSupport
import Testing
import Transport

@testable import SystemServices

@Suite("Bus")
@EventLoop
struct BusTests {
    static let name = "org.example.Service"
    static let path = "/org/example/service"
    static let interface = "org.example.Interface"

    /// Calls, and waits for the answer.
    func answer(
        of bus: Bus, _ member: String, _ arguments: [BusValue] = [], within limit: UInt64 = 10_000
    ) async -> Result<[BusValue], BusError> {
        await withCheckedContinuation { done in
            bus.call(BusCall(Self.name, Self.path, Self.interface, member, arguments), within: limit) {
                done.resume(returning: $0)
            }
        }
    }

    struct Client {
        let bus: Bus
        let service: BusService
        let events: Mailbox<BusService.Event>
    }

    /// A bus that is connected, with the events of a service on it.
    func connected(
        _ address: BusAddress, to name: String = BusTests.name, takesDescriptors: Bool = false
    ) -> Client {
        let bus = Bus(address, takesDescriptors: takesDescriptors)
        let events = Mailbox<BusService.Event>()
        let service = BusService(name, on: bus, signalsOf: [Self.interface]) { events.put($0) }
        service.start()
        bus.open()
        return Client(bus: bus, service: service, events: events)
    }

    @Test("Values of every type go to a service and come back as they were")
    func values() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon, owning: Self.name)
        let client = connected(daemon.address)
        #expect(try await client.events.next() == .appeared)
        #expect(client.service.isPresent)
        try await services.override(
            "\(Self.interface).All",
            #""signature":"ybnqiuxtdsogaya{ss}(is)ao","args":[7,true,-2,3,-4,5,-6,8,0.5,"é","/a","ai","\u0001\u0002",{"k":"v"},[1,"x"],["/o"]]"#
        )
        let arguments: [BusValue] = [
            .byte(1), .bool(true), .int16(-1), .uint16(1), .int32(-1), .uint32(1), .int64(-1), .uint64(1),
            .double(1.5), .text("ü"), .path("/p"), .signature("s"), .bytes([1, 2]), .texts(["a": "b"]),
            .structure([.int32(1), .text("x")]), .variant(.text("v")), .array([], of: "s"),
        ]
        let values = try await answer(of: client.bus, "All", arguments).get()
        #expect(
            values == [
                .byte(7), .bool(true), .int16(-2), .uint16(3), .int32(-4), .uint32(5), .int64(-6), .uint64(8),
                .double(0.5), .text("é"), .path("/a"), .signature("ai"), .bytes([1, 2]), .texts(["k": "v"]),
                .structure([.int32(1), .text("x")]), .array([.path("/o")], of: "o"),
            ])
        let seen = try await services.call(of: "\(Self.interface).All")
        let text = try #require(String(data: JSONSerialization.data(withJSONObject: seen), encoding: .utf8))
        #expect(text.contains("ü") && text.contains("\"a\":\"b\"") && text.contains("\"v\""))
        client.bus.close()
    }

    @Test("An error, no answer, and a service that is not there are told apart")
    func failures() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon, owning: Self.name)
        let client = connected(daemon.address)
        #expect(try await client.events.next() == .appeared)
        try await services.override("\(Self.interface).Bad", #""error":"org.example.Error.No""#)
        try await services.override("\(Self.interface).Mute", #""silent":true"#)
        let refused = await answer(of: client.bus, "Bad").error
        #expect(refused?.code == .refused && refused?.remoteName == "org.example.Error.No")
        #expect(refused?.message.contains("own") == false, "a service's text is in the message")
        #expect(await answer(of: client.bus, "Mute", within: 100).error?.code == .timeout)
        #expect(await answer(of: client.bus, "Text", [.text("a\0b")]).error?.code == .invalid)
        #expect(await answer(of: client.bus, "Path", [.path("no path")]).error?.code == .invalid)
        try await services.release(Self.name)
        #expect(try await client.events.next() == .gone(BusError(.absent, "\(Self.name) is not on the bus")))
        #expect(await answer(of: client.bus, "Bad").error?.code == .absent)
        client.bus.close()
        #expect(await answer(of: client.bus, "Bad").error?.code == .closed)
    }

    @Test("A reply that is huge, deep or of endless values is refused, and the bus goes on")
    func hugeReplies() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon, owning: Self.name)
        let client = connected(daemon.address)
        #expect(try await client.events.next() == .appeared)
        for answer in [
            #""signature":"s","args":["0123456789abcdef"],"repeat":1000000"#,
            #""signature":"ay","args":["0123456789abcdef"],"repeat":1000000"#,
            #""signature":"as","args":[["x"]],"repeat":100000"#,
            #""signature":"aaaaaaaaaai","args":[[[[[[[[[[[1]]]]]]]]]]]"#,
        ] {
            try await services.override("\(Self.interface).Huge", answer)
            #expect(await self.answer(of: client.bus, "Huge").error?.code == .tooLarge)
        }
        try await services.override("\(Self.interface).Small", #""signature":"s","args":["fine"]"#)
        #expect(try await answer(of: client.bus, "Small").get() == [.text("fine")])
        client.bus.close()
    }

    @Test("Signals come from the owner of the name only, also where another sends them straight to us")
    func signals() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon, owning: Self.name)
        let stranger = try await Services(on: daemon)
        let client = connected(daemon.address)
        #expect(try await client.events.next() == .appeared)
        let us = try #require(client.bus.name)
        try await stranger.signal(
            Self.path, Self.interface, "Changed", #""signature":"s","args":["forged"],"destination":"\#(us)""#)
        // The driver's signals cannot be forged either: the bus writes the sender.
        try await stranger.signal(
            "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
            #""signature":"sss","args":["\#(Self.name)","","\#(stranger.uniqueName)"],"destination":"\#(us)""#)
        try await services.signal(Self.path, Self.interface, "Changed", #""signature":"s","args":["true"]"#)
        #expect(
            try await client.events.next()
                == .signal(
                    BusService.Signal(
                        path: Self.path, interface: Self.interface, member: "Changed", values: [.text("true")])))
        client.bus.close()
    }

    @Test("What comes is for every service that listens, also those of another name")
    func manyServices() async throws {
        let daemon = try await PrivateBus()
        let client = connected(daemon.address)
        _ = try await client.events.next { if case .gone = $0 { true } else { false } }
        let twin = Mailbox<BusService.Event>()
        let second = BusService(Self.name, on: client.bus, signalsOf: [Self.interface]) { twin.put($0) }
        second.start()
        let other = Mailbox<BusService.Event>()
        let third = BusService("org.example.Other", on: client.bus, signalsOf: []) { other.put($0) }
        third.start()
        _ = try await other.next { if case .gone = $0 { true } else { false } }
        let services = try await Services(on: daemon, owning: Self.name)
        try await services.own("org.example.Other")
        try await services.signal(Self.path, Self.interface, "Changed", #""signature":"s","args":["both"]"#)
        let signal = BusService.Event.signal(
            BusService.Signal(path: Self.path, interface: Self.interface, member: "Changed", values: [.text("both")]))
        for events in [client.events, twin] {
            _ = try await events.next { $0 == .appeared }
            #expect(try await events.next() == signal)
        }
        _ = try await other.next { $0 == .appeared }
        client.bus.close()
        withExtendedLifetime((second, third)) {}
    }

    @Test("A flood of signals and unreadable ones are survived, and counted")
    func flood() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon, owning: Self.name)
        let client = connected(daemon.address)
        #expect(try await client.events.next() == .appeared)
        try await services.signal(
            Self.path, Self.interface, "Deep", #""signature":"aaaaaaaaaai","args":[[[[[[[[[[[1]]]]]]]]]]]"#)
        try await services.signal(
            Self.path, Self.interface, "Changed", #""signature":"i","args":[1],"repeat":5000"#)
        for _ in 0..<5_000 {
            guard case .signal(let signal) = try await client.events.next() else {
                throw BusError(.malformed, "no signal")
            }
            #expect(signal.member == "Changed")
        }
        #expect(client.bus.malformedMessages == 1)
        client.bus.close()
    }

    @Test("A service that crashes and comes back is told, and so are calls that it owed an answer")
    func serviceRestart() async throws {
        let daemon = try await PrivateBus()
        let first = try await Services(on: daemon, owning: Self.name)
        let client = connected(daemon.address)
        #expect(try await client.events.next() == .appeared)
        try await first.override("\(Self.interface).Mute", #""silent":true"#)
        let owed = Mailbox<Result<[BusValue], BusError>>()
        client.service.call(Self.path, Self.interface, "Mute") { owed.put($0) }
        try await first.call(of: "\(Self.interface).Mute")
        first.crash()
        #expect(try await owed.next().error?.code == .timeout)
        #expect(try await client.events.next() == .gone(BusError(.absent, "\(Self.name) is not on the bus")))
        let second = try await Services(on: daemon, owning: Self.name)
        #expect(try await client.events.next() == .appeared)
        try await second.override("\(Self.interface).Here", #""signature":"s","args":["again"]"#)
        #expect(try await answer(of: client.bus, "Here").get() == [.text("again")])
        client.bus.close()
    }

    @Test("A bus that goes away fails what is under way, and is connected to again when it is back")
    func busRestart() async throws {
        let daemon = try await PrivateBus()
        var services = try await Services(on: daemon, owning: Self.name)
        let client = connected(daemon.address)
        #expect(try await client.events.next() == .appeared)
        try await services.override("\(Self.interface).Mute", #""silent":true"#)
        let owed = Mailbox<Result<[BusValue], BusError>>()
        client.service.call(Self.path, Self.interface, "Mute") { owed.put($0) }
        try await services.call(of: "\(Self.interface).Mute")
        daemon.stop()
        #expect(try await owed.next().error?.code == .disconnected)
        // The daemon may end the service's connection before ours.
        _ = try await client.events.next {
            if case .gone(let error) = $0 { error.code == .disconnected } else { false }
        }
        #expect(client.bus.problem?.code == .disconnected && client.bus.name == nil)
        try await daemon.start()
        services = try await Services(on: daemon, owning: Self.name)
        _ = try await client.events.next(within: 20_000) { $0 == .appeared }
        #expect(client.bus.problem == nil)
        client.bus.close()
    }

    @Test("No bus, no address and no libsystemd are errors with a name; nothing waits for them")
    func absence() async throws {
        let cases: [(Bus, BusError.Code)] = [
            (Bus(BusAddress("unix:path=/nonexistent/bus")), .disconnected),
            (Bus(BusAddress("tcp:host=localhost,port=1")), .noAddress),
            (Bus(BusAddress("unixexec:path=/bin/true")), .noAddress),
            (Bus(BusAddress("")), .noAddress),
            (
                Bus(BusAddress("unix:path=/nonexistent/bus"), library: SystemdLibrary(named: "libno-such-thing.so.0")),
                .unavailable
            ),
            (Bus(BusAddress("unix:path=/nonexistent/bus"), library: SystemdLibrary(named: "libc.so.6")), .unavailable),
        ]
        for (bus, code) in cases {
            let events = Mailbox<BusService.Event>()
            let service = BusService(Self.name, on: bus, signalsOf: []) { events.put($0) }
            service.start()
            bus.open()
            guard case .gone(let error) = try await events.next() else { throw BusError(.malformed, "not gone") }
            #expect(error.code == code)
            #expect(bus.problem?.code == code)
            #expect(await answer(of: bus, "Any").error?.code == code)
            bus.close()
        }
    }

    @Test("Where there is no bus, libsystemd is not loaded; where there may be one, it is when that is connected to")
    func loadedWhenWanted() async throws {
        let library = SystemdLibrary(named: "libsystemd.so.0")
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("bellwire-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let socket = "\(directory.path)/bus"
        let absent = BusAddress.system(sockets: [socket, socket + "2"])
        #expect(absent.problem?.code == .noAddress)
        #expect(absent.problem?.message.contains(socket) == true)
        for address in [absent, BusAddress(""), BusAddress("tcp:host=localhost,port=1")] {
            let bus = Bus(address, library: library)
            bus.open()
            #expect(await answer(of: bus, "Any").error?.code == .noAddress)
            bus.close()
            let service = SecretService(address, within: 300, library: library)
            _ = await Waiting.error { try service.lookUp(SecretAttributes(role: "key", stateDirectory: "/s")) }
        }
        #expect(!library.isAsked)
        #expect(FileManager.default.createFile(atPath: socket + "2", contents: nil))
        #expect(BusAddress.system(sockets: [socket, socket + "2"]).problem == nil)
        let bus = Bus(BusAddress.system(sockets: [socket, socket + "2"]), library: library)
        bus.open()
        #expect(library.isAsked)
        bus.close()
    }

    @Test("Whoever listens to a bus, and never speaks, does not hold the loop")
    func muteBus() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("bellwire-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = "\(directory.path)/bus"
        let listener = try MuteListener(path)
        let bus = Bus(BusAddress("unix:path=\(path)"))
        bus.open()
        #expect(await answer(of: bus, "Any").error?.code == .disconnected)
        let service = SecretService(BusAddress("unix:path=\(path)"), within: 300)
        let begin = BusConnection.microseconds
        let error = await Waiting.error { try service.lookUp(SecretAttributes(role: "key", stateDirectory: "/s")) }
        #expect(error?.code == .timeout)
        #expect(BusConnection.microseconds - begin < 3_000_000)
        bus.close()
        withExtendedLifetime(listener) {}
    }

    @Test("A bus that hangs up raises no SIGPIPE, neither on the loop nor on a thread of the host's")
    func hangUp() async throws {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("bellwire-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        let path = "\(directory.path)/bus"
        let listener = try MuteListener(path)
        listener.hangUp()
        var action = sigaction()
        sigaction(SIGPIPE, nil, &action)
        #expect(action.__sigaction_handler.sa_handler == nil, "a signal that is ignored would prove nothing")
        for _ in 0..<20 {
            let bus = Bus(BusAddress("unix:path=\(path)"))
            let events = Mailbox<BusService.Event>()
            let service = BusService(Self.name, on: bus, signalsOf: []) { events.put($0) }
            service.start()
            bus.open()
            _ = try await events.next { if case .gone(let error) = $0 { error.code == .disconnected } else { false } }
            bus.close()
            let secrets = SecretService(BusAddress("unix:path=\(path)"))
            let error = await Waiting.error { try secrets.lookUp(SecretAttributes(role: "key", stateDirectory: "/s")) }
            #expect(error?.code == .unavailable)
        }
    }

    @Test("Opening and closing again and again leaves no descriptor open")
    func descriptors() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon, owning: Self.name)
        let open = { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
        var before = 0
        for round in 0..<20 {
            let client = connected(daemon.address)
            #expect(try await client.events.next() == .appeared)
            client.service.stop()
            client.bus.close()
            client.bus.close()
            // libuv lets go of a handle at the end of its turn.
            await withCheckedContinuation { done in EventLoop.post { EventLoop.post { done.resume() } } }
            if round == 3 { before = try open() }
        }
        #expect(try open() <= before + 2)
        withExtendedLifetime(services) {}
    }

    @Test("Calls by others are answered: we offer nothing")
    func callsOfOthers() async throws {
        let daemon = try await PrivateBus()
        let client = connected(daemon.address)
        guard case .gone = try await client.events.next() else { throw BusError(.malformed, "not gone") }
        let us = try #require(client.bus.name)
        let other = Bus(daemon.address)
        let told = Mailbox<BusService.Event>()
        let service = BusService(Self.name, on: other, signalsOf: []) { told.put($0) }
        service.start()
        other.open()
        guard case .gone = try await told.next() else { throw BusError(.malformed, "not gone") }
        let answers = Mailbox<Result<[BusValue], BusError>>()
        other.call(BusCall(us, "/", Self.interface, "Anything")) { answers.put($0) }
        #expect(try await answers.next().error?.remoteName == "org.freedesktop.DBus.Error.NotSupported")
        other.call(BusCall(us, "/", "org.freedesktop.DBus.Peer", "Ping")) { answers.put($0) }
        #expect(try await answers.next().get() == [])
        other.close()
        client.bus.close()
    }
}

extension Result where Failure == BusError {
    var error: BusError? {
        if case .failure(let error) = self { error } else { nil }
    }
}
