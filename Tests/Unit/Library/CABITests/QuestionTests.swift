@testable import CABI
import CBellwire
import Foundation
import Hosting
import JSON
import Synchronization
import Testing

/// What the library asks of its host, in dispatch: each question has one answer, whatever happens.
struct QuestionTests {
    /// The answers that questions got, and how often each got one.
    private final class Answers: Sendable {
        private let got = Mutex<[[Int32?]]>([])

        func question(_ hook: HostHook = .willPresent, _ json: String = "{}") -> HostQuestion {
            let place = got.withLock {
                $0.append([])
                return $0.count - 1
            }
            return HostQuestion(hook, json: json) { answer in self.got.withLock { $0[place].append(answer) } }
        }

        var all: [[Int32?]] { got.withLock { $0 } }
    }

    /// A host's callback, what it was asked, and how often its user data was released.
    private final class Hook: Sendable {
        private let asked = Mutex<[String]>([])
        private let destroyed = Mutex(0)
        private let isRunning = Atomic(false)
        /// The user data went while the callback ran.
        private let diedInside = Atomic(false)
        let body: @Sendable (String) -> Int32

        init(_ body: @escaping @Sendable (String) -> Int32) { self.body = body }

        var seen: [String] { asked.withLock { $0 } }
        var released: Int { destroyed.withLock { $0 } }
        var died: Bool { diedInside.load(ordering: .sequentiallyConsistent) }

        func set(_ hook: HostHook, on queue: HostQueue) throws {
            try queue.setHook(
                hook,
                { pointer, json in
                    guard let pointer else { return -1 }
                    let own = Unmanaged<Hook>.fromOpaque(pointer).takeUnretainedValue()
                    let text = String(cString: json)
                    own.asked.withLock { $0.append(text) }
                    own.isRunning.store(true, ordering: .sequentiallyConsistent)
                    defer { own.isRunning.store(false, ordering: .sequentiallyConsistent) }
                    return own.body(text)
                },
                UserData(Unmanaged.passRetained(self).toOpaque()) { pointer in
                    guard let pointer else { return }
                    let own = Unmanaged<Hook>.fromOpaque(pointer).takeRetainedValue()
                    own.destroyed.withLock { $0 += 1 }
                    if own.isRunning.load(ordering: .sequentiallyConsistent) {
                        own.diedInside.store(true, ordering: .sequentiallyConsistent)
                    }
                })
        }
    }

    private let queue: HostQueue

    init() throws { queue = try HostQueue() }

    @Test("a question waits for dispatch, makes the descriptor readable, and gets what the callback returned")
    func answered() throws {
        let (answers, hook) = (Answers(), Hook { $0 == "{\"a\":1}" ? 7 : 0 })
        try hook.set(.willPresent, on: queue)
        queue.ask(answers.question(.willPresent, "{\"a\":1}"))
        #expect(answers.all == [[]])
        #expect(queue.isReadable)
        try queue.dispatch(from: nil)
        #expect(answers.all == [[7]])
        #expect(hook.seen == ["{\"a\":1}"])
        #expect(!queue.isReadable)
    }

    @Test("where nobody is registered the answer is nil at once, also for another hook", arguments: HostHook.allCases)
    func nobody(_ hook: HostHook) throws {
        let (answers, other) = (Answers(), Hook { _ in 1 })
        for kind in HostHook.allCases where kind != hook { try other.set(kind, on: queue) }
        queue.ask(answers.question(hook))
        #expect(answers.all == [[nil]])
        #expect(!queue.isReadable)
        #expect(other.seen.isEmpty)
    }

    @Test("questions come in turn with events and completions, in the order in which they were put")
    func order() throws {
        let order = Mutex<[String]>([])
        let host = Host { name in order.withLock { $0.append(name) } }
        let hook = Hook { json in
            order.withLock { $0.append(json) }
            return 0
        }
        try host.subscribe(queue)
        try hook.set(.present, on: queue)
        queue.post(HostEvent(.command, data: [:]))
        queue.ask(HostQuestion(.present, json: "first") { _ in })
        queue.post(HostEvent(.problem, data: [:]))
        queue.ask(HostQuestion(.present, json: "second") { _ in })
        try queue.dispatch(from: nil)
        #expect(order.withLock { $0 } == ["command", "first", "problem", "second"])
    }

    @Test("one that replaces another is asked what waits; the other one's user data is released once")
    func replaced() throws {
        let (answers, first, second) = (Answers(), Hook { _ in 1 }, Hook { _ in 2 })
        try first.set(.authorize, on: queue)
        queue.ask(answers.question(.authorize))
        try second.set(.authorize, on: queue)
        #expect(first.released == 1)
        try queue.dispatch(from: nil)
        #expect(answers.all == [[2]])
        #expect(second.released == 0)
        queue.close(Idle())
        #expect(second.released == 1)
        #expect(first.released == 1)
    }

    @Test("when it is taken away the questions that wait for it are answered nil at once; others are not")
    func takenAway() throws {
        let (answers, hook, other) = (Answers(), Hook { _ in 1 }, Hook { _ in 2 })
        try hook.set(.willPresent, on: queue)
        try other.set(.present, on: queue)
        queue.ask(answers.question(.willPresent))
        queue.ask(answers.question(.present))
        queue.ask(answers.question(.willPresent))
        try queue.setHook(.willPresent, nil, UserData(nil, nil))
        #expect(hook.released == 1)
        #expect(answers.all == [[nil], [], [nil]])
        try queue.dispatch(from: nil)
        #expect(answers.all == [[nil], [2], [nil]])
        #expect(hook.seen.isEmpty)
    }

    @Test("one that is replaced inside its own callback is released when that has returned")
    func replacedInside() throws {
        let (queue, answers) = (queue, Answers())
        let second = Hook { _ in 2 }
        let first = Hook { _ in
            try? second.set(.present, on: queue)
            return 1
        }
        try first.set(.present, on: queue)
        queue.ask(answers.question(.present))
        queue.ask(answers.question(.present))
        try queue.dispatch(from: nil)
        #expect(answers.all == [[1], [2]])
        #expect(first.released == 1)
        #expect(!first.died)
    }

    @Test("from another thread the replacing waits for the callback that runs", .timeLimit(.minutes(1)))
    func replacedBeside() throws {
        let (queue, answers) = (queue, Answers())
        let (entered, leave) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let first = Hook { _ in
            entered.signal()
            leave.wait()
            return 1
        }
        try first.set(.present, on: queue)
        queue.ask(answers.question(.present))
        let dispatching = Runner { try? queue.dispatch(from: nil) }
        entered.wait()
        let replacing = Runner { try? Hook { _ in 2 }.set(.present, on: queue) }
        usleep(20_000)
        #expect(first.released == 0)
        leave.signal()
        dispatching.join()
        replacing.join()
        #expect(first.released == 1)
        #expect(!first.died)
        #expect(answers.all == [[1]])
    }

    @Test("beyond 256 questions that wait the rest is answered nil; after a dispatch there is room again")
    func bound() throws {
        let (answers, hook) = (Answers(), Hook { _ in 5 })
        try hook.set(.present, on: queue)
        for _ in 0..<(HostQueue.questionLimit + 10) { queue.ask(answers.question(.present)) }
        #expect(answers.all.prefix(HostQueue.questionLimit).allSatisfy { $0.isEmpty })
        #expect(answers.all.suffix(10).allSatisfy { $0 == [nil] })
        try queue.dispatch(from: nil)
        #expect(answers.all.prefix(HostQueue.questionLimit).allSatisfy { $0 == [5] })
        queue.ask(answers.question(.present))
        try queue.dispatch(from: nil)
        #expect(answers.all.last == [5])
    }

    @Test("an overflow of events costs no question")
    func overflow() throws {
        let (answers, hook) = (Answers(), Hook { _ in 5 })
        try hook.set(.present, on: queue)
        queue.ask(answers.question(.present))
        for number in 0..<2_000 { queue.post(HostEvent(.command, data: ["number": .integer(Int64(number))])) }
        try queue.dispatch(from: nil)
        #expect(answers.all == [[5]])
    }

    @Test("a close answers nil to what waits, after the role has ended, and to everything after it")
    func closed() throws {
        final class Ending: Role {
            let sources: [any EventSource] = []
            let then: @Sendable () -> Void
            init(_ then: @escaping @Sendable () -> Void) { self.then = then }
            func shutDown(then: @escaping @Sendable () -> Void) {
                self.then()
                then()
            }
        }
        let (queue, answers, hook) = (queue, Answers(), Hook { _ in 5 })
        try hook.set(.present, on: queue)
        queue.ask(answers.question(.present))
        let before = Mutex<[[Int32?]]>([])
        queue.close(
            Ending {
                // What a role asks while it ends is answered too.
                queue.ask(answers.question(.present))
                before.withLock { $0 = answers.all }
            })
        #expect(before.withLock { $0 } == [[], [nil]])
        queue.ask(answers.question(.present))
        #expect(answers.all == [[nil], [nil], [nil]])
        #expect(hook.released == 1)
        #expect(hook.seen.isEmpty)
        #expect(throws: HostError.self) { try queue.setHook(.present, nil, UserData(nil, nil)) }
    }

    @Test("a close inside the callback: the question has its answer, the user data goes when the callback returned")
    func closedInside() throws {
        let (queue, answers) = (queue, Answers())
        let hook = Hook { _ in
            queue.close(Idle())
            return 3
        }
        try hook.set(.present, on: queue)
        queue.ask(answers.question(.present))
        queue.ask(answers.question(.present))
        #expect(throws: HostError.self) { try queue.dispatch(from: nil) }
        #expect(answers.all == [[3], [nil]])
        #expect(hook.released == 1)
        #expect(!hook.died)
    }

    @Test("registering at a closed handle fails, and releases the user data once")
    func registeringFails() throws {
        queue.close(Idle())
        let hook = Hook { _ in 0 }
        #expect(throws: HostError.self) { try hook.set(.present, on: queue) }
        #expect(hook.released == 1)
    }

    @Test(
        "asking, replacing, taking away and closing at once: one answer each, one release each", .timeLimit(.minutes(2))
    )
    func race() throws {
        for round in 0..<200 {
            let (queue, answers) = (try HostQueue(), Answers())
            let hooks = (0..<20).map { number in Hook { _ in Int32(number) } }
            try hooks[0].set(.present, on: queue)
            let asking = Runner { for _ in 0..<50 { queue.ask(answers.question(.present)) } }
            let registering = Runner {
                for hook in hooks.dropFirst() {
                    try? hook.set(.present, on: queue)
                    if round % 2 == 0 { try? queue.setHook(.present, nil, UserData(nil, nil)) }
                }
            }
            let dispatching = Runner { while (try? queue.dispatch(from: nil)) != nil { usleep(10) } }
            let early = round % 3 != 0 ? [registering] : []
            for runner in early { runner.join() }
            queue.close(Idle())
            for runner in [asking, dispatching] + (early.isEmpty ? [registering] : []) { runner.join() }
            try #require(answers.all.allSatisfy { $0.count == 1 })
            try #require(hooks.allSatisfy { $0.released == 1 })
        }
    }
}
