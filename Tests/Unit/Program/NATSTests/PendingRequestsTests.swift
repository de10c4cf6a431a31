import Testing
import Transport

@testable import NATS

/// Requests and the time of their answers, with a clock of the test's.
@Suite struct PendingRequestsTests {
    @EventLoop
    final class Log {
        var all: [String] = []

        func then(_ name: String) -> PendingRequests.Completion {
            { result in
                switch result {
                case .success(let message): self.all.append("\(name) \(message.subject)")
                case .failure(let error): self.all.append("\(name) \(error.code)")
                }
            }
        }
    }

    private func expire(_ requests: inout PendingRequests, at now: UInt64) -> Int {
        requests.takeExpired(at: now).count
    }

    @Test @EventLoop func eachEndsAtItsOwnTimeAndAnswersEndThemEarlier() throws {
        var requests = PendingRequests(prefix: "in", limit: 10)
        let log = Log()
        #expect(requests.nextDeadline == nil && requests.isEmpty)
        let long = try requests.add(at: 0, timeout: 1_000, log.then("long"))
        let short = try requests.add(at: 100, timeout: 50, log.then("short"))
        let answered = try requests.add(at: 100, timeout: 50, log.then("answered"))
        #expect(Set([long, short, answered]).count == 3 && requests.nextDeadline == 150)
        requests.take(answered)?(.success(NATSMessage(subject: answered)))
        #expect(log.all == ["answered \(answered)"])
        #expect(requests.take(answered) == nil && requests.take("in.77") == nil && requests.take("out.1") == nil)
        #expect(expire(&requests, at: 149) == 0)
        #expect(expire(&requests, at: 150) == 1)
        #expect(requests.take(short) == nil && requests.nextDeadline == 1_000)
        #expect(expire(&requests, at: 1_000) == 1)
        #expect(requests.isEmpty && requests.nextDeadline == nil)
    }

    @Test @EventLoop func aLateAnswerIsPassedOnOnceAndInItsTime() throws {
        var requests = PendingRequests(prefix: "in", limit: 10)
        let log = Log()
        func add() throws -> String {
            let late = PendingRequests.Late(within: 60) { log.all.append("late \($0.subject)") }
            return try requests.add(at: 0, timeout: 10, late: late, log.then("in time"))
        }
        let (first, second) = (try add(), try add())
        for then in requests.takeExpired(at: 10) { then(.failure(NATSError(.timeout, ""))) }
        #expect(log.all == ["in time timeout", "in time timeout"] && requests.nextDeadline == 70)
        requests.take(first)?(.success(NATSMessage(subject: "x")))
        #expect(log.all.last == "late x" && requests.take(first) == nil)
        #expect(expire(&requests, at: 70) == 0, "it failed long ago")
        #expect(requests.take(second) == nil && requests.isEmpty)
    }

    @Test @EventLoop func aSecondAnswerIsReportedOnceAndUntilTheTimeout() throws {
        var requests = PendingRequests(prefix: "in", limit: 2)
        let log = Log()
        func add(_ name: String) throws -> String {
            try requests.add(at: 0, timeout: 10, second: { log.all.append("second \(name)") }, log.then(name))
        }
        func answer(_ subject: String) { requests.take(subject)?(.success(NATSMessage(subject: "x"))) }
        let (one, two) = (try add("one"), try add("two"))
        #expect(throws: NATSError.self) { _ = try add("too many") }
        answer(one)
        // Requests with an answer don't count for the limit.
        let three = try add("three")
        for subject in [one, one, two] { answer(subject) }
        #expect(log.all == ["one x", "second one", "two x"])
        for then in requests.takeExpired(at: 10) { then(.failure(NATSError(.timeout, ""))) }
        for subject in [one, two, three] { answer(subject) }
        #expect(log.all == ["one x", "second one", "two x", "three timeout"])
        #expect(requests.isEmpty && requests.nextDeadline == nil)
    }

    @Test @EventLoop func aRequestThatWasNotSentIsForgotten() throws {
        var requests = PendingRequests(prefix: "in", limit: 1)
        let log = Log()
        for _ in 0..<3 { requests.remove(try requests.add(at: 0, timeout: 10, second: {}, log.then(""))) }
        #expect(requests.isEmpty && expire(&requests, at: 10) == 0 && log.all.isEmpty)
    }

    @Test @EventLoop func oneTooManyIsRefusedAndTheOthersCanBeEnded() throws {
        var requests = PendingRequests(prefix: "in", limit: 3)
        let log = Log()
        for number in 0..<3 as Range<UInt64> {
            _ = try requests.add(at: number, timeout: 10 - number, log.then("\(number)"))
        }
        #expect { try requests.add(at: 4, timeout: 1, log.then("")) } throws: {
            ($0 as? NATSError)?.code == .overloaded
        }
        for then in requests.takeAll() { then(.failure(NATSError(.disconnected, ""))) }
        #expect(log.all == (0..<3).map { "\($0) disconnected" })
        #expect(requests.isEmpty && requests.nextDeadline == nil)
    }

    /// A hundred thousand that no relay answers: each look costs what has ended, not what waits.
    @Test @EventLoop func manyThatWaitDoNotSlowTheirEndDown() throws {
        var requests = PendingRequests(prefix: "in", limit: 100_000)
        let log = Log()
        for number in 0..<100_000 as Range<UInt64> {
            _ = try requests.add(at: number, timeout: 500_000, log.then(""))
        }
        var (ended, wrong) = (0, 0)
        for now in 500_000..<600_000 as Range<UInt64> {
            ended += expire(&requests, at: now)
            if requests.nextDeadline != (now < 599_999 ? now + 1 : nil) { wrong += 1 }
        }
        #expect(ended == 100_000 && wrong == 0)
    }
}
