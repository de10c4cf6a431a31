import Foundation
import TestSupport
import Testing
import Transport

@testable import HTTPClient

@Suite("Many fetches at once", .serialized)
@EventLoop
struct QueueTests {
    private func make(_ timeout: UInt64 = 5_000) -> (Fetcher, Names) {
        let names = Names()
        var options = FetchOptions()
        options.timeout = timeout
        return (Fetcher(options) { _, then in names.ask(then) }, names)
    }

    private func turn() async throws {
        let done = Mailbox<Bool>()
        EventLoop.post { done.put(true) }
        _ = try await done.next()
    }

    @Test("Four run, the others wait for their turn in order")
    func four() async throws {
        let (fetcher, names) = make()
        let ended = Mailbox<Int>()
        for number in 0..<6 { fetcher.fetch("https://a\(number).test/") { _ in ended.put(number) } }
        try await turn()
        #expect(names.count == 4)
        names.answer()
        #expect(try await ended.next() == 0)
        try await turn()
        #expect(names.count == 4)
        for _ in 0..<4 { names.answer() }
        try await turn()
        names.answer()
        #expect(ended.drain() == [1, 2, 3, 4, 5])
        #expect(fetcher.count == 0)
    }

    @Test("More than 64 that wait are refused, and not inside the call")
    func full() async throws {
        let (fetcher, names) = make()
        let ended = Mailbox<FetchError.Code>()
        for _ in 0..<69 {
            fetcher.fetch("https://a.test/") { result in
                if case .failure(let error) = result { ended.put(error.code) }
            }
        }
        #expect(ended.isEmpty)
        #expect(try await ended.next() == .tooMany)
        #expect(ended.isEmpty && fetcher.count == 68)
        fetcher.close()
        while names.count > 0 { names.answer() }
        try await turn()
        #expect(ended.isEmpty && fetcher.count == 0)
    }

    @Test("A look-up that hangs keeps its place: names that never answer cannot use up the threads")
    func hanging() async throws {
        let (fetcher, names) = make(30)
        let ended = Mailbox<FetchError.Code>()
        for _ in 0..<5 {
            fetcher.fetch("https://a.test/") { result in
                if case .failure(let error) = result { ended.put(error.code) }
            }
        }
        for _ in 0..<4 { #expect(try await ended.next() == .timeout) }
        try await turn()
        #expect(names.count == 4 && fetcher.count == 5)
        // One comes back after all: nobody waits for it any more but the fifth.
        names.answer()
        try await turn()
        #expect(names.count == 4 && fetcher.count == 4)
        #expect(try await ended.next() == .timeout)
        fetcher.close()
    }

    @Test("Four look-ups that hang hold up another host for a second, and none of them gets a second one")
    func slow() async throws {
        let (fetcher, names) = make(60_000)
        for number in 0..<4 { fetcher.fetch("https://hangs\(number).test/") { _ in } }
        fetcher.fetch("https://hangs0.test/again") { _ in }
        let ended = Mailbox<Bool>()
        fetcher.fetch("https://answers.test/") { _ in ended.put(true) }
        try await turn()
        #expect(names.count == 4)
        try await until("the other host is looked up") { names.count == 5 }
        names.answerNewest()
        #expect(try await ended.next())
        #expect(names.count == 4)
        fetcher.close()
        while names.count > 0 { names.answer() }
    }

    @Test("What is called off is never heard of, waiting or running, and gives its place away")
    func cancelling() async throws {
        let (fetcher, names) = make()
        let ended = Mailbox<Int>()
        let fetches = (0..<6).map { number in fetcher.fetch("https://a.test/") { _ in ended.put(number) } }
        fetches[4].cancel()
        try await turn()
        fetches[0].cancel()
        fetches[0].cancel()
        #expect(fetcher.count == 5)
        names.answer()
        try await turn()
        #expect(names.count == 4)
        for _ in 0..<4 { names.answer() }
        try await turn()
        #expect(ended.drain() == [1, 2, 3, 5])
        #expect(fetcher.count == 0)
    }

    @Test("A fetch that is called off in the middle of a transfer closes its connection")
    func cancellingTransfers() async throws {
        let server = try await WebServer.get()
        let before = descriptors()
        let fetcher = Fetcher(server.options)
        let ended = Mailbox<Bool>()
        let fetch = fetcher.fetch(server.url("stalled")) { _ in ended.put(true) }
        _ = try await server.line(containing: "request")
        #expect(descriptors() > before)
        fetch.cancel()
        try await turn()
        #expect(descriptors() <= before)
        #expect(ended.isEmpty && fetcher.count == 0)
    }

    @Test("A fetcher that is let go takes its fetches with it")
    func lettingGo() async throws {
        let server = try await WebServer.get()
        let before = descriptors()
        let ended = Mailbox<Bool>()
        var fetcher: Fetcher? = Fetcher(server.options)
        fetcher?.fetch(server.url("stalled")) { _ in ended.put(true) }
        _ = try await server.line(containing: "request")
        fetcher = nil
        try await turn()
        try await turn()
        #expect(descriptors() <= before)
        #expect(ended.isEmpty)
    }

    @Test("Twenty at once come whole, and nothing of them stays: no thread, no descriptor")
    func many() async throws {
        let server = try await WebServer.get()
        let fetcher = Fetcher(server.options)
        _ = try await fetched(server.url("png"), by: fetcher)
        let (descriptorsBefore, threadsBefore) = (descriptors(), threads())
        let ended = Mailbox<Bool>()
        for _ in 0..<20 {
            fetcher.fetch(server.url("size/300000")) { result in ended.put((try? result.get())?.bytes.count == 300_000)
            }
        }
        var most = 0
        for _ in 0..<20 {
            #expect(try await ended.next())
            most = max(most, threads())
        }
        try await turn()
        #expect(most <= threadsBefore)
        #expect(descriptors() <= descriptorsBefore)
        #expect(fetcher.count == 0)
    }

    private func descriptors() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
    }

    private func threads() -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count) ?? 0
    }
}

/// Look-ups that wait for the test to answer them.
@EventLoop
final class Names {
    private var waiting: [@Sendable @EventLoop (Result<[[UInt8]], TransportError>) -> Void] = []

    var count: Int { waiting.count }

    func ask(_ then: @escaping @Sendable @EventLoop (Result<[[UInt8]], TransportError>) -> Void) {
        waiting.append(then)
    }

    /// Answers the oldest: there is no such name.
    func answer() { waiting.removeFirst()(.success([])) }
    func answerNewest() { waiting.removeLast()(.success([])) }
}
