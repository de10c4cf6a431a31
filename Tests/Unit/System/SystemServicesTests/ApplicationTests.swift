import Foundation
import TestSupport
import Testing
import Transport

@testable import SystemServices

@Suite("The program's own name on the bus, and banners that come back to it")
@EventLoop
struct ApplicationTests {
    static let id = "org.example.My-App"
    static let path = "/org/example/My_App"
    static let application = "org.freedesktop.Application"
    let banner = Banner(id: "did:key:a/1", title: "T", tapTitle: "Open", actions: [Banner.Action(id: "A", title: "Do")])

    /// Another program on the bus, GNOME Shell for one, that is connected.
    func stranger(on daemon: PrivateBus, watching name: String = ApplicationTests.id) async throws -> (
        bus: Bus, service: BusService, events: Mailbox<BusService.Event>
    ) {
        let bus = Bus(daemon.address)
        let events = Mailbox<BusService.Event>()
        let service = BusService(name, on: bus, signalsOf: ["com.canonical.Unity.LauncherEntry"]) { events.put($0) }
        service.start()
        bus.open()
        return (bus, service, events)
    }

    func call(
        _ bus: Bus, _ interface: String, _ member: String, _ arguments: [BusValue],
        path: String = ApplicationTests.path,
        to name: String = ApplicationTests.id, startsService: Bool = false
    ) async -> Result<[BusValue], BusError> {
        await withCheckedContinuation { done in
            bus.call(BusCall(name, path, interface, member, arguments, startsService: startsService)) {
                done.resume(returning: $0)
            }
        }
    }

    static let platform = BusValue.array([.entry(.text("desktop-startup-id"), .variant(.text("x")))], of: "{sv}")

    func target(_ id: String, _ action: String) -> BusValue {
        .array([.variant(.structure([.text(PercentEncoding.encode(id)), .text(action)]))], of: "v")
    }

    @Test("It answers as programs do that a desktop starts; what it does not know is an error with a name")
    func answers() async throws {
        let daemon = try await PrivateBus()
        let showing = Showing(daemon.address, id: Self.id)
        let other = try await stranger(on: daemon)
        _ = try await other.events.next { $0 == .appeared }
        #expect(try await call(other.bus, Self.application, "Activate", [Self.platform]).get() == [])
        let properties = await call(
            other.bus, "org.freedesktop.DBus.Properties", "GetAll", [.text(Self.application)])
        #expect(try properties.get() == [.array([], of: "{sv}")])
        let described = try await call(other.bus, "org.freedesktop.DBus.Introspectable", "Introspect", []).get()
        guard case .text(let xml)? = described.first else { throw BusError(.malformed, "no text") }
        #expect(xml.contains("ActivateAction") && xml.hasSuffix("</node>"))
        // An action of ours, for a banner of an earlier run, say.
        let tap = target("did:key:a/1\n", "default")
        #expect(
            try await call(
                other.bus, Self.application, "ActivateAction", [.text("bellwire-default"), tap, Self.platform]
            )
            .get() == [])
        #expect(
            try await showing.events.next(where: { if case .activated = $0 { true } else { false } })
                == .activated(id: "did:key:a/1\n", action: "default", text: nil))
        let errors: [(String, String, [BusValue], String, String)] = [
            (
                Self.application, "Open", [.array([.text("file:///x")], of: "s"), Self.platform], Self.path,
                "NotSupported"
            ),
            (Self.application, "Quit", [], Self.path, "UnknownMethod"),
            ("org.example.Other", "Activate", [], Self.path, "UnknownMethod"),
            (Self.application, "ActivateAction", [], Self.path, "InvalidArgs"),
            (Self.application, "ActivateAction", [.text("quit"), .array([], of: "v")], Self.path, "InvalidArgs"),
            (Self.application, "ActivateAction", [.text("bellwire-action"), tap], Self.path, "InvalidArgs"),
            (
                Self.application, "ActivateAction", [.text(String(repeating: "x", count: 70_000)), tap], Self.path,
                "InvalidArgs"
            ),
            (Self.application, "Activate", [Self.platform], "/elsewhere", "NotSupported"),
        ]
        for (interface, member, arguments, path, name) in errors {
            let error = await call(other.bus, interface, member, arguments, path: path).error
            #expect(error?.remoteName == "org.freedesktop.DBus.Error.\(name)", "\(member)")
        }
        #expect(!showing.events.drain().contains { if case .activated = $0 { true } else { false } })
        showing.close()
        #expect(try await other.events.next().isGone)
        #expect(await call(other.bus, Self.application, "Activate", [Self.platform]).error?.code == .absent)
        other.bus.close()
    }

    @Test("A flood of calls is answered, and banners go on")
    func flood() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services.notifications(on: daemon)
        let showing = Showing(daemon.address, id: Self.id)
        try await showing.ready()
        let other = try await stranger(on: daemon)
        _ = try await other.events.next { $0 == .appeared }
        let answers = Mailbox<Result<[BusValue], BusError>>()
        for _ in 0..<20 {
            for _ in 0..<100 {
                other.bus.call(BusCall(Self.id, Self.path, Self.application, "Activate", [Self.platform])) {
                    answers.put($0)
                }
            }
            for _ in 0..<100 { #expect(try await answers.next().get() == []) }
        }
        _ = try await showing.show(banner).get()
        withExtendedLifetime(services) {}
        showing.close()
        other.bus.close()
    }

    @Test("A name that another has is not taken from it; it is ours as soon as the other leaves")
    func taken() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services.notifications(on: daemon)
        try await services.own(Self.id)
        let showing = Showing(daemon.address, id: Self.id)
        guard
            case .nameProblem(let error?) = try await showing.events.next(where: {
                if case .nameProblem = $0 { true } else { false }
            })
        else { throw BusError(.malformed, "no problem") }
        #expect(error.code == .refused && error.message.contains(Self.id))
        // Banners are shown all the same.
        while !showing.server.isReady { try await showing.ready() }
        #expect(showing.server.problem == error)
        _ = try await showing.show(banner).get()
        try await services.release(Self.id)
        #expect(
            try await showing.events.next(where: { if case .nameProblem = $0 { true } else { false } })
                == .nameProblem(nil))
        #expect(showing.server.problem == nil)
        showing.close()
    }

    @Test("What is no name of a program is told, and banners are shown without it")
    func invalid() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services.notifications(on: daemon)
        let showing = Showing(daemon.address, id: "../evil\u{202E}")
        try await showing.ready()
        #expect(showing.server.problem?.code == .invalid)
        _ = try await showing.show(banner).get()
        let hints = try await services.call(of: "\(Showing.interface).Notify").dropFirst(6).first as? [String: Any]
        #expect(hints?["desktop-entry"] == nil && hints?["urgency"] != nil)
        showing.close()
    }

    // MARK: org.gtk.Notifications

    @Test("GNOME's interface is taken where it is: shown under our id, tapped, closed, after its restart again")
    func gtk() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services.notifications(on: daemon)
        try await services.own(Showing.gtk)
        let showing = Showing(daemon.address, id: Self.id)
        #expect(try await showing.ready() == Showing.gtk)
        let handle = try await showing.show(banner).get()
        var args = try await services.call(of: "\(Showing.gtk).AddNotification")
        #expect(args[0] as? String == Self.id && args[1] as? String == "did%3Akey%3Aa%2F1")
        let shown = try #require(args[2] as? [String: Any])
        #expect(shown["title"] as? String == "T" && shown["default-action"] as? String == "app.bellwire-default")
        #expect(shown["default-action-target"] as? [String] == ["did%3Akey%3Aa%2F1", "default"])
        let buttons = try #require(shown["buttons"] as? [[String: Any]])
        #expect(buttons.first?["label"] as? String == "Do")
        #expect(buttons.first?["target"] as? [String] == ["did%3Akey%3Aa%2F1", "action.A"])
        #expect(try await showing.show(banner, replacing: handle).get() == handle)
        // What GNOME Shell does with a button.
        let other = try await stranger(on: daemon)
        _ = try await other.events.next { $0 == .appeared }
        _ = try await call(
            other.bus, Self.application, "ActivateAction",
            [.text("bellwire-action"), target("did:key:a/1", "action.A"), Self.platform]
        ).get()
        #expect(
            try await showing.events.next(where: { if case .activated = $0 { true } else { false } })
                == .activated(id: "did:key:a/1", action: "A", text: nil))
        showing.server.close(handle)
        args = try await services.call(of: "\(Showing.gtk).RemoveNotification")
        #expect(args as? [String] == [Self.id, "did%3Akey%3Aa%2F1"])
        #expect(try await showing.events.next() == .closed(handle))
        #expect(await showing.show(Banner(id: "", title: "t")).error?.code == .invalid)
        #expect(
            await showing.show(Banner(id: String(repeating: "x", count: 2_000), title: "t")).error?.code == .invalid)
        try await services.release(Showing.gtk)
        #expect(try await showing.ready() == "mock")
        try await services.own(Showing.gtk)
        #expect(try await showing.ready() == Showing.gtk)
        showing.close()
        other.bus.close()
    }

    @Test("A program that GNOME does not know is shown by the specification's interface, the same banner at once")
    func gtkRefuses() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services.notifications(on: daemon)
        try await services.override("\(Showing.gtk).AddNotification", #""error":"org.gtk.Notifications.InvalidApp""#)
        try await services.own(Showing.gtk)
        let showing = Showing(daemon.address, id: Self.id)
        #expect(try await showing.ready() == Showing.gtk)
        let handle = try await showing.show(banner).get()
        #expect(try await showing.ready() == "mock")
        try await services.banner("ActionInvoked", "us", #"[1,"default"]"#)
        #expect(try await showing.events.next() == .responded(handle, .tap))
        showing.close()
    }

    @Test("A tap after the program has ended starts it by the bus, and reaches it once it has its name")
    func startedByATap() async throws {
        let daemon = try await PrivateBus()
        let started = daemon.directory.appendingPathComponent("started")
        // What the bus starts says so, and a test that is told so is the program.
        let pipe = try MuteListener(started.path)
        try await daemon.offer(
            Self.id, "/usr/bin/python3 -c \"import socket;socket.socket(1).connect('\(started.path)')\"")
        let services = try await Services.notifications(on: daemon)
        try await services.own(Showing.gtk)
        let first = Showing(daemon.address, id: Self.id)
        try await first.ready()
        _ = try await first.show(banner).get()
        let other = try await stranger(on: daemon)
        _ = try await other.events.next { $0 == .appeared }
        first.close()
        #expect(try await other.events.next().isGone)
        let answers = Mailbox<Result<[BusValue], BusError>>()
        other.bus.call(
            BusCall(
                Self.id, Self.path, Self.application, "ActivateAction",
                [.text("bellwire-default"), target("did:key:a/1", "default"), Self.platform], startsService: true)
        ) { answers.put($0) }
        let listener = pipe.descriptor
        let isStarted = try await Waiting.value { MuteListener.hasCaller(listener, within: 10_000) }
        withExtendedLifetime(pipe) {}
        #expect(isStarted && answers.isEmpty)
        let second = Showing(daemon.address, id: Self.id)
        #expect(
            try await second.events.next(where: { if case .activated = $0 { true } else { false } })
                == .activated(id: "did:key:a/1", action: "default", text: nil))
        #expect(try await answers.next().get() == [])
        second.close()
        other.bus.close()
    }

    // MARK: The badge

    @Test("The badge is told to docks, many changes at once, again to a new dock and on a new bus; 0 hides it")
    func badge() async throws {
        let daemon = try await PrivateBus()
        let showing = Showing(daemon.address, id: Self.id)
        let other = try await stranger(on: daemon)
        _ = try await other.events.next { $0 == .appeared }
        func update(_ count: Int64) -> BusService.Event {
            let properties: [BusValue] = [
                .entry(.text("count"), .variant(.int64(count))),
                .entry(.text("count-visible"), .variant(.bool(count > 0))),
            ]
            return .signal(
                BusService.Signal(
                    path: Self.path, interface: "com.canonical.Unity.LauncherEntry", member: "Update",
                    values: [.text("application://\(Self.id).desktop"), .array(properties, of: "{sv}")]))
        }
        for count in 0..<1_000 { showing.server.setBadge(Int64(count)) }
        #expect(try await other.events.next() == update(999))
        showing.server.setBadge(999)
        showing.server.setBadge(-5)
        #expect(try await other.events.next() == update(0))
        showing.server.setBadge(.max)
        #expect(try await other.events.next() == update(.max))
        let dock = try await Services(on: daemon, owning: "com.canonical.Unity")
        #expect(try await other.events.next() == update(.max))
        withExtendedLifetime(dock) {}
        daemon.stop()
        _ = try await other.events.next { if case .gone(let error) = $0 { error.code == .disconnected } else { false } }
        try await daemon.start()
        // Whoever comes back first, the dock that comes after both is told.
        _ = try await other.events.next(within: 20_000) { $0 == .appeared }
        let newDock = try await Services(on: daemon, owning: "com.canonical.Unity")
        #expect(try await other.events.next { if case .signal = $0 { true } else { false } } == update(.max))
        withExtendedLifetime(newDock) {}
        showing.close()
        other.bus.close()
    }
}

extension BusService.Event {
    var isGone: Bool { if case .gone = self { true } else { false } }
}

extension MuteListener {
    /// Whether somebody connects in time. Blocks.
    static func hasCaller(_ descriptor: CInt, within milliseconds: CInt) -> Bool {
        var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, milliseconds) > 0
    }
}
