import Testing

@testable import Transport

@Suite("Keepalive")
struct KeepaliveStateMachineTests {
    @Test("Pings come each interval while pongs do")
    func answered() {
        var machine = KeepaliveStateMachine(interval: 25_000, timeout: 10_000)
        #expect(machine.firstWait == 25_000)
        #expect(machine.tick(now: 25_000, isMoving: false) == .ping(thenWait: 10_000))
        #expect(machine.pongReceived(now: 25_100) == .wait(24_900))
        #expect(machine.pongReceived(now: 25_200) == nil)
        #expect(machine.tick(now: 50_000, isMoving: false) == .ping(thenWait: 10_000))
    }

    @Test("A missing pong ends it, unless bytes are still moving")
    func missing() {
        var machine = KeepaliveStateMachine(interval: 25_000, timeout: 10_000)
        _ = machine.tick(now: 25_000, isMoving: false)
        #expect(machine.tick(now: 35_000, isMoving: true) == .wait(10_000))
        for look in 0..<3 as Range<UInt64> {
            #expect(machine.tick(now: 45_000 + look, isMoving: false) == .wait(1))
        }
        #expect(machine.tick(now: 45_003, isMoving: false) == .end)
    }

    @Test("A pong that waited with the kernel while the machine slept still counts")
    func overdue() {
        var machine = KeepaliveStateMachine(interval: 25_000, timeout: 10_000)
        _ = machine.tick(now: 25_000, isMoving: false)
        #expect(machine.tick(now: 3_600_000, isMoving: false) == .wait(1))
        #expect(machine.pongReceived(now: 3_600_000) == .wait(1))
        #expect(machine.tick(now: 3_600_001, isMoving: false) == .ping(thenWait: 10_000))
    }

    @Test("A pong that the same process still has to write, when it was held up, counts as well")
    func heldUp() {
        var machine = KeepaliveStateMachine(interval: 25_000, timeout: 10_000)
        _ = machine.tick(now: 25_000, isMoving: false)
        // The other end reads the ping after this one, and its pong is there after the next.
        #expect(machine.tick(now: 40_000, isMoving: false) == .wait(1))
        #expect(machine.tick(now: 55_000, isMoving: false) == .wait(1))
        #expect(machine.pongReceived(now: 55_001) == .wait(1))
    }

    @Test("After bytes have moved, the kernel is looked at as often as before them")
    func movedAgain() {
        var machine = KeepaliveStateMachine(interval: 25_000, timeout: 10_000)
        _ = machine.tick(now: 25_000, isMoving: false)
        for time: UInt64 in [35_000, 35_001, 35_002] { #expect(machine.tick(now: time, isMoving: false) == .wait(1)) }
        #expect(machine.tick(now: 35_003, isMoving: true) == .wait(10_000))
        for time: UInt64 in [60_000, 75_000, 90_000] { #expect(machine.tick(now: time, isMoving: false) == .wait(1)) }
        #expect(machine.tick(now: 105_000, isMoving: false) == .end)
    }

    @Test("An interval of 0 never pings")
    func never() {
        #expect(KeepaliveStateMachine(interval: 0, timeout: 10_000).firstWait == nil)
    }

    @Test("A pong later than the interval asks for the next ping at once")
    func latePong() {
        var machine = KeepaliveStateMachine(interval: 100, timeout: 10_000)
        _ = machine.tick(now: 100, isMoving: false)
        #expect(machine.pongReceived(now: 5_000) == .wait(1))
    }
}
