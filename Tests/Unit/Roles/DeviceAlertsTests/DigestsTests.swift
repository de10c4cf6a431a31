import Alerts
import Testing

@testable import DeviceAlerts

/// When digests leave, by any clock.
@Suite struct DigestsTests {
    @Test("late alerts are waited for: 2 s after each, 15 s after the first")
    func late() {
        var digests = Digests(.summary)
        #expect(digests.held(.late, now: 1_000) == .startLateTimer(2_000))
        #expect(digests.held(.late, now: 2_900) == .startLateTimer(2_000))
        #expect(digests.held(.late, now: 15_000) == .startLateTimer(1_000))
        #expect(digests.held(.late, now: 16_500) == .startLateTimer(0))
        #expect(digests.lateTimerFired(isQuiet: false) == .store(.release(.late)))
        // From here on it is another digest.
        #expect(digests.held(.late, now: 20_000) == .startLateTimer(2_000))
        #expect(digests.lateTimerFired(isQuiet: true) == .store(.moveLateToQuiet))
    }

    @Test("late alerts of an earlier process leave at the start; those that arrive then are waited for")
    func started() {
        var digests = Digests(.summary)
        #expect(digests.started(isQuiet: false) == .release(.late))
        #expect(digests.started(isQuiet: true) == .moveLateToQuiet)
        #expect(digests.held(.late, now: 1_900) == .startLateTimer(2_000))
        #expect(digests.held(.late, now: 15_000) == .startLateTimer(1_900))
        #expect(digests.lateTimerFired(isQuiet: false) == .store(.release(.late)))
        let others = Digests(.each)
        #expect(others.started(isQuiet: false) == nil)
    }

    @Test("what quiet hours held back leaves when they are over")
    func quiet() {
        var digests = Digests(.none)
        #expect(digests.held(.quietHours, now: 1) == .armClock)
        #expect(digests.releaseQuiet(isQuiet: true) == nil)
        #expect(digests.releaseQuiet(isQuiet: false) == .store(.release(.quietHours)))
    }

    @Test("only a summary is made of late alerts", arguments: [LateAlerts.none, .each])
    func noSummary(_ lateAlerts: LateAlerts) {
        let digests = Digests(lateAlerts)
        #expect(!digests.keepsLate && digests.releaseLate(isQuiet: false) == nil)
    }
}
