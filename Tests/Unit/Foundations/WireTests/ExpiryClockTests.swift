import Testing
import Wire

/// When stored things end although the wall clock may be set.
struct ExpiryClockTests {
    /// A wall clock that can be set, and the boot's clock, which cannot.
    private struct Bench {
        static let day: Int64 = 86_400_000

        var clock = ExpiryClock()
        var wall: EpochMilliseconds = 1_000_000_000_000
        var boot: Int64 = 50_000

        mutating func read() -> ExpiryMoment { clock.read(wall: wall, boot: boot) }

        mutating func pass(_ time: Int64) {
            wall += time
            boot += time
        }

        /// A bench whose clock is believed.
        static var settled: Bench {
            var bench = Bench()
            _ = bench.read()
            bench.pass(ExpiryClock.settlingTime)
            _ = bench.read()
            return bench
        }
    }

    @Test("a clock that is 40 days ahead for four seconds ends nothing, and leaves nothing behind")
    func jump() {
        var bench = Bench.settled
        let end = bench.wall + 30 * Bench.day
        bench.wall += 40 * Bench.day
        for _ in 0..<40 {
            bench.pass(100)
            #expect(!bench.read().hasPassed(end))
        }
        bench.wall -= 40 * Bench.day
        #expect(bench.read() == ExpiryMoment(bench.wall))
        // Time goes on by the old clock meanwhile.
        let soon = bench.wall + 1_000
        bench.wall += 40 * Bench.day
        #expect(bench.read().remaining(until: soon) == 1_000)
        bench.pass(1_000)
        #expect(bench.read().hasPassed(soon))
    }

    @Test("a new time counts once it has lasted, and one that changes again begins anew")
    func lasting() {
        var bench = Bench.settled
        let end = bench.wall + 30 * Bench.day
        bench.wall += 40 * Bench.day
        #expect(!bench.read().hasPassed(end))
        bench.pass(ExpiryClock.settlingTime - 1)
        #expect(!bench.read().hasPassed(end))
        bench.wall += Bench.day
        bench.pass(1)
        #expect(!bench.read().hasPassed(end))
        bench.pass(ExpiryClock.settlingTime)
        #expect(bench.read() == ExpiryMoment(bench.wall))
        #expect(bench.read().hasPassed(end))
    }

    @Test("a clock that is set back counts at once; small corrections are no jump")
    func back() {
        var bench = Bench.settled
        bench.wall -= 40 * Bench.day
        #expect(bench.read() == ExpiryMoment(bench.wall))
        for _ in 0..<100 {
            bench.wall += ExpiryClock.tolerance
            #expect(bench.read() == ExpiryMoment(bench.wall))
        }
    }

    @Test("after the start what seems to have ended before waits for the clock; what ends later does not")
    func start() {
        var bench = Bench()
        let (before, after) = (bench.wall - 1, bench.wall + 500)
        #expect(!bench.read().hasPassed(before) && bench.read().pruning == 0)
        #expect(bench.read().remaining(until: before) == ExpiryClock.settlingTime)
        bench.pass(500)
        #expect(!bench.read().hasPassed(before) && bench.read().hasPassed(after))
        bench.pass(ExpiryClock.settlingTime - 500)
        #expect(bench.read().hasPassed(before) && bench.read().pruning == bench.wall)
    }

    @Test("a clock that is right only some seconds after the start ends nothing by the wrong time")
    func correctedStart() {
        var bench = Bench()
        bench.wall += 40 * Bench.day
        let end = bench.wall - 10 * Bench.day
        #expect(!bench.read().hasPassed(end))
        bench.pass(4_000)
        bench.wall -= 40 * Bench.day
        #expect(!bench.read().hasPassed(end))
        bench.pass(ExpiryClock.settlingTime)
        #expect(bench.read() == ExpiryMoment(bench.wall) && !bench.read().hasPassed(end))
    }

    @Test("time in suspend passes: both clocks count it")
    func suspend() {
        var bench = Bench.settled
        let end = bench.wall + Bench.day
        bench.pass(2 * Bench.day)
        #expect(bench.read().hasPassed(end))
    }

    @Test("no reading traps")
    func extremes() {
        var clock = ExpiryClock()
        for (wall, boot) in [(Int64.max, Int64.min), (.min, .max), (.max, 0), (0, .max), (.min, 0)] {
            let moment = clock.read(wall: wall, boot: boot)
            for end in [Int64.min, 0, .max] { _ = (moment.hasPassed(end), moment.remaining(until: end)) }
        }
    }
}
