import NATS
import Relay
import Transport

/// Peers at other relays whose contacts are here: whether each is online.
///
/// A relay that is killed says nothing of its peers, so each is asked for again and again.
@EventLoop
final class Contacts {
    /// Between two questions about a peer, in milliseconds.
    private static let interval: UInt64 = 60_000

    private let others: OtherRelays
    private weak var relay: Relay?
    private struct Watch {
        let subscription: UInt64
        /// How often it was said to be somewhere.
        var news = 0
    }

    private var watches: [[UInt8]: Watch] = [:]
    private var rounds: PacedRounds?

    init(_ others: OtherRelays, _ relay: Relay) {
        self.others = others
        self.relay = relay
        rounds = PacedRounds(every: Self.interval) { [weak self] name in self?.ask(about: name) }
    }

    func watch(_ name: [UInt8]) {
        guard watches[name] == nil else { return }
        let subscription = others.follow(name) { [weak self] told in
            switch told {
            case .here(_, let whereabouts):
                self?.watches[name]?.news += 1
                self?.relay?.seen(name, whereabouts)
            // Another relay may have it by now.
            case .left: self?.ask(about: name)
            case .frames, .kept, .ask, .claim, .holds, .compare: break
            }
        }
        guard let subscription else { return }
        watches[name] = Watch(subscription: subscription)
        rounds?.add(name)
        ask(about: name)
    }

    /// The connection to NATS is there again.
    func connected() {
        for name in watches.keys { rounds?.hurry(name) }
    }

    /// It has come here, or it has no contact here any more.
    func forget(_ name: [UInt8]) {
        guard let watch = watches.removeValue(forKey: name) else { return }
        others.stop(watch.subscription)
        rounds?.remove(name)
    }

    private func ask(about name: [UInt8]) {
        guard relay?.isWatched(name) == true else {
            relay?.seen(name, nil)
            return forget(name)
        }
        guard others.areReachable, let news = watches[name]?.news else { return }
        others.ask(.ask, about: name) { [weak self] reply in
            if reply.failure == .disconnected { return }
            if case .here(_, let whereabouts)? = reply.message(about: name) {
                self?.relay?.seen(name, whereabouts)
            } else if self?.watches[name]?.news == news {
                // Nothing newer has been said since the question.
                self?.relay?.seen(name, nil)
            }
        }
    }
}
