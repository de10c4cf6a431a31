@testable import CABI
import Foundation
import Hosting
import JSON
import Synchronization
import Testing

/// Several kinds of stored events: each waits for a subscription of its own name, and holds up no other.
struct SourceTests {
    private let queue: HostQueue
    private let received = Pushes(1...3)
    private let responses = Pushes(11...13, named: .notificationResponse)
    private let silent = Pushes(21...23, named: .notificationSilent)

    init() throws { queue = try HostQueue() }

    private var sources: [any EventSource] { [received, responses, silent] }

    private func rows(_ source: Pushes) -> Pushes.Rows { source.rows.withLock { $0 } }

    @Test("each source waits for its own name; what nobody takes stays untouched, and holds up nobody")
    func names() throws {
        let host = Host()
        for source in sources { queue.waits(source.name) }
        try host.subscribe(queue, .notificationResponse)
        try queue.dispatch(from: sources)
        #expect(host.seen.events == Array(repeating: "notification.response", count: 3))
        #expect(rows(responses).handed == [11, 12, 13])
        #expect(rows(received).taken == 0 && rows(silent).taken == 0)
        #expect(!queue.isReadable)
        try host.subscribe(queue, .notificationSilent)
        #expect(queue.isReadable)
        try queue.dispatch(from: sources)
        #expect(rows(silent).handed == [21, 22, 23])
        #expect(rows(received).taken == 0)
    }

    @Test("a subscription for all takes them all, in the order in which they said that they wait")
    func all() throws {
        let host = Host()
        for source in [silent, received, responses] { queue.waits(source.name) }
        try host.subscribe(queue)
        queue.post(HostEvent(.command, data: [:]))
        while queue.isReadable { try queue.dispatch(from: sources) }
        #expect(
            host.seen.events == Array(repeating: "notification.silent", count: 3)
                + Array(repeating: "notification.received", count: 3)
                + Array(repeating: "notification.response", count: 3) + ["command"])
    }

    @Test("one that the store does not give waits alone: the others come, and do not make it be asked again")
    func oneFails() throws {
        let host = Host()
        try host.subscribe(queue)
        responses.rows.withLock { $0.failures = 1 }
        for source in sources { queue.waits(source.name) }
        let error = #expect(throws: HostError.self) { try queue.dispatch(from: sources) }
        #expect(error?.code == .store)
        #expect(rows(received).handed.count == 3 && rows(silent).handed.count == 3)
        received.rows.withLock { $0.waiting = [4] }
        queue.waits(.notificationReceived)
        try queue.dispatch(from: sources)
        #expect(rows(received).handed == [1, 2, 3, 4])
        #expect(rows(responses).taken == 1)
        try queue.run(milliseconds: HostQueue.retryInterval + 50, from: sources)
        #expect(rows(responses).handed == [11, 12, 13])
    }

    @Test("what could not be marked comes again from its own source, and says so; the others' rows are left alone")
    func unmarked() throws {
        let host = Host()
        try host.subscribe(queue)
        responses.rows.withLock { $0.finishFailures = 1 }
        for source in sources { queue.waits(source.name) }
        #expect(throws: HostError.self) { try queue.dispatch(from: sources) }
        while queue.isReadable { try queue.dispatch(from: sources) }
        #expect(rows(responses).redelivered == [11, 12, 13])
        #expect(rows(received).redelivered.isEmpty && rows(silent).redelivered.isEmpty)
        #expect(host.seen.events.count == 12)
    }

    @Test("a close inside a callback marks the row in the source that it came from")
    func closedInside() throws {
        let (queue, sources) = (queue, sources)
        final class Three: Role {
            let sources: [any EventSource]
            init(_ sources: [any EventSource]) { self.sources = sources }
            func shutDown(then: @escaping @Sendable () -> Void) { then() }
        }
        let host = Host { _ in queue.close(Three(sources)) }
        try host.subscribe(queue, .notificationSilent)
        queue.waits(.notificationSilent)
        #expect(throws: HostError.self) { try queue.dispatch(from: sources) }
        #expect(rows(silent).handed == [21] && rows(silent).waiting == [22, 23])
        #expect(rows(received).handed.isEmpty)
    }

    @Test("what a dispatch hands over is marked once, after the last callback")
    func markedOnce() throws {
        let received = received
        let host = Host { _ in #expect(received.rows.withLock { $0.handed }.isEmpty) }
        try host.subscribe(queue)
        queue.waits(.notificationReceived)
        queue.post(HostEvent(.command, data: [:]))
        try queue.dispatch(from: sources)
        #expect(host.seen.events.count == 4)
        #expect(rows(received).handed == [1, 2, 3])
    }

    @Test("a name that no source of the role has is no harm")
    func unknown() throws {
        let host = Host()
        try host.subscribe(queue)
        queue.waits(.notificationSilent)
        try queue.dispatch(from: [received])
        #expect(host.seen.events.isEmpty)
        #expect(!queue.isReadable)
    }
}
