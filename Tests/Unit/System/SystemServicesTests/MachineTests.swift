import Testing

@testable import SystemServices

/// Random sequences of events against each machine.
@Suite("Machines of the surroundings")
struct MachineTests {
    @Test("A bus is tried again ever more rarely, quickly again after it was there, and never without libsystemd")
    func link() {
        var generator = SystemRandomNumberGenerator()
        let gone = BusError(.disconnected, "gone")
        var machine = BusLinkStateMachine()
        #expect(machine.open() == .connect && machine.open() == .none)
        for ceiling in BusLinkStateMachine.ceilings + [300_000, 300_000] {
            guard case .waitFor(let milliseconds) = machine.failed(gone, using: &generator) else {
                Issue.record("it does not wait")
                return
            }
            #expect(milliseconds <= ceiling)
            #expect(machine.failed(gone, using: &generator) == .none)
            #expect(machine.waited() == .connect)
        }
        #expect(machine.welcomed(as: ":1.1") == .announce && machine.state == .ready(name: ":1.1"))
        guard case .waitFor(let milliseconds) = machine.failed(gone, using: &generator) else {
            Issue.record("it does not wait")
            return
        }
        #expect(milliseconds <= 500)
        #expect(machine.close() == .disconnect && machine.close() == .none && machine.waited() == .none)
        #expect(machine.open() == .connect)
        #expect(machine.failed(BusError(.unavailable, "none"), using: &generator) == .giveUp)
        #expect(machine.waited() == .none && machine.open() == .none)
    }

    @Test("Relays are found before they are lost, once each, and lost when Avahi goes")
    func browse() {
        var generator = SystemRandomNumberGenerator()
        func sighting() -> BrowseStateMachine.Sighting {
            BrowseStateMachine.Sighting(
                interface: .random(in: 1...2, using: &generator), family: .random(in: 0...1, using: &generator),
                name: ["a", "b", "c"].randomElement(using: &generator) ?? "a", domain: "local")
        }
        for _ in 0..<2_000 {
            var machine = BrowseStateMachine()
            var isPresent = false
            var path: String?
            var isCreating = false
            var told: [String: DiscoveredRelay] = [:]
            for step in 0..<60 {
                let actions: [BrowseStateMachine.Action]
                switch Int.random(in: 0..<20, using: &generator) {
                case 0: actions = machine.browse(isPresent: isPresent)
                case 1: actions = machine.stop()
                case 2: actions = machine.refresh(isPresent: isPresent)
                case 3:
                    isPresent = true
                    actions = machine.appeared()
                case 4:
                    isPresent = false
                    actions = machine.gone()
                    path = nil
                    isCreating = false
                    #expect(actions.count == told.count)
                case 5..<8:
                    guard isCreating else { continue }
                    isCreating = false
                    path = "/b\(step)"
                    actions = machine.created(path: "/b\(step)")
                case 8..<12: actions = machine.added(sighting(), path: path ?? "/early")
                case 12..<14: actions = machine.removed(sighting(), path: path ?? "/early")
                case 14: actions = machine.settled(path: path ?? "/early")
                case 15: actions = machine.resolveFailed(sighting())
                case 16: actions = machine.resolved(sighting(), nil)
                default:
                    let values: [BusValue] = [
                        .int32(1), .int32(0), .text("n"), .text("t"), .text("d"), .text("h"), .int32(0),
                        .text("10.0.0.\(Int.random(in: 1...3, using: &generator))"), .uint16(9), .array([], of: "ay"),
                        .uint32(0),
                    ]
                    actions = machine.resolved(sighting(), ResolvedService(values) { _ in nil })
                }
                for action in actions {
                    switch action {
                    case .createBrowser:
                        #expect(isPresent && path == nil && !isCreating)
                        isCreating = true
                    case .freeBrowser(let freed):
                        #expect(freed == path)
                        path = nil
                    case .resolve: #expect(path != nil)
                    case .found(let relay):
                        #expect(told[relay.name] != relay)
                        told[relay.name] = relay
                    case .lost(let relay): #expect(told.removeValue(forKey: relay.name) == relay)
                    }
                }
                if !machine.isWanted { isCreating = false }
                #expect(Set(machine.relays) == Set(told.values))
            }
        }
    }

    @Test("A relay is published under one name at a time, in a group that is there, and never after it was withdrawn")
    func publish() {
        var generator = SystemRandomNumberGenerator()
        let offers = ["Desk", String(repeating: "ü", count: 31)].map {
            PublishStateMachine.Offer(name: $0, port: 1, record: TXTRecord(did: nil))
        }
        for _ in 0..<2_000 {
            var machine = PublishStateMachine()
            var isPresent = false
            var path: String?
            var isCreating = false
            var published: String?
            var isWanted = false
            for step in 0..<60 {
                let actions: [PublishStateMachine.Action]
                switch Int.random(in: 0..<18, using: &generator) {
                case 0:
                    isWanted = true
                    actions = machine.publish(offers[step % 2])
                case 1:
                    isWanted = false
                    actions = machine.withdraw()
                case 2:
                    isPresent = true
                    actions = machine.appeared()
                case 3:
                    isPresent = false
                    actions = machine.gone()
                    path = nil
                case 4..<7: actions = machine.server(state: .random(in: -1...4, using: &generator))
                case 7..<10:
                    guard isCreating else { continue }
                    isCreating = false
                    path = "/g\(step)"
                    actions = machine.created(path: "/g\(step)")
                case 10: actions = machine.refused("x")
                case 11: actions = machine.notAdded(.collision)
                case 12: actions = machine.notAdded(.other("x"))
                case 13..<16:
                    actions = machine.group(state: .random(in: -1...5, using: &generator), path: path ?? "/no")
                case 16: actions = machine.alternative(nil)
                default: actions = machine.alternative("other \(step)")
                }
                for action in actions {
                    switch action {
                    case .askState: isCreating = false
                    case .createGroup: isCreating = true
                    case .add(let to, let name, _):
                        #expect(to == path && isWanted && isPresent)
                        #expect(!name.isEmpty && name.utf8.count <= Avahi.maximumName)
                    case .reset(let to): #expect(to == path)
                    case .free(let to):
                        #expect(to == path)
                        path = nil
                    case .askAlternative: #expect(path != nil)
                    case .published(let name):
                        #expect((name == nil) != (published == nil))
                        published = name
                    case .note: break
                    }
                }
                if !isWanted || !isPresent { #expect(published == nil) }
            }
        }
    }

    @Test("Names are cut between characters, and shown without what misleads")
    func names() {
        #expect(Avahi.cut(String(repeating: "ü", count: 40)) == String(repeating: "ü", count: 31))
        #expect(Avahi.shown("a\u{1b}[2K\u{202e}b\u{0}\nc") == "a[2Kbc")
        #expect(BusAddress.escaped("/run/user/1000") == "/run/user/1000")
        #expect(BusAddress.escaped("/a b;c,ü") == "/a%20b%3bc%2c%c3%bc")
        #expect(BusAddress("tcp:host=x;unix:path=/a;unixexec:path=/b;unix:path=/c").text == "unix:path=/a;unix:path=/c")
    }
}
