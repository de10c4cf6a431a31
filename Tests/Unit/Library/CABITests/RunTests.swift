@testable import CABI
import CBellwire
import Foundation
import Hosting
import JSON
import Synchronization
import Testing

struct RunTests {
    @Test("a quit before run ends that run, and only that one")
    func quitBefore() throws {
        let queue = try HostQueue()
        queue.quit()
        try queue.run(milliseconds: nil, from: nil)
        let begin = ContinuousClock.now
        try queue.run(milliseconds: 50, from: nil)
        #expect(ContinuousClock.now - begin >= .milliseconds(40))
    }

    @Test("a quit inside a callback ends the run", .timeLimit(.minutes(1)))
    func quitInside() throws {
        let queue = try HostQueue()
        let host = Host { [weak queue] _ in queue?.quit() }
        try host.subscribe(queue)
        queue.post(HostEvent(.command, data: [:]))
        try queue.run(milliseconds: nil, from: nil)
        #expect(host.seen.events == ["command"])
    }

    @Test("a quit is never lost, whenever it comes", .timeLimit(.minutes(1)))
    func quitRaces() throws {
        for _ in 0..<300 {
            let queue = try HostQueue()
            let other = Runner { queue.quit() }
            queue.post(HostEvent(.command, data: [:]))
            try queue.run(milliseconds: nil, from: nil)
            other.join()
        }
    }

    @Test("run inside a callback is busy at once, and does not wait for events first", .timeLimit(.minutes(1)))
    func runInside() throws {
        let queue = try HostQueue()
        let code = Mutex<HostError.Code?>(nil)
        let host = Host { [weak queue] _ in
            do throws(HostError) { try queue?.run(milliseconds: 50_000, from: nil) } catch {
                code.withLock { $0 = error.code }
            }
        }
        try host.subscribe(queue)
        queue.post(HostEvent(.command, data: [:]))
        try queue.dispatch(from: nil)
        #expect(code.withLock { $0 } == .busy)
    }

    @Test("run of a threaded handle is busy at once", .timeLimit(.minutes(1)))
    func runThreaded() throws {
        let queue = try HostQueue()
        try queue.startThread(from: nil)
        let error = #expect(throws: HostError.self) { try queue.run(milliseconds: 30_000, from: nil) }
        #expect(error?.code == .busy)
        queue.close(Idle())
    }

    @Test("run with 0 ms dispatches what waits")
    func runZero() throws {
        let queue = try HostQueue()
        let host = Host()
        try host.subscribe(queue)
        queue.post(HostEvent(.command, data: [:]))
        try queue.run(milliseconds: 0, from: nil)
        #expect(host.seen.events == ["command"])
    }
}
