@testable import CABI
import CBellwire
import Foundation
import Hosting
import JSON
import Synchronization
import Testing

/// The host's own events: in the same queue, on the same thread, in the same order.
struct TopicTests {
    private let queue: HostQueue

    init() throws { queue = try HostQueue() }

    private func topic(_ name: String) throws -> HostTopic { try #require(HostTopic(name)) }

    @Test("a topic reaches its own subscriptions and those for all, and no other")
    func delivery() throws {
        let (all, own, other, received) = (Host(), Host(), Host(), Host())
        try all.subscribe(queue)
        try own.subscribe(queue, .topic(try topic("host.sync.done")))
        try other.subscribe(queue, .topic(try topic("host.sync")))
        try received.subscribe(queue, .notificationReceived)
        try queue.post(try topic("host.sync.done"), ["count": 3])
        #expect(queue.isReadable)
        try queue.dispatch(from: nil)
        #expect(all.seen.events == ["host.sync.done"])
        #expect(all.seen.texts == [#"{"event":"host.sync.done","data":{"count":3}}"#])
        #expect(own.seen.texts == all.seen.texts)
        #expect(other.seen.events.isEmpty && received.seen.events.isEmpty)
    }

    @Test("topics come in turn with the library's events, and none takes the place of another")
    func order() throws {
        let host = Host()
        try host.subscribe(queue)
        try queue.post(try topic("host.a"), [:])
        queue.post(HostEvent(.command, data: [:]))
        try queue.post(try topic("host.a"), [:])
        try queue.post(try topic("host.b"), [:])
        try queue.dispatch(from: nil)
        #expect(host.seen.events == ["host.a", "command", "host.a", "host.b"])
    }

    @Test("one posted inside a callback comes with the next dispatch")
    func inside() throws {
        let queue = queue
        let isFirst = Atomic(true)
        let topic = try topic("host.again")
        let host = Host { [weak queue] _ in
            if isFirst.exchange(false, ordering: .relaxed) { try? queue?.post(topic, [:]) }
        }
        try host.subscribe(queue)
        try queue.post(topic, [:])
        try queue.dispatch(from: nil)
        #expect(host.seen.events.count == 1)
        #expect(queue.isReadable)
        try queue.dispatch(from: nil)
        #expect(host.seen.events.count == 2)
    }

    @Test("a full queue refuses a topic and loses no event for it; after a close it is refused too")
    func bound() throws {
        let host = Host()
        try host.subscribe(queue)
        for number in 0..<HostQueue.capacity { try queue.post(try topic("host.n\(number)"), [:]) }
        let error = #expect(throws: HostError.self) { try queue.post(HostTopic("host.more")!, [:]) }
        #expect(error?.code == .limit)
        try queue.dispatch(from: nil)
        #expect(host.seen.events.count == HostQueue.capacity)
        try queue.post(try topic("host.more"), [:])
        queue.close(Idle())
        let closed = #expect(throws: HostError.self) { try queue.post(HostTopic("host.more")!, [:]) }
        #expect(closed?.code == .closed)
    }
}
