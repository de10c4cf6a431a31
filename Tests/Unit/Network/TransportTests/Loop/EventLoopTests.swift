import CUV
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Transport

@EventLoop
private final class NumberList {
    var numbers: [Int] = []

    nonisolated init() {}
}

/// Tells when it is released.
private final class Probe: Sendable {
    private let released: @Sendable @EventLoop () -> Void

    init(_ released: @escaping @Sendable @EventLoop () -> Void) { self.released = released }

    deinit {
        let released = released
        EventLoop.post { released() }
    }
}

@Suite("Event loop")
struct EventLoopTests {
    @Test("Work posted from one thread runs in order, on the loop's thread")
    func order() async throws {
        let seen = await withCheckedContinuation { (done: CheckedContinuation<[Int], Never>) in
            let list = NumberList()
            for number in 0..<1_000 {
                EventLoop.post {
                    #expect(EventLoop.isCurrent)
                    list.numbers.append(number)
                    if number == 999 { done.resume(returning: list.numbers) }
                }
            }
        }
        #expect(seen == Array(0..<1_000))
        #expect(!EventLoop.isCurrent)
    }

    @Test("Posted work and actor jobs share one queue")
    @EventLoop
    func sharedQueue() async throws {
        let events = Mailbox<String>()
        EventLoop.post { events.put("first") }
        let job = Task { @EventLoop in events.put("second") }
        _ = await job.value
        EventLoop.post { events.put("third") }
        #expect(try await events.next() == "first")
        #expect(try await events.next() == "second")
        #expect(try await events.next() == "third")
    }

    @Test("Code of the loop is isolated, also where a callback enters it")
    func isolation() async throws {
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            EventLoop.post {
                EventLoop.shared.preconditionIsolated()
                EventLoop.assumeIsolated { _ = EventLoop.now }
                done.resume()
            }
        }
        let isIsolated = LoopExecutor.shared.isIsolatingCurrentContext()
        #expect(isIsolated == false)
    }

    @Test("A timer that a busy loop makes late fires after what has arrived by then")
    @EventLoop
    func lateTimer() async throws {
        let events = Mailbox<String>()
        var ends: [CInt] = [-1, -1]
        try #require(pipe(&ends) == 0)
        let (reader, writer) = (ends[0], ends[1])
        defer { for end in ends { close(end) } }
        let poll = try LoopPoll(reader) { _ in
            var byte: UInt8 = 0
            if read(reader, &byte, 1) == 1 { events.put("arrived") }
        }
        defer { poll.stop() }
        poll.watch(.readable)
        let (once, repeated) = (LoopTimer { events.put("once") }, LoopTimer { events.put("again") })
        EventLoop.post {
            once.start(after: 10)
            repeated.start(after: 20, every: 5)
            _ = write(writer, "x", 1)
            // The loop is held up: both times pass, and nothing is read.
            let end = ContinuousClock.now + .milliseconds(150)
            while ContinuousClock.now < end {}
        }
        #expect(try await events.next() == "arrived")
        #expect(try await events.next() == "once")
        for _ in 0..<3 { #expect(try await events.next() == "again") }
        repeated.stop()
        #expect(!once.isRunning && !repeated.isRunning)
    }

    @Test("Work put off runs after the call that put it off, and before its bytes could be missed")
    @EventLoop
    func later() async throws {
        let events = Mailbox<Int>()
        EventLoop.later {
            events.put(2)
            EventLoop.later { events.put(3) }
        }
        events.put(1)
        for expected in 1...3 { #expect(try await events.next() == expected) }
    }

    @Test("Timers fire in the order of their times, and not before")
    @EventLoop
    func timers() async throws {
        let fired = Mailbox<Int>()
        let begin = EventLoop.now
        let late = LoopTimer { fired.put(30) }
        let early = LoopTimer { fired.put(10) }
        late.start(after: 30)
        early.start(after: 10)
        #expect(try await fired.next() == 10)
        #expect(try await fired.next() == 30)
        #expect(EventLoop.now >= begin + 30)
        #expect(!early.isRunning)
    }

    @Test("A repeating timer goes on until it is stopped")
    @EventLoop
    func repeating() async throws {
        let fired = Mailbox<Bool>()
        let timer = LoopTimer { fired.put(true) }
        timer.start(after: 1, every: 1)
        for _ in 0..<5 { _ = try await fired.next() }
        timer.stop()
        #expect(!timer.isRunning)
    }

    @Test("A timer that is let go of is gone with all it holds, on whatever thread that happens")
    @EventLoop
    func letGo() async throws {
        let gone = Mailbox<String>()
        var timer: LoopTimer? = LoopTimer { [probe = Probe { gone.put("on the loop") }] in _ = probe }
        timer?.start(after: 60_000)
        timer = nil
        #expect(try await gone.next() == "on the loop")
        let box = Mutex<LoopTimer?>(nil)
        box.withLock { box in
            box = LoopTimer { [probe = Probe { gone.put("elsewhere") }] in _ = probe }
            box?.start(after: 60_000)
        }
        await Task.detached { box.withLock { $0 = nil } }.value
        #expect(try await gone.next() == "elsewhere")
    }

    @Test("The loop's thread blocks every signal, and the process's handlers are left alone")
    @EventLoop
    func signals() async throws {
        var mask = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &mask)
        for signal in [SIGPIPE, SIGINT, SIGTERM, SIGCHLD, SIGHUP] { #expect(sigismember(&mask, signal) == 1) }
        for signal in [SIGPIPE, SIGCHLD] {
            var action = sigaction()
            sigaction(signal, nil, &action)
            #expect(action.__sigaction_handler.sa_handler == nil, "a handler was set for signal \(signal)")
        }
    }
}
