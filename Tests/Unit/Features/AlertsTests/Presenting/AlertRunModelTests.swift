import Alerts
import TestSupport
import Testing

/// One alert against what is promised of it, with a presenter, a host and an enrichment that do what they like, when they
/// like, over random sequences and a clock of its own.
@Suite struct AlertRunModelTests {
    /// The world around the machine. What was asked of it, it answers once, or never but for the presenter.
    private struct World {
        var machine = AlertRunStateMachine()
        var random: SeededGenerator
        var now: UInt64 = 1_000
        var startedAt: UInt64 = 0
        var place: String?
        var isInFront = false

        var isEnriching = false
        var isAsked = false
        /// Calls to the presenter that are not answered.
        var calls = 0
        /// What is on the screen now.
        var banners: Set<String> = []
        var number = 0
        var enrichedAt: UInt64?
        var askedAt: UInt64?
        var answer: Presentation?
        var presentations: [Presentation] = []
        var firstTry: UInt64?
        var end: AlertRunStateMachine.Outcome?
        var wasWithdrawn: AlertRunStateMachine.Reason?

        init(seed: UInt64) { random = SeededGenerator(seed: seed) }

        mutating func carryOut(_ action: AlertRunStateMachine.Action?) {
            guard let action else { return }
            switch action {
            case .enrich:
                #expect(end == nil && presentations.isEmpty && !isEnriching)
                isEnriching = true
            case .ask:
                #expect(end == nil && presentations.isEmpty && isInFront && askedAt == nil)
                isAsked = true
                askedAt = now
            case .present(let presentation):
                #expect(end == nil && calls == 0, "one call at a time, and none after the end")
                if let askedAt {
                    #expect(presentation == (answer ?? .all))
                    if answer == nil { #expect(now >= askedAt + 500) }
                } else {
                    #expect(presentation == .all)
                }
                presentations.append(presentation)
                firstTry = firstTry ?? now
                calls += 1
            case .finished(let outcome):
                #expect(end == nil, "it ends once")
                end = outcome
                #expect(outcome.presented == (outcome.reason == nil))
            case .close(let handle):
                #expect(end != nil)
                #expect(banners.remove(handle) != nil, "only what is there is closed")
            }
        }
    }

    @Test(
        "random sequences: shown once or not at all, asked once, never late, nothing left on the screen",
        arguments: 0..<64 as Range<UInt64>)
    func sequences(seed: UInt64) {
        var ends: [String: Int] = [:]
        for round in 0..<60 {
            var world = World(seed: seed &* 1_000 &+ UInt64(round))
            run(&world)
            ends[world.end?.reason?.rawValue ?? "presented", default: 0] += 1
        }
        #expect(ends.count >= 3, "the sequences reach several ends: \(ends)")
    }

    private func run(_ world: inout World) {
        let isStubborn = Int.random(in: 0..<3, using: &world.random) == 0
        let hasEnrichment = Bool.random(using: &world.random)
        world.isInFront = Bool.random(using: &world.random)
        world.place = Bool.random(using: &world.random) ? "old" : nil
        if let place = world.place { world.banners.insert(place) }
        world.startedAt = world.now
        world.carryOut(
            world.machine.start(
                hasEnrichment: hasEnrichment, isInFront: world.isInFront, replacing: world.place, now: world.now))
        #expect(world.isEnriching == hasEnrichment)
        for _ in 0..<200 {
            step(&world, isStubborn)
            check(world)
        }
        // Whatever is still to be answered is answered.
        while world.calls > 0 { show(&world) }
        #expect(world.machine.deadline == nil || world.end == nil)
        guard let end = world.end else { return }
        if end.presented {
            #expect(world.banners.count == 1 && world.banners.first == end.handle)
        } else if world.wasWithdrawn == .replaced {
            #expect(world.banners.subtracting(["old"]).isEmpty, "the old place is its successor's")
        } else {
            #expect(world.banners.subtracting(["old"]).isEmpty)
        }
    }

    private func step(_ world: inout World, _ isStubborn: Bool) {
        switch Int.random(in: 0..<24, using: &world.random) {
        case 0..<8:
            // Timers are late, and never early.
            let deadline = world.machine.deadline ?? world.now
            let late = UInt64.random(in: 0...300, using: &world.random)
            world.now = Bool.random(using: &world.random) ? max(world.now, deadline) + late : world.now + late
            world.carryOut(world.machine.deadlineReached(now: world.now))
        case 8..<10:
            world.isInFront.toggle()
            world.machine.moved(toFront: world.isInFront)
        case 10..<12 where world.isEnriching:
            world.isEnriching = false
            if world.now < world.startedAt + 30_000 { world.enrichedAt = world.now }
            world.carryOut(world.machine.enriched(now: world.now))
        case 12..<14 where world.isAsked:
            world.isAsked = false
            let answer = Presentation(rawValue: Int32.random(in: 0...15, using: &world.random))
            if world.presentations.isEmpty, world.end == nil { world.answer = answer }
            world.carryOut(world.machine.answered(answer, now: world.now))
            if world.answer == answer, !answer.isVisible, world.end != nil, world.wasWithdrawn == nil {
                #expect(world.end?.reason == .willPresent)
            }
        case 14..<19 where world.calls > 0:
            if isStubborn || Bool.random(using: &world.random) {
                world.calls -= 1
                let before = world.end
                world.carryOut(world.machine.presentFailed(now: world.now))
                if before == nil, let end = world.end {
                    #expect(end.reason == .presenterFailed)
                }
            } else {
                show(&world)
            }
        case 19 where world.calls > 0:
            world.calls -= 1
            world.machine.noPresenter()
            world.firstTry = nil
        case 20, 21:
            let isWaiting = world.calls == 0 && !world.presentations.isEmpty && world.end == nil
            if isWaiting, world.machine.deadline == nil { world.firstTry = nil }
            world.carryOut(world.machine.presenterReady(now: world.now))
        case 22 where Int.random(in: 0..<10, using: &world.random) == 0:
            let reason: AlertRunStateMachine.Reason = Bool.random(using: &world.random) ? .removed : .replaced
            if world.end == nil { world.wasWithdrawn = reason }
            world.carryOut(world.machine.withdraw(reason))
        default: break
        }
    }

    /// The presenter has shown it: in the old place, or beside it.
    private func show(_ world: inout World) {
        world.calls -= 1
        world.number += 1
        let handle: String
        if let place = world.place, Bool.random(using: &world.random) {
            handle = place
        } else {
            handle = "new\(world.number)"
            if let place = world.place { world.banners.remove(place) }
        }
        world.banners.insert(handle)
        let before = world.end
        world.carryOut(world.machine.presented(handle))
        if before == nil { #expect(world.end?.handle == handle && world.end?.presented == true) }
    }

    private func check(_ world: World) {
        let machine = world.machine
        #expect(machine.isFinished == (world.end != nil))
        if world.end != nil { #expect(machine.deadline == nil) }
        if let deadline = machine.deadline {
            if world.presentations.isEmpty, world.askedAt == nil { #expect(deadline == world.startedAt + 30_000) }
            if world.presentations.isEmpty, let askedAt = world.askedAt { #expect(deadline == askedAt + 500) }
            if let first = world.firstTry { #expect(deadline <= first + 60_000) }
        } else if world.end == nil {
            #expect(world.calls == 1 || !world.presentations.isEmpty, "it waits for the presenter, or the host for it")
        }
        if world.presentations.isEmpty, world.askedAt == nil, world.end == nil {
            #expect(world.isEnriching && world.enrichedAt == nil, "nothing else holds it up")
        }
    }
}
