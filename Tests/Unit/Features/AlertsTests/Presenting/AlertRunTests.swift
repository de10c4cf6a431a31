import Alerts
import Testing

@Suite struct AlertRunTests {
    private typealias Machine = AlertRunStateMachine

    private func shown(_ handle: String?, _ presentation: Presentation = .all) -> Machine.Action {
        .finished(Machine.Outcome(presented: true, reason: nil, handle: handle, presentation: presentation))
    }

    private func hidden(_ reason: Machine.Reason, _ presentation: Presentation = .all) -> Machine.Action {
        .finished(Machine.Outcome(presented: false, reason: reason, handle: nil, presentation: presentation))
    }

    @Test("without enrichment, and in the background, it is shown at once")
    func plain() {
        var run = Machine()
        #expect(run.start(hasEnrichment: false, isInFront: false, now: 0) == .present(.all))
        #expect(run.deadline == nil)
        #expect(run.presented("7") == shown("7") && run.isFinished)
        #expect(run.start(hasEnrichment: true, isInFront: true, now: 1) == nil)
    }

    @Test("enriched, asked about, shown as the host wants it")
    func wholeWay() {
        var run = Machine()
        #expect(run.start(hasEnrichment: true, isInFront: true, now: 100) == .enrich)
        #expect(run.deadline == 30_100)
        #expect(run.enriched(now: 5_000) == .ask && run.deadline == 5_500)
        #expect(run.answered([.banner, .list], now: 5_100) == .present([.banner, .list]))
        #expect(run.presented(nil) == shown(nil, [.banner, .list]))
    }

    @Test("after 30 s the best content so far is shown, and what comes later is ignored")
    func enrichmentDeadline() {
        var run = Machine()
        _ = run.start(hasEnrichment: true, isInFront: false, now: 0)
        #expect(run.deadlineReached(now: 29_999) == nil)
        #expect(run.deadlineReached(now: 30_000) == .present(.all))
        #expect(run.enriched(now: 30_001) == nil)
        #expect(run.presented("7") == shown("7"))
        #expect(run.enriched(now: 40_000) == nil)
    }

    @Test("a host that does not answer within 500 ms has wanted all, and its answer is ignored")
    func askTimedOut() {
        var run = Machine()
        #expect(run.start(hasEnrichment: false, isInFront: true, now: 0) == .ask)
        #expect(run.deadlineReached(now: 499) == nil && run.deadlineReached(now: 500) == .present(.all))
        #expect(run.answered([], now: 501) == nil)
        #expect(run.presented("7") == shown("7"))
    }

    @Test("a host that wants nothing to be seen ends it, and may still want the badge")
    func nothing() {
        for answer in [[], Presentation.badge, [.sound, .badge]] {
            var run = Machine()
            _ = run.start(hasEnrichment: false, isInFront: true, now: 0)
            #expect(run.answered(answer, now: 1) == hidden(.willPresent, answer))
        }
    }

    @Test("the host is asked when it comes to the front while the image is fetched, and not when it leaves it")
    func moved() {
        for isInFront in [true, false] {
            var run = Machine()
            _ = run.start(hasEnrichment: true, isInFront: !isInFront, now: 0)
            run.moved(toFront: isInFront)
            #expect(run.enriched(now: 1) == (isInFront ? .ask : .present(.all)))
        }
    }

    @Test("a presenter that fails is tried again after 1, 2, 5, 10 and 30 s, and a last time after 60")
    func retries() {
        var run = Machine()
        #expect(run.start(hasEnrichment: false, isInFront: false, now: 1_000) == .present(.all))
        var now: UInt64 = 1_000
        var tries: [UInt64] = []
        var end: Machine.Action?
        while end == nil {
            tries.append(now - 1_000)
            end = run.presentFailed(now: now)
            guard let deadline = run.deadline else { break }
            now = deadline
            #expect(run.deadlineReached(now: now - 1) == nil && run.deadlineReached(now: now) == .present(.all))
        }
        #expect(tries == [0, 1_000, 3_000, 8_000, 18_000, 48_000, 60_000])
        #expect(end == hidden(.presenterFailed))
        #expect(run.presented("7") == .close(handle: "7"))
    }

    @Test("a reminder is tried again without limit")
    func patient() {
        var run = Machine()
        _ = run.start(hasEnrichment: false, isInFront: false, isPatient: true, now: 0)
        var now: UInt64 = 0
        for _ in 0..<500 {
            #expect(run.presentFailed(now: now) == nil)
            guard let deadline = run.deadline else { break }
            #expect(deadline > now && deadline - now <= 30_000)
            now = deadline
            #expect(run.deadlineReached(now: now) == .present(.all))
        }
        #expect(now > 3_600_000)
        _ = run.presented("7")
        #expect(run.isFinished)
    }

    @Test("a server that has come is tried at once; a host that has not said who shows alerts may take its time")
    func ready() {
        var run = Machine()
        _ = run.start(hasEnrichment: false, isInFront: false, now: 0)
        #expect(run.presenterReady(now: 0) == nil)
        #expect(run.presentFailed(now: 10) == nil && run.presenterReady(now: 20) == .present(.all))
        run.noPresenter()
        #expect(run.deadline == nil && run.deadlineReached(now: .max) == nil)
        #expect(run.presenterReady(now: 1_000_000) == .present(.all))
        #expect(run.presentFailed(now: 1_000_001) == nil && run.deadline == 1_001_001)
    }

    @Test("what is withdrawn on the way ends there, and its banner is closed when it comes")
    func withdrawn() {
        var run = Machine()
        _ = run.start(hasEnrichment: false, isInFront: false, now: 0)
        #expect(run.withdraw(.removed) == hidden(.removed))
        #expect(run.withdraw(.replaced) == nil)
        #expect(run.presented("7") == .close(handle: "7") && run.presentFailed(now: 1) == nil)
    }

    @Test("a banner that is its successor's by now is left alone")
    func place() {
        var run = Machine()
        _ = run.start(hasEnrichment: false, isInFront: false, replacing: "7", now: 0)
        #expect(run.withdraw(.replaced) == hidden(.replaced))
        #expect(run.presented("7") == nil)
        #expect(run.presented("8") == .close(handle: "8"))
    }

    @Test("what the host's callback gives is taken as far as it means something")
    func answers() {
        #expect(Presentation(answer: nil) == .all && Presentation(answer: -1) == .all)
        #expect(Presentation(answer: .min) == .all && Presentation(answer: 0) == [])
        #expect(Presentation(answer: 9) == [.banner, .list] && Presentation(answer: .max) == .all)
        #expect(Presentation(answer: 16) == [])
    }
}
