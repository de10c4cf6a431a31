import NATS
import Relay
import Transport

/// The frames that this relay keeps for absent peers, as the other relays come to have those: each goes out, in order, as
/// soon as its peer has registered anywhere.
@EventLoop
final class KeptFrames {
    /// What a relay has to write the frames to its peer's connection, in milliseconds.
    private static let writeTime: UInt64 = 10_000
    /// Between two looks at whether a peer has come without being heard of, in milliseconds.
    static let retryInterval: UInt64 = 60_000

    private struct Wait {
        let subscription: UInt64
        var isSending = false
        /// More was kept, or the peer came, while frames were being sent.
        var isCalled = false
    }

    private let others: OtherRelays
    private weak var relay: Relay?
    private var waits: [[UInt8]: Wait] = [:]
    private var rounds: PacedRounds?

    init(_ others: OtherRelays, _ relay: Relay) {
        self.others = others
        self.relay = relay
        rounds = PacedRounds(every: Self.retryInterval) { [weak self] name in self?.send(for: name) }
    }

    /// So many peers are waited for.
    var count: Int { waits.count }

    /// Something is kept for it.
    func wait(for name: [UInt8]) {
        if waits[name] == nil {
            let subscription = others.follow(name) { [weak self] told in
                if case .here = told { self?.send(for: name) }
            }
            guard let subscription else { return }
            waits[name] = Wait(subscription: subscription)
            rounds?.add(name)
        }
        send(for: name)
    }

    /// The connection to NATS is there again, or for the first time.
    func connected() {
        for name in relay?.waiting ?? [] where waits[name] == nil { wait(for: name) }
        for name in waits.keys { rounds?.hurry(name) }
    }

    /// Nothing is kept for it any more, or it has come here.
    func forget(_ name: [UInt8]) {
        guard let wait = waits.removeValue(forKey: name) else { return }
        others.stop(wait.subscription)
        rounds?.remove(name)
    }

    private func send(for name: [UInt8]) {
        guard let wait = waits[name], others.areReachable else { return }
        guard !wait.isSending else {
            waits[name]?.isCalled = true
            return
        }
        waits[name]?.isSending = true
        waits[name]?.isCalled = false
        others.ask(.ask, about: name) { [weak self] reply in
            if case .here(let isProved, _)? = reply.message(about: name) {
                self?.deliver(to: name, isProved: isProved)
            } else {
                self?.ended(for: name)
            }
        }
    }

    private func deliver(to name: [UInt8], isProved: Bool) {
        guard let taken = relay?.takeKept(for: name, isProved: isProved) else { return ended(for: name) }
        pass(taken.frames[...], of: taken.delivery, to: name, written: [])
    }

    /// One after the other: if one doesn't get there, those behind it wait.
    private func pass(_ frames: ArraySlice<Relay.Kept>, of delivery: UInt64, to name: [UInt8], written: Set<Int64>) {
        guard let frame = frames.first else {
            relay?.keptEnded(for: name, delivery, written: written)
            return ended(for: name)
        }
        others.ask(.kept(frame), about: name, timeout: Self.writeTime) { [weak self] reply in
            guard let self else { return }
            if reply.answer == .taken {
                return pass(frames.dropFirst(), of: delivery, to: name, written: written.union([frame.sequence]))
            }
            // One that is too large for the NATS server waits until its peer comes here.
            if reply.failure == .tooLarge {
                return pass(frames.dropFirst(), of: delivery, to: name, written: written)
            }
            relay?.keptEnded(for: name, delivery, written: written)
            ended(for: name)
        }
    }

    private func ended(for name: [UInt8]) {
        guard let wait = waits[name] else { return }
        waits[name]?.isSending = false
        guard relay?.isKeeping(for: name) == true else { return forget(name) }
        if wait.isCalled { send(for: name) }
    }
}
