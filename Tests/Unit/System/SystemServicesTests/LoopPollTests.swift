import Foundation
import TestSupport
import Testing
import Transport

@testable import SystemServices

@Suite("Watching a descriptor")
@EventLoop
struct LoopPollTests {
    struct Ends {
        var read: CInt = -1
        var write: CInt = -1

        init() throws {
            var ends: [CInt] = [-1, -1]
            guard pipe(&ends) == 0 else { throw POSIXError(.EMFILE) }
            (read, write) = (ends[0], ends[1])
        }
    }

    @Test("It tells what can be read for as long as it is not, and nothing while it pauses")
    func reading() async throws {
        let ends = try Ends()
        let events = Mailbox<LoopPoll.Events>()
        let poll = try LoopPoll(ends.read) { events.put($0) }
        _ = write(ends.write, "x", 1)
        #expect(events.isEmpty)
        poll.watch(.readable)
        #expect(try await events.next() == .readable)
        #expect(try await events.next() == .readable)
        poll.watch([])
        _ = events.drain()
        let later = Mailbox<Bool>()
        let timer = LoopTimer { later.put(true) }
        timer.start(after: 20)
        _ = try await later.next()
        #expect(events.isEmpty)
        poll.stop()
        poll.watch(.readable)
        close(ends.read)
        close(ends.write)
    }

    @Test("It tells what can be written, and that nobody reads any more")
    func writing() async throws {
        let ends = try Ends()
        let events = Mailbox<LoopPoll.Events>()
        let poll = try LoopPoll(ends.write) { events.put($0) }
        poll.watch(.writable)
        #expect(try await events.next() == .writable)
        close(ends.read)
        _ = try await events.next { $0 == .failed }
        poll.stop()
        close(ends.write)
    }

    @Test("What cannot be polled is refused")
    func files() throws {
        let file = open("/etc/passwd", O_RDONLY)
        #expect(throws: TransportError.self) { try LoopPoll(file) { _ in } }
        close(file)
        #expect(throws: TransportError.self) { try LoopPoll(-1) { _ in } }
    }
}
