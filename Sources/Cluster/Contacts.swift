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
    private var subscriptions: [[UInt8]: UInt64] = [:]
    private var rounds: PacedRounds?

    init(_ client: NATSClient, _ relay: Relay) {
        self.client = client
        self.relay = relay
        rounds = PacedRounds(every: Self.interval) { [weak self] name in self?.ask(about: name) }
    }

    func watch(_ name: [UInt8]) {
        guard subscriptions[name] == nil else { return }
        let subscription = try? client.subscribe(ClusterSubject.status(of: name)) { [weak self] message in
            switch ClusterMessage.read(message.payload) {
            case (name, .here(_, let whereabouts))?: self?.relay?.seen(name, whereabouts)
            // Another relay may have it by now.
            case (name, .left)?: self?.ask(about: name)
            default: break
            }
        }
        // The subject is one of ours.
        guard let subscription else { return }
        subscriptions[name] = subscription
        rounds?.add(name)
        ask(about: name)
    }

    /// The connection to NATS is there again.
    func connected() {
        for name in subscriptions.keys { rounds?.hurry(name) }
    }

    /// It has come here, or nobody may hear of it any more.
    func forget(_ name: [UInt8]) {
        guard let subscription = subscriptions.removeValue(forKey: name) else { return }
        client.unsubscribe(subscription)
        rounds?.remove(name)
    }

    private func ask(about name: [UInt8]) {
        guard relay?.isWatched(name) == true else {
            relay?.seen(name, nil)
            return forget(name)
        }
        guard client.isUp else { return }
        let question = NATSMessage(
            subject: ClusterSubject.holder(of: name), payload: ClusterMessage.ask.bytes(about: name))
        client.request(question, timeout: ClusterNode.answerTime) { [weak self] result in
            if case .failure(let error) = result, error.code == .disconnected { return }
            let answer = (try? result.get()).flatMap { ClusterMessage.read($0.payload) }
            guard case (name, .here(_, let whereabouts))? = answer else {
                self?.relay?.seen(name, nil)
                return
            }
            self?.relay?.seen(name, whereabouts)
        }
    }
}
