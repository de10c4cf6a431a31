import NATS
import Relay
import Transport

/// Peers at other relays whom somebody here may hear of: whether each is online.
///
/// A relay that is killed says nothing of its peers, so each is asked for again and again.
@EventLoop
final class Contacts {
    /// Between two questions about a peer, in milliseconds.
    private static let interval: UInt64 = 60_000

    private let client: NATSClient
    private weak var relay: Relay?
    private struct Watch {
        let subscription: UInt64
        /// How often it was said to be somewhere.
        var news = 0
    }

    private var watches: [[UInt8]: Watch] = [:]
    private var rounds: PacedRounds?

    init(_ client: NATSClient, _ relay: Relay) {
        self.client = client
        self.relay = relay
        rounds = PacedRounds(every: Self.interval) { [weak self] name in self?.ask(about: name) }
    }

    func watch(_ name: [UInt8]) {
        guard watches[name] == nil else { return }
        let subscription = try? client.subscribe(ClusterSubject.status(of: name)) { [weak self] message in
            switch ClusterMessage.read(message.payload) {
            case (name, .here(_, let whereabouts))?:
                self?.watches[name]?.news += 1
                self?.relay?.seen(name, whereabouts)
            // Another relay may have it by now.
            case (name, .left)?: self?.ask(about: name)
            default: break
            }
        }
        // The subject is one of ours.
        guard let subscription else { return }
        watches[name] = Watch(subscription: subscription)
        rounds?.add(name)
        ask(about: name)
    }

    /// The connection to NATS is there again.
    func connected() {
        for name in watches.keys { rounds?.hurry(name) }
    }

    /// It has come here, or nobody may hear of it any more.
    func forget(_ name: [UInt8]) {
        guard let watch = watches.removeValue(forKey: name) else { return }
        client.unsubscribe(watch.subscription)
        rounds?.remove(name)
    }

    private func ask(about name: [UInt8]) {
        guard relay?.isWatched(name) == true else {
            relay?.seen(name, nil)
            return forget(name)
        }
        guard client.isUp, let news = watches[name]?.news else { return }
        let question = NATSMessage(
            subject: ClusterSubject.holder(of: name), payload: ClusterMessage.ask.bytes(about: name))
        client.request(question, timeout: ClusterNode.answerTime) { [weak self] result in
            if case .failure(let error) = result, error.code == .disconnected { return }
            let answer = (try? result.get()).flatMap { ClusterMessage.read($0.payload) }
            if case (name, .here(_, let whereabouts))? = answer {
                self?.relay?.seen(name, whereabouts)
            } else if self?.watches[name]?.news == news {
                // Nothing newer has been said since the question.
                self?.relay?.seen(name, nil)
            }
        }
    }
}
