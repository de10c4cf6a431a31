@testable import History
import JSON
@testable import Notifications
import TestSupport
import Testing
import Wire

@Suite struct RateLimiterTests {
    @Test("a burst passes, then as many as come back with time, and the refusal says when")
    func burst() {
        let limiter = RateLimiter(perSecond: 10, burst: 3)
        var bucket = RateLimiter.Bucket()
        for _ in 0..<3 { #expect(limiter.take(from: &bucket, now: 0) == .allowed) }
        #expect(limiter.take(from: &bucket, now: 0) == .refused(retryAfter: 100))
        #expect(limiter.take(from: &bucket, now: 99) == .refused(retryAfter: 1))
        #expect(limiter.take(from: &bucket, now: 100) == .allowed)
        #expect(limiter.take(from: &bucket, now: 100) == .refused(retryAfter: 100))
        // A pause fills the bucket, and no more.
        for _ in 0..<3 { #expect(limiter.take(from: &bucket, now: 1_000_000) == .allowed) }
        #expect(limiter.take(from: &bucket, now: 1_000_000) == .refused(retryAfter: 100))
    }

    @Test("a clock at its ends, or one that goes back, does no harm")
    func clock() {
        let limiter = RateLimiter(perSecond: .max, burst: .max)
        var bucket = RateLimiter.Bucket()
        for now in [0, .max, 0, 5] as [UInt64] { #expect(limiter.take(from: &bucket, now: now) == .allowed) }
        let slow = RateLimiter(perSecond: 1, burst: 1)
        var other = RateLimiter.Bucket()
        #expect(slow.take(from: &other, now: 5_000) == .allowed)
        #expect(slow.take(from: &other, now: 0) == .refused(retryAfter: 1_000))
        #expect(slow.take(from: &other, now: .max) == .allowed)
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
        let limiter = RateLimiter(perSecond: perSecond, burst: burst)
        var bucket = RateLimiter.Bucket()
        // In millionths of a token: what a bucket of real numbers would hold.
        var tokens = Double(burst)
        var now: UInt64 = 0
        for _ in 0..<500 {
            let pause = UInt64.random(in: 0...100, using: &random)
            now += pause
            tokens = min(Double(burst), tokens + Double(pause) * Double(perSecond) / 1_000)
            switch limiter.take(from: &bucket, now: now) {
            case .allowed:
                #expect(tokens > 0.999_999)
                tokens -= 1
            case .refused(let wait):
                #expect(tokens < 1.000_001)
                var later = bucket
                #expect(limiter.take(from: &later, now: now + wait) == .allowed)
                var sooner = bucket
                if wait > 1 { #expect(limiter.take(from: &sooner, now: now + wait - 1) != .allowed) }
            }
        }
    }
}
