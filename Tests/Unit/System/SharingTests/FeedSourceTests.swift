import Hosting
import JSON
import Synchronization
import Testing

@testable import Sharing

/// A program's own cursor: over what it has in memory as the holder, or over what the holder gives it.
@Suite struct FeedSourceTests {
    /// Events 1 to 9 of the store; the program has had those through `handed`.
    private final class Memory: LocalFeed {
        struct State {
            var isInUse = false
            var isClosed = false
            var handed: Int64 = 0
            var dropped: Int64 = 0
        }

        let name = HostEvent.Name.notificationReceived
        let state = Mutex(State())

        func begin(as application: String, _ marks: FeedMarks) {
            state.withLock { ($0.isInUse, $0.handed) = (true, marks.handed) }
        }

        var isInUse: Bool { state.withLock { $0.isInUse } }

        func take(limit: Int) throws(HostError) -> [WaitingEvent] {
            let (isClosed, handed) = state.withLock { ($0.isClosed, $0.handed) }
            guard !isClosed else { throw .closed }
            return FeedSourceTests.events(after: handed, limit: limit)
        }

        func takeDropped() throws(HostError) -> Int64 {
            state.withLock { state in
                defer { state.dropped = 0 }
                return state.dropped
            }
        }

        func finish(handed: [Int64], untouched: [Int64]) throws(HostError) {
            let isClosed = state.withLock { state in
                if let last = handed.max() { state.handed = max(state.handed, last) }
                return state.isClosed
            }
            guard !isClosed else { throw .closed }
        }

        func restore(untouched: [Int64]) throws(HostError) {}
    }

    private final class Backend: FeedBackend {
        struct State {
            var isHolder = true
            var handed: Int64 = 2
            var takes = 0
            var finishes = 0
            var dropped: Int64 = 0
        }

        let memory = Memory()
        let state = Mutex(State())

        func handoverPath(of source: HostEvent.Name) -> String { "/nonexistent/handed" }

        func local(_ source: HostEvent.Name) -> (any LocalFeed)? {
            state.withLock { $0.isHolder } && memory.isInUse ? memory : nil
        }

        func take(_ source: HostEvent.Name, limit: Int, asCopy: Bool) throws(HostError) -> FeedBatch {
            let (isHolder, handed) = state.withLock { state in
                state.takes += 1
                return (state.isHolder, state.handed)
            }
            let marks = FeedMarks(slot: 1, handed: handed, offered: handed + 1)
            guard isHolder else {
                return FeedBatch(FeedSourceTests.events(after: handed, limit: limit), begins: .init(marks: marks))
            }
            memory.begin(as: "a", marks)
            return FeedBatch(begins: .init(marks: marks))
        }

        func finish(_ source: HostEvent.Name, through row: Int64, asCopy: Bool) throws(HostError) {
            state.withLock { ($0.finishes, $0.handed) = ($0.finishes + 1, max($0.handed, row)) }
        }

        func tellDropped(_ count: Int64) { state.withLock { $0.dropped += count } }
    }

    private static func events(after row: Int64, limit: Int) -> [WaitingEvent] {
        (row + 1..<10).prefix(limit).map { WaitingEvent(row: $0, event: HostEvent(.notificationReceived, data: [:])) }
    }

    @Test("the holder's own program asks once where it was; after that it takes and marks in memory, without the loop")
    func holder() throws {
        let backend = Backend()
        let source = FeedSource(.notificationReceived, backend)
        let first = try source.take(limit: 3)
        #expect(first.map(\.row) == [3, 4, 5])
        #expect(first.map { $0.event.data["redelivered"] != nil } == [true, false, false], "3 may have been seen")
        source.willHandOver(3)
        source.willHandOver(4)
        try source.finish(handed: [3, 4], untouched: [5])
        #expect(try source.take(limit: 9).map(\.row) == [5, 6, 7, 8, 9])
        #expect(backend.state.withLock { $0.takes } == 1)
        #expect(backend.state.withLock { $0.finishes } == 0)
        #expect(source.handedByName == 4 && source.seen == 4)

        backend.memory.state.withLock { $0.dropped = 7 }
        _ = try source.take(limit: 1)
        #expect(backend.state.withLock { $0.dropped } == 7)
    }

    @Test("a program whose role another one takes over goes on behind what it was given")
    func handsOver() throws {
        let backend = Backend()
        let source = FeedSource(.notificationReceived, backend)
        let rows = try source.take(limit: 3).map(\.row)
        // The store is closed in the middle of the dispatch.
        backend.memory.state.withLock { $0.isClosed = true }
        try source.finish(handed: Array(rows.prefix(2)), untouched: Array(rows.dropFirst(2)))
        #expect(backend.state.withLock { $0.handed } == 4)
        backend.state.withLock { $0.isHolder = false }
        #expect(try source.take(limit: 2).map(\.row) == [5, 6])
        // The new holder has not heard of the mark.
        backend.state.withLock { $0.handed = 2 }
        #expect(try source.take(limit: 4).map(\.row) == [5, 6])
    }
}
