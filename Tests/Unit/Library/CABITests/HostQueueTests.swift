@testable import CABI
import CBellwire
import CLinux
import Foundation
import Glibc
import Hosting
import JSON
import Synchronization
import Testing

struct HostQueueTests {
    private let queue: HostQueue

    init() throws { queue = try HostQueue() }

    private func connection(_ number: Int) -> HostEvent {
        HostEvent(.connectionChanged, desktop: "desktop-\(number)", data: [:])
    }

    // MARK: Callbacks that never return

    @Test("after a callback that was left by longjmp the next dispatch works; one inside a callback is still refused")
    func unwound() throws {
        let host = Host()
        let number = try host.subscribe(queue)
        func leave(at frame: UInt) {
            queue.state.update { state in
                state.dispatcher = Dispatcher()
                _ = state.registrations.begin(number)
                state.call = CallbackCall(frame: frame, question: nil)
            }
        }
        queue.post(HostEvent(.command, data: [:]))
        leave(at: .max)
        #expect(throws: HostError.self) { try queue.dispatch(from: nil) }
        // Far below this frame, in the same stack; then at a place that is not in this stack.
        let deeper = linux_stack() - 65_536
        leave(at: 1)
        #expect(throws: HostError.self) { try queue.dispatch(from: nil) }
        leave(at: deeper)
        #expect(queue.state.withLock { $0.dispatcher != nil })
        try queue.dispatch(from: nil)
        #expect(host.seen.events == ["command"])
        leave(at: deeper)
        try queue.unsubscribe(number)
        #expect(host.seen.destroyed == 1)
    }

    @Test("a thread that ends inside a callback leaves the handle to the others, and destroy runs")
    func threadEnds() throws {
        let queue = queue
        let host = Host { _ in pthread_exit(nil) }
        let number = try host.subscribe(queue)
        queue.post(HostEvent(.command, data: [:]))
        queue.post(HostEvent(.command, data: [:]))
        for count in 1...2 {
            var thread = pthread_t()
            let start = Unmanaged.passUnretained(queue).toOpaque()
            let code = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    try? Unmanaged<HostQueue>.fromOpaque(argument).takeUnretainedValue().dispatch(from: nil)
                    return nil
                }, start)
            #expect(code == 0)
            pthread_join(thread, nil)
            #expect(host.seen.events.count == count)
        }
        try queue.unsubscribe(number)
        #expect(host.seen.destroyed == 1)
        try queue.dispatch(from: nil)
    }

    @Test("subscriptions to one event cost each other nothing: ten times as many cost about ten times as much")
    func manySubscriptions() throws {
        func cost(_ count: Int) throws -> Double {
            let queue = try HostQueue()
            let host = Host()
            var numbers: [bw_subscription] = []
            for _ in 0..<count { numbers.append(try host.subscribe(queue, .command)) }
            for _ in 0..<4 { queue.post(HostEvent(.command, data: [:])) }
            let before = clock()
            try queue.dispatch(from: nil)
            let time = Double(clock() - before)
            #expect(host.seen.events.count == count * 4)
            for number in numbers.reversed() { try queue.unsubscribe(number) }
            return time
        }
        _ = try cost(100)
        let small = try cost(2_000)
        #expect(try cost(20_000) < small * 30)
    }

    @Test("every order of subscribing and ending gives the callers in the order in which they came")
    func order() throws {
        var registrations = Registrations()
        let host = Host()
        let names: [HostEvent.Name?] = [.command, nil, .problem, .command, nil, .command]
        var made = names.map { registrations.subscribe($0, host.callback, host.userData()) }
        #expect(registrations.numbers(for: .command) == [made[0], made[1], made[3], made[4], made[5]])
        #expect(registrations.numbers(for: .problem) == [made[1], made[2], made[4]])
        for index in [3, 1] { registrations.unsubscribe(made[index])?.release() }
        #expect(registrations.numbers(for: .command) == [made[0], made[4], made[5]])
        #expect(registrations.unsubscribe(made[3]) == nil && registrations.wants(.settingsChanged))
        registrations.unsubscribe(made[4])?.release()
        #expect(!registrations.wants(.settingsChanged) && registrations.wants(.problem))
        made.append(registrations.subscribe(nil, host.callback, host.userData()))
        #expect(registrations.numbers(for: .problem) == [made[2], made[6]])
        for userData in registrations.removeAll() { userData.release() }
        #expect(host.seen.destroyed == 7 && registrations.numbers(for: .command) == [])
    }

    // MARK: The descriptor

    @Test("the descriptor is readable when something waits, and not after it was dispatched")
    func readiness() throws {
        let host = Host()
        try host.subscribe(queue)
        try queue.dispatch(from: nil)
        #expect(!queue.isReadable)
        queue.post(HostEvent(.command, data: [:]))
        #expect(queue.isReadable)
        try queue.dispatch(from: nil)
        #expect(!queue.isReadable)
        #expect(host.seen.events == ["command"])
    }

    @Test("what a callback causes is for the next dispatch, and the descriptor says so")
    func causedInside() throws {
        let queue = queue
        let isFirst = Atomic(true)
        // A host that holds its queue would never be released.
        let host = Host { [weak queue] _ in
            if isFirst.exchange(false, ordering: .relaxed) { queue?.post(HostEvent(.problem, data: [:])) }
        }
        try host.subscribe(queue)
        queue.post(HostEvent(.command, data: [:]))
        try queue.dispatch(from: nil)
        #expect(host.seen.events == ["command"])
        #expect(queue.isReadable)
        try queue.dispatch(from: nil)
        #expect(host.seen.events == ["command", "problem"])
        #expect(!queue.isReadable)
    }

    @Test("pushes that nobody wants leave the descriptor alone; a subscription for them makes it readable")
    func pushesWithoutSubscription() throws {
        let pushes = Pushes(1...3)
        queue.pushesWait()
        try queue.dispatch(from: pushes)
        #expect(!queue.isReadable)
        #expect(pushes.rows.withLock { $0.taken } == 0)
        let host = Host()
        try host.subscribe(queue, .notificationReceived)
        #expect(queue.isReadable)
        try queue.dispatch(from: pushes)
        #expect(host.seen.events.count == 3)
        #expect(pushes.rows.withLock { $0.handed } == [1, 2, 3])
        #expect(!queue.isReadable)
    }

    // MARK: Bounds

    @Test("state events that wait are replaced by newer ones of the same desktop")
    func coalescing() throws {
        let host = Host()
        try host.subscribe(queue)
        for count in 1...3 { queue.post(HostEvent(.unreadChanged, data: ["unread": .integer(Int64(count))])) }
        queue.post(connection(1))
        queue.post(connection(2))
        queue.post(connection(1))
        try queue.dispatch(from: nil)
        #expect(host.seen.events == ["unread.changed", "connection.changed", "connection.changed"])
        #expect(host.seen.texts.first?.contains("\"unread\":3") == true)
        #expect(host.seen.texts.last?.contains("desktop-1") == true)
    }

    @Test("beyond 1,024 events the oldest command gives way, and a problem tells how many")
    func overflow() throws {
        let host = Host()
        try host.subscribe(queue)
        queue.post(HostEvent(.unreadChanged, data: ["unread": 1]))
        for number in 1...1_030 { queue.post(HostEvent(.command, data: ["number": .integer(Int64(number))])) }
        try queue.dispatch(from: nil)
        let texts = host.seen.texts
        #expect(texts.count == 1_025)
        #expect(texts[0].contains("events_dropped") && texts[0].contains("7 events"))
        #expect(texts[1].contains("unread.changed"))
        #expect(texts[2].contains("\"number\":8"))
    }

    @Test("an overflow of state events never costs a completion")
    func overflowOfStates() throws {
        let (host, other) = (Host(), Host())
        try host.subscribe(queue)
        try queue.call(other.completion) { $0(.success(.done)) }
        for number in 0...HostQueue.capacity { queue.post(connection(number)) }
        try queue.dispatch(from: nil)
        #expect(other.seen.statuses == [BW_OK.rawValue])
        #expect(host.seen.events.count == HostQueue.capacity + 1)
    }

    @Test("completions that nobody dispatches count as calls under way")
    func completionsAreBounded() throws {
        let host = Host()
        for _ in 0..<HostQueue.callLimit { try queue.call(host.completion) { $0(.success(.done)) } }
        let error = #expect(throws: HostError.self) { try queue.call(host.completion) { $0(.success(.done)) } }
        #expect(error?.code == .limit)
        #expect(host.seen.destroyed == 1)
        // One that waits by itself needs no room for a completion.
        #expect(try queue.call { $0(.success(HostReply(7))) }.value == 7)
        try queue.dispatch(from: nil)
        #expect(host.seen.statuses.count == HostQueue.callLimit)
        try queue.call(host.completion) { $0(.success(.done)) }
    }

    // MARK: Pushes

    @Test("pushes come in batches, each exactly once, in order")
    func batches() throws {
        let pushes = Pushes(1...200)
        let host = Host()
        try host.subscribe(queue)
        queue.pushesWait()
        while queue.isReadable { try queue.dispatch(from: pushes) }
        #expect(host.seen.texts.count == 200)
        #expect(pushes.rows.withLock { $0.handed } == Array(1...200))
    }

    @Test("an update is its own event for who takes it, and a new push for who does not: it holds up nobody")
    func updates() throws {
        for name in [nil, .notificationReceived] as [HostEvent.Name?] {
            let queue = try HostQueue()
            let host = Host()
            let pushes = Pushes(1...3, updates: [2])
            try host.subscribe(queue, name)
            queue.pushesWait()
            try queue.dispatch(from: pushes)
            let middle = name == nil ? "notification.updated" : "notification.received"
            #expect(host.seen.events == ["notification.received", middle, "notification.received"])
            #expect(pushes.rows.withLock { $0.handed } == [1, 2, 3])
        }
    }

    @Test("a push whose subscription ended before it could be called waits for the next one", .timeLimit(.minutes(1)))
    func unsubscribedMeanwhile() throws {
        for _ in 0..<300 {
            let queue = try HostQueue()
            let pushes = Pushes(1...64)
            let host = Host()
            let number = try host.subscribe(queue)
            queue.pushesWait()
            let other = Runner { try? queue.unsubscribe(number) }
            try queue.dispatch(from: pushes)
            other.join()
            let (handed, waiting) = pushes.rows.withLock { ($0.handed, $0.waiting) }
            try #require(handed.count == host.seen.texts.count)
            try #require(handed + waiting == Array(1...64))
            #expect(host.seen.destroyed == 1)
        }
    }

    @Test("a push that a close overtook was not handed over", .timeLimit(.minutes(1)))
    func closedMeanwhile() throws {
        for _ in 0..<300 {
            let queue = try HostQueue()
            let pushes = Pushes(1...64)
            let host = Host()
            try host.subscribe(queue)
            queue.pushesWait()
            let other = Runner { queue.close(Idle(pushes)) }
            try? queue.dispatch(from: pushes)
            other.join()
            let (handed, waiting) = pushes.rows.withLock { ($0.handed, $0.waiting) }
            try #require(handed.count == host.seen.texts.count)
            try #require(handed + waiting == Array(1...64))
            #expect(host.seen.destroyed == 1)
        }
    }

    @Test("a close inside a callback marks that push and leaves the others")
    func closedInside() throws {
        let queue = queue
        let pushes = Pushes(1...5)
        let host = Host { _ in queue.close(Idle(pushes)) }
        try host.subscribe(queue)
        queue.pushesWait()
        #expect(throws: HostError.self) { try queue.dispatch(from: pushes) }
        #expect(host.seen.texts.count == 1)
        #expect(host.seen.destroyed == 1)
        #expect(pushes.rows.withLock { $0.handed } == [1])
        #expect(pushes.rows.withLock { $0.waiting } == [2, 3, 4, 5])
    }

    @Test("when the store fails the dispatch says so, does not spin, and asks again later")
    func storeFails() throws {
        let pushes = Pushes(1...2)
        pushes.rows.withLock { $0.failures = 1 }
        let host = Host()
        try host.subscribe(queue)
        queue.pushesWait()
        let error = #expect(throws: HostError.self) { try queue.dispatch(from: pushes) }
        #expect(error?.code == .store)
        #expect(!queue.isReadable)
        try queue.dispatch(from: pushes)
        #expect(pushes.rows.withLock { $0.taken } == 1)
        try queue.run(milliseconds: HostQueue.retryInterval + 50, from: pushes)
        #expect(host.seen.events.count == 2)
    }

    @Test("pushes that could not be marked as handed over come again with the next dispatch, and say so")
    func unmarkedPushes() throws {
        let (queue, host, pushes) = (try HostQueue(), Host(), Pushes(1...3))
        pushes.rows.withLock { $0.finishFailures = 1 }
        try host.subscribe(queue)
        queue.pushesWait()
        #expect(throws: HostError.self) { try queue.dispatch(from: pushes) }
        #expect(host.seen.events.count == 3)
        #expect(queue.isReadable)
        try queue.dispatch(from: pushes)
        #expect(host.seen.events.count == 6)
        #expect(host.seen.texts.suffix(3).allSatisfy { $0.contains("\"redelivered\":true") })
        #expect(pushes.rows.withLock { $0.handed } == [1, 2, 3])
        try queue.dispatch(from: pushes)
        #expect(host.seen.events.count == 6)
        queue.close(Idle())
    }

    @Test("a threaded handle tells a store that fails by a problem event", .timeLimit(.minutes(1)))
    func threadedStoreFails() throws {
        let pushes = Pushes(1...1)
        pushes.rows.withLock { $0.failures = 1 }
        let told = DispatchSemaphore(value: 0)
        let host = Host { if $0 == "problem" { told.signal() } }
        try queue.startThread(from: pushes)
        try host.subscribe(queue)
        queue.pushesWait()
        #expect(told.wait(timeout: .now() + 20) == .success)
        #expect(host.seen.texts.contains { $0.contains("the disk is full") })
        queue.close(Idle(pushes))
        #expect(host.seen.destroyed == 1)
    }

    // MARK: Problems

    @Test("a problem from before the first subscription is kept for it")
    func unheardProblem() throws {
        queue.post(HostEvent(.problem, data: ["code": "database_damaged"]))
        queue.post(HostEvent(.command, data: [:]))
        try queue.dispatch(from: nil)
        #expect(!queue.isReadable)
        let (other, host) = (Host(), Host())
        try other.subscribe(queue, .command)
        try host.subscribe(queue)
        #expect(queue.isReadable)
        try queue.dispatch(from: nil)
        #expect(other.seen.events.isEmpty)
        #expect(host.seen.events == ["problem"])
    }

    @Test("of the problems that nobody hears a few are kept")
    func unheardProblemsAreBounded() throws {
        for _ in 0..<100 {
            queue.post(HostEvent(.problem, data: [:]))
            try queue.dispatch(from: nil)
        }
        let host = Host()
        try host.subscribe(queue)
        try queue.dispatch(from: nil)
        #expect(host.seen.events.count == HostQueue.unheardCapacity)
    }
}
