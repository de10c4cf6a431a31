import TestSupport
import Testing

@testable import SystemServices

@Suite("Banner queue: the order of banners, and how many calls are in progress")
struct BannerQueueTests {
    /// A server that answers one call after the other, each after the same time, and shows a limited number of banners.
    struct Server {
        let time: UInt64
        var capacity = Int.max
        var queue = BannerQueue()
        var now: UInt64 = 0
        /// In the order of arrival at the server, with the time of the answer.
        var calls: [(ticket: BannerQueue.Ticket, answerAt: UInt64)] = []
        var shown: [BannerQueue.Ticket] = []
        var shownAt: [BannerQueue.Ticket: UInt64] = [:]
        var critical: Set<BannerQueue.Ticket> = []
        var refusals = 0
        var largest = 0

        mutating func add(_ ticket: BannerQueue.Ticket, isCritical: Bool = false) {
            if isCritical { critical.insert(ticket) }
            perform(queue.add(ticket, isCritical: isCritical, now: now))
        }

        mutating func perform(_ actions: [BannerQueue.Action]) {
            for action in actions {
                switch action {
                case .send(let ticket):
                    calls.append((ticket, max(now, calls.last?.answerAt ?? 0) + time))
                    largest = max(largest, calls.count)
                case .makeRoom:
                    guard let oldest = shown.first(where: { !critical.contains($0) }) else { continue }
                    end(oldest)
                }
            }
        }

        mutating func end(_ ticket: BannerQueue.Ticket) {
            shown.removeAll { $0 == ticket }
            perform(queue.placeFreed(now: now))
        }

        /// The next answer or deadline. False = nothing is left to do.
        mutating func step() -> Bool {
            let deadline = queue.deadline
            guard let next = [calls.first?.answerAt, deadline].compactMap({ $0 }).min() else { return false }
            now = max(now, next)
            guard let call = calls.first, call.answerAt <= now else {
                perform(queue.deadlineReached(now: now))
                return true
            }
            calls.removeFirst()
            let isFull = shown.count >= capacity
            if isFull {
                refusals += 1
            } else {
                #expect(shownAt[call.ticket] == nil, "shown once")
                shown.append(call.ticket)
                shownAt[call.ticket] = now
            }
            perform(queue.answered(call.ticket, isFull: isFull, waitsAgain: isFull, now: now))
            return true
        }

        mutating func run(until end: UInt64 = .max) {
            while calls.first.map({ $0.answerAt <= end }) ?? (queue.deadline.map { $0 <= end } ?? false), step() {}
            if end != .max { now = max(now, end) }
        }
    }

    @Test("A critical banner behind 200 ordinary ones is shown within 0.3 s", arguments: [1, 16, 100] as [UInt64])
    func criticalFirst(time: UInt64) throws {
        var server = Server(time: time)
        for ticket in 1...200 { server.add(BannerQueue.Ticket(ticket)) }
        server.run(until: 20 * time)
        let begin = server.now
        server.add(500, isCritical: true)
        server.run()
        let shown = try #require(server.shownAt[500])
        #expect(shown - begin <= 300, "shown after \(shown - begin) ms")
        #expect(server.shown.count == 201 && server.shown.filter { $0 != 500 } == Array(1...200))
    }

    @Test("A server that takes 0.5 s a banner gets one call at a time, and each banner once")
    func slowServer() {
        var server = Server(time: 500)
        for ticket in 1...60 { server.add(BannerQueue.Ticket(ticket)) }
        server.run(until: 5_000)
        server.largest = 0
        server.run()
        #expect(server.largest == 1 && server.shown == Array(1...60))
    }

    @Test("A quick server gets several calls at a time, within the limit")
    func quickServer() {
        var server = Server(time: 2)
        for ticket in 1...100 { server.add(BannerQueue.Ticket(ticket)) }
        server.run()
        #expect(server.largest == BannerQueue.maximumCalls && server.shown == Array(1...100))
    }

    @Test("A full server: ordinary banners wait for a free place, in order, and are asked for rarely")
    func fullServer() {
        var server = Server(time: 5, capacity: 20)
        for ticket in 1...30 { server.add(BannerQueue.Ticket(ticket)) }
        server.run(until: 1_000)
        #expect(server.shown == Array(1...20))
        let refusals = server.refusals
        server.run(until: 60_000)
        #expect(server.refusals - refusals <= 13, "one try in five seconds")
        server.end(3)
        server.run(until: server.now + 20)
        #expect(server.shown.suffix(1) == [21] && server.shown.count == 20)
        for ticket in 4...12 { server.end(BannerQueue.Ticket(ticket)) }
        server.run(until: server.now + 1_000)
        #expect(server.shown.count == 20 && server.shown.suffix(9) == Array(22...30))
    }

    @Test("A critical banner takes the place of the oldest ordinary one at once; without one it waits")
    func criticalAtFullServer() throws {
        var server = Server(time: 5, capacity: 3)
        for ticket in 1...5 { server.add(BannerQueue.Ticket(ticket)) }
        server.run(until: 100)
        #expect(server.shown == [1, 2, 3])
        for ticket in 11...14 { server.add(BannerQueue.Ticket(ticket), isCritical: true) }
        let begin = server.now
        server.run(until: begin + 300)
        #expect(server.shown == [11, 12, 13])
        server.end(12)
        server.run(until: server.now + 20)
        #expect(server.shown == [11, 13, 14])
    }

    @Test("A server that has changed is not full, and banners taken out are not sent")
    func changes() {
        var queue = BannerQueue()
        #expect(queue.add(1, isCritical: false, now: 0) == [.send(1)])
        #expect(queue.answered(1, isFull: true, waitsAgain: true, now: 0).isEmpty)
        #expect(queue.deadline == BannerQueue.fullPause)
        #expect(queue.add(2, isCritical: false, now: 0).isEmpty)
        queue.remove(1)
        queue.serverChanged()
        #expect(queue.add(3, isCritical: true, now: 1) == [.send(3), .send(2)])
        #expect(queue.removeAll().isEmpty && queue.deadline == nil)
        // An answer that comes twice, or for an unknown banner.
        #expect(queue.answered(9, isFull: true, waitsAgain: true, now: 2).isEmpty)
    }

    @Test(
        "Random arrivals, answers and ends: each banner is shown once, and none is forgotten",
        arguments: 0..<20 as Range<UInt64>)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var server = Server(
            time: UInt64.random(in: 1...300, using: &random), capacity: Int.random(in: 1...30, using: &random))
        var added: BannerQueue.Ticket = 0
        for _ in 0..<300 {
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                added += 1
                server.add(added, isCritical: Bool.random(using: &random))
            case 1: if let ticket = server.shown.randomElement(using: &random) { server.end(ticket) }
            default: _ = server.step()
            }
        }
        while server.shownAt.count < Int(added) {
            if let ticket = server.shown.first, server.shown.count >= server.capacity { server.end(ticket) }
            guard server.step() else { break }
        }
        #expect(server.shownAt.count == Int(added))
    }
}
