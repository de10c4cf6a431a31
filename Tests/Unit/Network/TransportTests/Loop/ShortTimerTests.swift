import TestSupport
import Testing

@testable import Transport

@Suite("Short timer")
struct ShortTimerTests {
    private let fired = Mailbox<Int>()

    @Test("It fires once, not before its time, and again after another start")
    @EventLoop
    func fires() async throws {
        let timer = ShortTimer { fired.put(1) }
        #expect(!timer.isRunning)
        for delay in [0, 1, 20] as [UInt64] {
            let begin = EventLoop.now
            timer.start(after: delay)
            #expect(timer.isRunning)
            #expect(try await fired.next() == 1)
            #expect(EventLoop.now - begin >= delay && !timer.isRunning)
        }
        try await settle(30)
        #expect(fired.isEmpty)
    }

    @Test("A start moves the time, and a stop or its end takes it away")
    @EventLoop
    func stops() async throws {
        let timer = ShortTimer { fired.put(1) }
        timer.start(after: 1)
        timer.start(after: 60_000)
        timer.stop()
        #expect(!timer.isRunning)
        do {
            let forgotten = ShortTimer { fired.put(2) }
            forgotten.start(after: 1)
        }
        let restarted = ShortTimer { fired.put(3) }
        restarted.start(after: 60_000)
        restarted.start(after: 1)
        #expect(try await fired.next() == 3)
        try await settle(30)
        #expect(fired.isEmpty)
    }

    @EventLoop
    private func settle(_ time: UInt64) async throws {
        let passed = Mailbox<Bool>()
        let timer = LoopTimer { passed.put(true) }
        timer.start(after: time)
        _ = try await passed.next()
    }
}
