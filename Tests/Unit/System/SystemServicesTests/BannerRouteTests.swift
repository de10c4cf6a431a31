import Testing

@testable import SystemServices

@Suite("Which server shows banners")
struct BannerRouteTests {
    typealias Action = BannerRouteStateMachine.Action
    let absent = BusError(.absent, "not there")
    let noBus = BusError(.disconnected, "no bus")
    let server = NotificationServer(name: "dunst", capabilities: ["body"], life: "l")

    @Test("A server is asked once, and is ready when it has answered")
    func ready() {
        var machine = BannerRouteStateMachine(usesGTK: false)
        #expect(machine.appeared(owner: ":1.1") == [.ask(owner: ":1.1", round: 1)])
        #expect(machine.route == .undecided)
        #expect(machine.answered(round: 1, server) == [.ready(name: "dunst", capabilities: ["body"])])
        #expect(machine.answered(round: 1, server) == [])
        #expect(machine.route == .freedesktop(owner: ":1.1", server))
    }

    @Test("An answer of a server that has been replaced is not taken for the new one's")
    func staleAnswer() {
        var machine = BannerRouteStateMachine(usesGTK: false)
        _ = machine.appeared(owner: ":1.1")
        _ = machine.gone(absent)
        #expect(machine.appeared(owner: ":1.2") == [.ask(owner: ":1.2", round: 3)])
        #expect(machine.answered(round: 1, server) == [] && machine.route == .undecided)
        #expect(machine.notAnswered(round: 1, absent) == [])
    }

    @Test("Nobody there: told once, a server is started once by itself, and again for each banner")
    func start() {
        var machine = BannerRouteStateMachine(usesGTK: false)
        #expect(machine.gone(absent) == [.gone(absent), .startServer])
        #expect(machine.gone(absent) == [])
        #expect(machine.wanted() == [.startServer])
        #expect(machine.gone(noBus) == [.gone(noBus)])
        #expect(machine.wanted() == [], "without a bus nothing can be started")
        #expect(machine.gone(absent) == [.gone(absent), .startServer])
    }

    @Test("A server that does not answer is gone, and asked again later")
    func mute() {
        var machine = BannerRouteStateMachine(usesGTK: false)
        let late = BusError(.timeout, "late")
        _ = machine.appeared(owner: ":1.1")
        #expect(machine.notAnswered(round: 1, late) == [.gone(late), .askLater])
        #expect(machine.wanted() == [])
        #expect(machine.askAgain() == [.ask(owner: ":1.1", round: 2)])
        #expect(machine.askAgain() == [])
        #expect(machine.answered(round: 2, server) == [.ready(name: "dunst", capabilities: ["body"])])
    }

    @Test("With a name, GNOME's own comes first, and nothing is decided before it is known")
    func gtk() {
        var machine = BannerRouteStateMachine(usesGTK: true)
        _ = machine.appeared(owner: ":1.1")
        #expect(machine.answered(round: 1, server) == [])
        #expect(
            machine.gtkAppeared(owner: ":1.1") == [
                .ready(name: "org.gtk.Notifications", capabilities: GTKBannerRequest.capabilities)
            ])
        #expect(machine.route == .gtk(owner: ":1.1"))
        #expect(machine.gtkRefused(owner: ":1.9") == [])
        #expect(machine.gtkRefused(owner: ":1.1") == [.ready(name: "dunst", capabilities: ["body"])])
        #expect(machine.gtkGone(absent) == [])
        #expect(machine.gtkAppeared(owner: ":1.2").count == 1, "another life of it may know the program")
    }

    @Test("With a name and without GNOME the other is taken; a bus that goes is told once")
    func gtkAbsent() {
        var machine = BannerRouteStateMachine(usesGTK: true)
        #expect(machine.gone(absent) == [] && machine.route == .undecided)
        #expect(machine.gtkGone(absent) == [.gone(absent), .startServer])
        _ = machine.appeared(owner: ":1.1")
        _ = machine.answered(round: 2, server)
        #expect(machine.gtkGone(noBus) == [] && machine.gone(noBus) == [.gone(noBus)])
        #expect(machine.route == .none(noBus))
    }

    @Test("Random sequences: ready and gone are told in turn, each once, and always what is so")
    func model() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            let usesGTK = Bool.random(using: &generator)
            var machine = BannerRouteStateMachine(usesGTK: usesGTK)
            var told: Action?
            for step in 0..<40 {
                let actions: [Action] =
                    switch Int.random(in: 0..<10, using: &generator) {
                    case 0: machine.appeared(owner: ":1.\(step)")
                    case 1: machine.gone(absent)
                    case 2: machine.gone(noBus)
                    case 3, 4: machine.answered(round: machine.round, server)
                    case 5: machine.notAnswered(round: machine.round, BusError(.timeout, "late"))
                    case 6: usesGTK ? machine.gtkAppeared(owner: ":2.\(step)") : machine.askAgain()
                    case 7:
                        usesGTK ? machine.gtkGone(Bool.random(using: &generator) ? absent : noBus) : machine.wanted()
                    case 8: if case .gtk(let owner) = machine.route { machine.gtkRefused(owner: owner) } else { [] }
                    default: machine.wanted()
                    }
                for action in actions {
                    switch action {
                    case .ready, .gone:
                        if case .gone = action { #expect(action != told) }
                        told = action
                    case .ask, .askLater, .startServer: break
                    }
                }
                switch machine.route {
                case .none(let error): #expect(told == .gone(error))
                case .freedesktop: #expect(told == .ready(name: "dunst", capabilities: ["body"]))
                case .gtk:
                    #expect(told == .ready(name: "org.gtk.Notifications", capabilities: GTKBannerRequest.capabilities))
                case .undecided: break
                }
            }
        }
    }

    // MARK: What is shown

    @Test("A response is told once, and only of ours: what ends the banner after it is silent")
    func responses() {
        var shown = ShownBanners()
        shown.shown(3, replyID: "R")
        #expect(shown.invoked(4, key: "default") == nil && shown.closed(4, reason: 2) == nil)
        #expect(shown.invoked(3, key: "inline-reply") == nil && shown.invoked(3, key: "settings") == nil)
        #expect(shown.replied(3, text: "yes") == .reply(id: "R", "yes"))
        #expect(shown.closed(3, reason: 2) == nil && shown.invoked(3, key: "default") == nil)
        shown.shown(5, replyID: nil)
        #expect(shown.replied(5, text: "no field") == nil)
        #expect(shown.invoked(5, key: "action.A") == .action("A"))
        for (reason, end) in [(1, ShownBanners.End.closed), (2, .dismissed), (3, .closed), (4, .closed), (99, .closed)]
        {
            shown.shown(6, replyID: nil)
            #expect(shown.closed(6, reason: UInt32(reason)) == end)
        }
    }

    @Test("Of more than are followed the oldest is forgotten; one that was shown again is young")
    func bounded() {
        var shown = ShownBanners()
        for number in 1...UInt32(ShownBanners.maximum) { shown.shown(number, replyID: nil) }
        shown.shown(1, replyID: nil)
        shown.shown(5_000, replyID: nil)
        #expect(shown.contains(1) && !shown.contains(2) && shown.contains(5_000))
    }
}
