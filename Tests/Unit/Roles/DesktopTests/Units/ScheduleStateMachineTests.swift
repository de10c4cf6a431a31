import Testing

@testable import Desktop

@Suite("When scheduled pushes are looked for")
struct ScheduleStateMachineTests {
    @Test("once at the start, then when the first one's time comes")
    func ordinary() {
        var machine = ScheduleStateMachine()
        #expect(machine.changed() == .none)
        #expect(machine.start() == .look)
        #expect(machine.start() == .none)
        #expect(machine.found(0, next: 500, in: machine.look) == .arm(500))
        #expect(machine.changed() == .look)
        #expect(machine.found(2, next: 900, in: machine.look) == .none)
        // A clock that is set meanwhile changes nothing: there is a look behind them.
        #expect(machine.changed() == .none)
        #expect(machine.executed(hasFailed: false, now: 501) == .none)
        #expect(machine.executed(hasFailed: false, now: 501) == .look)
        #expect(machine.found(0, next: nil, in: machine.look) == .arm(nil))
    }

    @Test("again, if one is added while the table is read")
    func stale() {
        var machine = ScheduleStateMachine()
        _ = machine.start()
        let look = machine.look
        #expect(machine.changed() == .none)
        #expect(machine.found(0, next: nil, in: look) == .look)
        // What is left of the look before counts no more.
        #expect(machine.found(5, next: nil, in: look) == .none)
        #expect(machine.found(0, next: 7, in: machine.look) == .arm(7))
    }

    @Test("a store that fails is asked again later, and not at once")
    func failures() {
        var machine = ScheduleStateMachine()
        _ = machine.start()
        #expect(machine.failed(in: machine.look, now: 1_000) == .arm(1_000 + ScheduleStateMachine.retryInterval))
        #expect(machine.changed() == .look)
        #expect(machine.found(2, next: nil, in: machine.look) == .none)
        #expect(
            machine.executed(hasFailed: true, now: 5_000) == .arm(5_000 + ScheduleStateMachine.retryInterval))
        #expect(machine.executed(hasFailed: false, now: 5_000) == .none)
    }

    @Test("not after a stop, and what comes late is ignored")
    func stops() {
        var machine = ScheduleStateMachine()
        _ = machine.start()
        let look = machine.look
        machine.stop()
        #expect(machine.found(3, next: nil, in: look) == .none)
        #expect(machine.executed(hasFailed: false, now: 1) == .none)
        #expect(machine.start() == .look)
        #expect(machine.found(3, next: nil, in: look) == .none)
        #expect(machine.found(0, next: nil, in: machine.look) == .arm(nil))
    }
}
