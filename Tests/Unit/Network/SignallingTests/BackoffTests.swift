import TestSupport
import Testing

@testable import Signalling

@Suite struct BackoffTests {
    @Test("each wait is spread over all of its step: full jitter")
    func spread() {
        var generator = SeededGenerator(seed: 3)
        for (step, ceiling) in Backoff.ceilings.enumerated() {
            var waits: [UInt64] = []
            for _ in 0..<2_000 {
                var backoff = Backoff()
                backoff.raise(to: step)
                waits.append(backoff.next(using: &generator))
            }
            let mean = waits.reduce(0, +) / UInt64(waits.count)
            #expect(waits.allSatisfy { $0 <= ceiling })
            #expect((ceiling * 45 / 100...ceiling * 55 / 100).contains(mean))
        }
    }

    @Test("raising never shortens, and goes no further than the last step")
    func raise() {
        var backoff = Backoff()
        backoff.raise(to: 100)
        #expect(backoff.step == 4)
        backoff.raise(to: 1)
        #expect(backoff.step == 4)
        backoff.raise(to: -5)
        #expect(backoff.step == 4)
        backoff.reset()
        #expect(backoff.step == 0)
    }
}
