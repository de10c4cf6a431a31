import Testing

@testable import HTTPClient

/// Which hosts are not asked for a while.
@Suite struct HostRestsTests {
    @Test("a host that did not answer in time rests, and only that one")
    func rests() {
        var rests = HostRests(rest: 1_000)
        rests.timedOut("a:443", begunAt: 10, now: 100)
        #expect(rests.isResting("a:443", now: 1_099) && !rests.isResting("a:443", now: 1_100))
        #expect(!rests.isResting("a:444", now: 100) && !rests.isResting("b:443", now: 100))
        rests.answered("a:443", now: 200)
        #expect(!rests.isResting("a:443", now: 200))
    }

    @Test("a host that answered another one meanwhile lives")
    func lives() {
        var rests = HostRests(rest: 1_000)
        rests.answered("a:443", now: 50)
        rests.timedOut("a:443", begunAt: 50, now: 100)
        #expect(!rests.isResting("a:443", now: 100))
        rests.timedOut("a:443", begunAt: 51, now: 100)
        #expect(rests.isResting("a:443", now: 100))
    }

    @Test("so many are known; without a rest, none is")
    func bounded() {
        var rests = HostRests(rest: 1_000)
        for number in 0...HostRests.capacity as ClosedRange {
            rests.timedOut("\(number)", begunAt: 1, now: UInt64(number))
        }
        #expect(!rests.isResting("0", now: 64) && rests.isResting("1", now: 64) && rests.isResting("64", now: 64))
        var none = HostRests(rest: 0)
        none.timedOut("a", begunAt: 1, now: 1)
        #expect(!none.isResting("a", now: 1))
    }
}
