@testable import History
import JSON
@testable import Notifications
import TestSupport
import Testing
import Wire

@Suite struct RateLimiterTests {
    @Test("a burst passes, then as many as come back with time, and the refusal says when")
    func burst() {
        var limiter = RateLimiter(perSecond: 10, burst: 3)
        for _ in 0..<3 { #expect(limiter.take("d", now: 0) == .allowed) }
        #expect(limiter.take("d", now: 0) == .refused(retryAfter: 100))
        #expect(limiter.take("d", now: 99) == .refused(retryAfter: 1))
        #expect(limiter.take("d", now: 100) == .allowed)
        #expect(limiter.take("d", now: 100) == .refused(retryAfter: 100))
        // A pause fills the bucket, and no more.
        for _ in 0..<3 { #expect(limiter.take("d", now: 1_000_000) == .allowed) }
        #expect(limiter.take("d", now: 1_000_000) == .refused(retryAfter: 100))
    }

    @Test("a device's haste is nobody else's")
    func devices() {
        var limiter = RateLimiter(perSecond: 1, burst: 1)
        #expect(limiter.take("a", now: 0) == .allowed)
        #expect(limiter.take("b", now: 0) == .allowed)
        #expect(limiter.take("a", now: 0) != .allowed)
        limiter.forget("a")
        #expect(limiter.take("a", now: 0) == .allowed)
    }

    @Test("a clock at its ends, or one that goes back, does no harm")
    func clock() {
        var limiter = RateLimiter(perSecond: .max, burst: .max)
        for now in [0, .max, 0, 5] as [UInt64] { #expect(limiter.take("d", now: now) == .allowed) }
        var slow = RateLimiter(perSecond: 1, burst: 1)
        #expect(slow.take("d", now: 5_000) == .allowed)
        #expect(slow.take("d", now: 0) == .refused(retryAfter: 1_000))
        #expect(slow.take("d", now: .max) == .allowed)
    }

    @Test("the devices that are remembered are bounded: the quietest is forgotten")
    func bound() {
        var limiter = RateLimiter(perSecond: 1, burst: 1, deviceLimit: 2)
        #expect(limiter.take("a", now: 0) == .allowed)
        #expect(limiter.take("b", now: 1) == .allowed)
        #expect(limiter.take("c", now: 2) == .allowed)
        #expect(limiter.take("b", now: 3) != .allowed)
        #expect(limiter.take("c", now: 3) != .allowed)
        #expect(limiter.take("a", now: 3) == .allowed)
    }

    @Test("a refusal is -32010 and says when to come again")
    func refusal() {
        #expect(RateLimiter.Verdict.allowed.refusal == nil)
        let refusal = RateLimiter.Verdict.refused(retryAfter: 7).refusal
        #expect(refusal?.code == .denied)
        #expect(refusal?.data == ["retryAfterMs": 7])
    }

    @Test("in any stretch of time no more pass than the burst and what has come back", arguments: 1...40)
    func model(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let perSecond = UInt32.random(in: 1...50, using: &random)
        let burst = UInt32.random(in: 1...20, using: &random)
        var limiter = RateLimiter(perSecond: perSecond, burst: burst)
        // In millionths of a token: what a bucket of real numbers would hold.
        var tokens = Double(burst)
        var now: UInt64 = 0
        for _ in 0..<500 {
            let pause = UInt64.random(in: 0...100, using: &random)
            now += pause
            tokens = min(Double(burst), tokens + Double(pause) * Double(perSecond) / 1_000)
            switch limiter.take("d", now: now) {
            case .allowed:
                #expect(tokens > 0.999_999)
                tokens -= 1
            case .refused(let wait):
                #expect(tokens < 1.000_001)
                var later = limiter
                #expect(later.take("d", now: now + wait) == .allowed)
                var sooner = limiter
                if wait > 1 { #expect(sooner.take("d", now: now + wait - 1) != .allowed) }
            }
        }
    }
}
