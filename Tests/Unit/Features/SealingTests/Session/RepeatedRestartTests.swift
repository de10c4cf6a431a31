import JSON
import Testing

@testable import Sealing

/// A desktop that is restarted again and again while frames of its old sessions are under way (WireSessions, "Limits").
@Suite struct RepeatedRestartTests {
    private let push: JSONObject = ["type": "push"]

    /// A start of the desktop: it has a push to send, and gets acknowledgements of the start before.
    private func restart(_ bench: SessionBench) throws -> [SessionStateMachine.Action] {
        let late = (0..<20).compactMap { _ in bench.device.seal(["type": "ack"]).frame }
        try bench.restartDesktop()
        var requests = bench.desktop.seal(push).actions
        for frame in late {
            requests += bench.desktop.open(frame.json).actions
            bench.wait(1)
        }
        return requests
    }

    @Test("a desktop that is restarted four times in a burst of acknowledgements gets a session each time")
    func fourRestarts() throws {
        let bench = try SessionBench()
        try bench.connect()
        for _ in 0..<4 {
            bench.wait(100)
            let requests = try restart(bench)
            #expect(requests == [.send(.request)])
            try bench.run(fromDesktop: requests)
            #expect(try bench.desktopSends(push))
        }
    }

    @Test("a fifth restart gets its session when the device may begin one, although nobody asks again")
    func fifthRestart() throws {
        let bench = try SessionBench()
        try bench.connect()
        for _ in 0..<4 { try bench.run(fromDesktop: restart(bench)) }
        try bench.run(fromDesktop: restart(bench))
        #expect(!bench.desktop.machine.hasSession)
        let due = try #require(bench.device.machine.deadline)
        #expect(due <= bench.device.now + 5_000)
        bench.wait(due - bench.device.now)
        try bench.run(fromDevice: bench.device.deadlineReached())
        #expect(try bench.desktopSends(push))
        // Nothing is made up for twice.
        bench.wait(5_000)
        #expect(bench.device.deadlineReached().isEmpty && bench.desktop.deadlineReached().isEmpty)
    }

    @Test("a request that comes too soon for the desktop leaves as soon as it may, and not after a session has begun")
    func lateRequest() throws {
        for isAnswered in [false, true] {
            let bench = try SessionBench()
            for _ in 0..<4 { #expect(bench.desktop.seal(push).actions == [.send(.request)]) }
            #expect(bench.desktop.seal(push).actions.isEmpty)
            #expect(bench.desktop.machine.deadline == bench.desktop.now + 5_000)
            if isAnswered { try bench.connect() }
            bench.wait(4_999)
            #expect(bench.desktop.deadlineReached().isEmpty)
            bench.wait(1)
            #expect(bench.desktop.deadlineReached() == (isAnswered ? [] : [.send(.request)]))
        }
    }

    @Test("a desktop that ends in the middle of a handshake is followed by one that gets step 1 within half a second")
    func lostInHandshake() throws {
        let bench = try SessionBench()
        try bench.connect()
        // Step 1 goes to a start that has ended.
        let first = try bench.device.receive(HandshakeFrame.request.json)
        #expect(first.count == 1)
        bench.wait(100)
        try bench.restartDesktop()
        try bench.run(fromDesktop: bench.desktop.seal(push).actions)
        if !bench.desktop.machine.hasSession {
            let due = try #require(bench.device.machine.deadline)
            #expect(due <= bench.device.now + 500)
            bench.wait(due - bench.device.now)
            #expect(bench.device.deadlineReached() == first)
            try bench.run(fromDevice: first)
        }
        #expect(try bench.desktopSends(push))
    }

    @Test("what is made up for counts: a flood causes four at once and then one in five seconds")
    func flood() throws {
        let bench = try SessionBench()
        try bench.connect()
        var sent = 0
        for _ in 0..<60_000 {
            bench.device.now += 1
            sent += try bench.device.receive(HandshakeFrame.request.json).count
            if let due = bench.device.machine.deadline, due <= bench.device.now {
                sent += bench.device.deadlineReached().count
            }
        }
        // Among them the repetitions of a step 1 that nobody answers.
        #expect(sent <= 20)
    }
}
