import Hosting
import Pairing
import Transport
import Wire

/// One flow of pairing on the loop: its machine, who waits for what it comes to, and the timers of both.
@EventLoop
final class PairingFlow<Machine> {
    var machine: Machine
    /// The machine's own: what it asked for with its last `startTimer`.
    let timer: LoopTimer
    private var waiters = Waiters()
    private let giveUp: @EventLoop () -> Void
    private lazy var deadline = LoopTimer { [weak self] in self?.expire() }

    /// - Parameters:
    ///   - timedOut: the time of the machine's timer is over.
    ///   - giveUp: nobody waits any more; the machine is to end with `timeout`.
    init(
        _ machine: Machine, timedOut: @escaping @EventLoop () -> Void,
        giveUp: @escaping @EventLoop () -> Void
    ) {
        self.machine = machine
        timer = LoopTimer(timedOut)
        self.giveUp = giveUp
    }

    func wait(_ milliseconds: Int64, _ then: @escaping Then) {
        waiters.add(until: EventLoop.now &+ UInt64(clamping: milliseconds), then)
        deadline.start(at: waiters.nextDeadline)
    }

    /// Tells those who wait what it came to.
    func end(_ outcome: Result<String, HostError>) {
        deadline.stop()
        for waiter in waiters.takeAll() { waiter(outcome) }
    }

    func stopTimers() {
        timer.stop()
        deadline.stop()
    }

    /// Whose time is over goes; when nobody waits any more the flow itself ends.
    private func expire() {
        let expired = waiters.takeExpired(now: EventLoop.now)
        deadline.start(at: waiters.nextDeadline)
        // Before they hear of it: a flow that ends by this is reported as such, and may not be joined any more.
        if waiters.isEmpty { giveUp() }
        for waiter in expired { waiter(.failure(HostError(PairingFailure(.timeout)))) }
    }
}

/// The flows by their names, as hosts say them.
package enum DevicePairingFlow: String, Sendable, CaseIterable {
    case scan, show, code
}

/// What desktops sent while their pairing was on its way to the disk: they may be faster than it.
struct UnstoredDesktops {
    private static let limit = 64

    private var held: [PeerID: [(Incoming, String)]] = [:]

    mutating func begin(_ peer: PeerID) { held[peer] = held[peer] ?? [] }

    /// `false` unless this peer's pairing is being stored.
    mutating func hold(_ incoming: Incoming, over url: String) -> Bool {
        guard let count = held[incoming.from]?.count else { return false }
        if count < Self.limit { held[incoming.from]?.append((incoming, url)) }
        return true
    }

    mutating func end(_ peer: PeerID) -> [(Incoming, String)] { held.removeValue(forKey: peer) ?? [] }
}
