import Testing

@testable import Transport

@Suite("Happy eyeballs")
struct DialStateMachineTests {
    @Test("Families take turns, beginning with the preferred one")
    func order() {
        let machine = DialStateMachine(families: [true, true, true, false, false])
        #expect(machine.order == [0, 3, 1, 4, 2])
        #expect(DialStateMachine(families: [false, true]).order == [0, 1])
    }

    @Test("The next attempt starts when one fails or the delay is over, and it gives up after the last")
    func attempts() {
        var machine = DialStateMachine(families: [true, false, false])
        #expect(machine.begin() == .attempt(index: 0))
        #expect(machine.delayPassed() == .attempt(index: 1))
        #expect(machine.attemptFailed() == .attempt(index: 2))
        #expect(machine.delayPassed() == .wait)
        #expect(machine.attemptFailed() == .wait)
        #expect(machine.attemptFailed() == .giveUp)
    }

    @Test("No address at all gives up at once")
    func none() {
        var machine = DialStateMachine(families: [])
        #expect(machine.begin() == .giveUp)
    }
}
