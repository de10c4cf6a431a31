import TestSupport
import Testing
import Transport

@testable import SystemServices

@Suite("Sleep, with a logind that the test plays")
@EventLoop
struct SleepTests {
    static let name = "org.freedesktop.login1"

    enum Seen: Equatable {
        case goesToSleep, isAwake
        case note(String?)
    }

    @EventLoop
    final class Host {
        let events = Mailbox<Seen>()
        var done: [@EventLoop () -> Void] = []
        let bus: Bus
        private(set) lazy var monitor = SleepMonitor(on: bus) { [weak self] event in self?.take(event) }

        init(_ address: BusAddress) {
            bus = Bus(address, takesDescriptors: true)
            monitor.start()
            bus.open()
        }

        private func take(_ event: SleepMonitor.Event) {
            switch event {
            case .goesToSleep(let done):
                self.done.append(done)
                events.put(.goesToSleep)
            case .isAwake: events.put(.isAwake)
            case .note(let text): events.put(.note(text))
            }
        }
    }

    @Test("The machine waits until the host is done, and no longer; awake again, it would wait again")
    func cycle() async throws {
        let daemon = try await PrivateBus()
        let logind = try await Services(on: daemon, owning: Self.name)
        let host = Host(daemon.address)
        for _ in 0..<2 {
            let asked = try await logind.call(of: "org.freedesktop.login1.Manager.Inhibit")
            #expect(asked[0] as? String == "sleep" && asked[3] as? String == "delay")
            logind.write(#"{"do":"lock_closed"}"#)
            try await logind.tell(#"{"do":"sleep","before":true}"#, until: "signalled")
            #expect(try await host.events.next() == .goesToSleep)
            host.done.last?()
            // The first `done` again: it is not the second one's.
            host.done.first?()
            try await logind.line(#"{"lock": "closed"}"#)
            try await logind.tell(#"{"do":"sleep","before":false}"#, until: "signalled")
            #expect(try await host.events.next() == .isAwake)
        }
        host.monitor.stop()
        host.bus.close()
    }

    @Test("A host that is never done holds the machine for 4 s at most")
    func limit() async throws {
        let daemon = try await PrivateBus()
        let logind = try await Services(on: daemon, owning: Self.name)
        let host = Host(daemon.address)
        try await logind.call(of: "org.freedesktop.login1.Manager.Inhibit")
        logind.write(#"{"do":"lock_closed"}"#)
        let begin = EventLoop.now
        try await logind.tell(#"{"do":"sleep","before":true}"#, until: "signalled")
        #expect(try await host.events.next() == .goesToSleep)
        try await logind.line(#"{"lock": "closed"}"#, within: 8_000)
        #expect(EventLoop.now - begin >= 3_900)
        host.bus.close()
    }

    @Test("Stopping lets go of the machine")
    func stop() async throws {
        let daemon = try await PrivateBus()
        let logind = try await Services(on: daemon, owning: Self.name)
        let host = Host(daemon.address)
        try await logind.call(of: "org.freedesktop.login1.Manager.Inhibit")
        logind.write(#"{"do":"lock_closed"}"#)
        try await logind.tell(#"{"do":"sleep","before":true}"#, until: "signalled")
        #expect(try await host.events.next() == .goesToSleep)
        host.monitor.stop()
        try await logind.line(#"{"lock": "closed"}"#)
        host.bus.close()
    }

    @Test("No logind is a note; one that refuses a lock, or answers another thing, still tells of sleep")
    func notes() async throws {
        let daemon = try await PrivateBus()
        let logind = try await Services(on: daemon)
        for answer in [#""error":"org.freedesktop.DBus.Error.AccessDenied""#, #""signature":"s","args":["x"]"#] {
            try await logind.override("org.freedesktop.login1.Manager.Inhibit", answer)
            let host = Host(daemon.address)
            #expect(try await host.events.next() == .note("no logind: org.freedesktop.login1 is not on the bus"))
            try await logind.own(Self.name)
            guard case .note(let note?) = try await host.events.next() else { throw BusError(.malformed, "no note") }
            #expect(note.hasPrefix("cannot delay sleep"))
            // Signals of other types, or of another object, are none.
            try await logind.signal(
                "/org/freedesktop/login1", "org.freedesktop.login1.Manager", "PrepareForSleep",
                #""signature":"s","args":["x"]"#)
            try await logind.signal(
                "/other", "org.freedesktop.login1.Manager", "PrepareForSleep", #""signature":"b","args":[true]"#)
            try await logind.tell(#"{"do":"sleep","before":true}"#, until: "signalled")
            #expect(try await host.events.next() == .goesToSleep)
            // A logind that is gone while we sleep can wake nobody.
            try await logind.release(Self.name)
            #expect(try await host.events.next() == .isAwake)
            #expect(try await host.events.next() == .note("no logind: org.freedesktop.login1 is not on the bus"))
            host.bus.close()
        }
    }

    @Test("Whatever comes in whatever order: sleep and waking alternate, and a lock is held only while it may be")
    func model() {
        final class Lock {}
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            var machine = SleepStateMachine<Lock>()
            var isAsleep = false
            var number = 0
            weak var newest: Lock?
            for _ in 0..<30 {
                let actions: [SleepStateMachine<Lock>.Action]
                switch Int.random(in: 0..<7, using: &generator) {
                case 0: actions = machine.appeared()
                case 1: actions = machine.gone("x")
                case 2:
                    let lock = Lock()
                    newest = lock
                    actions = machine.inhibited(lock)
                case 3: actions = machine.refused("x")
                case 4: actions = machine.prepareForSleep()
                case 5:
                    actions = machine.closed(number)
                    if isAsleep { #expect(newest == nil, "the machine is held although the host is done") }
                default: actions = machine.woke()
                }
                for action in actions {
                    switch action {
                    case .goToSleep(let new):
                        #expect(!isAsleep && new > number)
                        isAsleep = true
                        number = new
                    case .wakeUp:
                        #expect(isAsleep)
                        isAsleep = false
                    case .inhibit, .stopWaiting, .note: break
                    }
                }
            }
        }
    }
}
