@testable import CABI
import CBellwire
import Foundation
import Hosting
import JSON
import Synchronization
import Testing

struct CloseTests {
    @Test("a completion comes once, when its outcome and the close meet", .timeLimit(.minutes(1)))
    func outcomeMeetsClose() throws {
        for _ in 0..<500 {
            let queue = try HostQueue()
            let host = Host()
            let resolve = Mutex<Then?>(nil)
            try queue.call(host.completion) { then in resolve.withLock { $0 = then } }
            let other = Runner { resolve.withLock { $0 }?(.success(.done)) }
            queue.close(Idle())
            other.join()
            let seen = host.seen
            try #require(seen.statuses.count == 1)
            try #require([BW_OK.rawValue, BW_E_CLOSED.rawValue].contains(seen.statuses[0]))
            try #require(seen.destroyed == 1)
        }
    }

    @Test("a role that fails its calls while it shuts down does not change what they end with")
    func roleSaysOtherwise() throws {
        final class Talkative: Role {
            let sources: [any EventSource] = []
            let resolve: @Sendable () -> Void

            init(_ resolve: @escaping @Sendable () -> Void) { self.resolve = resolve }

            func shutDown(then: @escaping @Sendable () -> Void) {
                resolve()
                then()
            }
        }
        let queue = try HostQueue()
        let host = Host()
        let resolve = Mutex<Then?>(nil)
        try queue.call(host.completion) { then in resolve.withLock { $0 = then } }
        queue.close(Talkative { resolve.withLock { $0 }?(.failure(HostError(.pairing, "cancelled"))) })
        #expect(host.seen.statuses == [BW_E_CLOSED.rawValue])
        #expect(throws: HostError.self) { try queue.call(host.completion) { $0(.success(.done)) } }
    }

    @Test("a completion whose outcome had come keeps it")
    func outcomeBeforeClose() throws {
        let queue = try HostQueue()
        let host = Host()
        try queue.call(host.completion) { $0(.success(.done)) }
        queue.close(Idle())
        #expect(host.seen.statuses == [BW_OK.rawValue])
        #expect(host.seen.destroyed == 1)
    }

    @Test("the close ends every run, on however many threads", .timeLimit(.minutes(1)))
    func closeEndsRuns() throws {
        for _ in 0..<100 {
            let queue = try HostQueue()
            let codes = Mutex<[HostError.Code]>([])
            let runners = (0..<2).map { _ in
                Runner {
                    while true {
                        do throws(HostError) { try queue.run(milliseconds: nil, from: nil) } catch {
                            // The other one dispatches just now.
                            if error.code == .busy { continue }
                            codes.withLock { $0.append(error.code) }
                            return
                        }
                    }
                }
            }
            queue.post(HostEvent(.command, data: [:]))
            queue.close(Idle())
            for runner in runners { runner.join() }
            #expect(codes.withLock { $0 } == [.closed, .closed])
        }
    }

    @Test("a call that waits ends with the close, and nothing is left of the queue")
    func nothingIsLeft() throws {
        weak var left: HostQueue?
        do {
            let queue = try HostQueue()
            left = queue
            let begun = DispatchSemaphore(value: 0)
            let code = Mutex<HostError.Code?>(nil)
            let waiting = Runner {
                do throws(HostError) { _ = try queue.call { _ in begun.signal() } } catch {
                    code.withLock { $0 = error.code }
                }
            }
            begun.wait()
            queue.close(Idle())
            waiting.join()
            #expect(code.withLock { $0 } == .closed)
        }
        for _ in 0..<200 where left != nil { usleep(10_000) }
        #expect(left == nil)
    }
}
