import NATS
import Transport

/// The other relays of the cluster, as far as an id concerns them.
@EventLoop
struct OtherRelays {
    /// A relay that does not answer within this time is as one that is not there, in milliseconds.
    static let answerTime: UInt64 = 500

    /// What an id's holder said, or why there was no answer.
    struct Reply {
        private let result: Result<NATSMessage, NATSError>

        fileprivate init(_ result: Result<NATSMessage, NATSError>) { self.result = result }

        /// `nil` = there was no answer.
        var payload: [UInt8]? { if case .success(let message) = result { message.payload } else { nil } }

        /// `nil` = there was none, or it is no such answer.
        var answer: ClusterAnswer? { payload.flatMap { ClusterAnswer.read($0) } }

        func message(about name: [UInt8]) -> ClusterMessage? {
            guard case (name, let message)? = payload.flatMap({ ClusterMessage.read($0) }) else { return nil }
            return message
        }

        var failure: NATSError.Code? { if case .failure(let error) = result { error.code } else { nil } }
    }

    private let client: NATSClient

    init(_ client: NATSClient) { self.client = client }

    var areReachable: Bool { client.isUp }
    /// What a message may have, in bytes.
    var maximumPayload: Int { client.maximumPayload }

    /// Asks the relay that holds the id. `then` is called once.
    ///
    /// Only its holder answers ``ClusterMessage/frames(_:)`` and ``ClusterMessage/ask``. If two relays do, as after a
    /// partition, they are told to compare, and one of them gives the id up.
    ///
    /// - Parameters:
    ///   - timeout: in milliseconds.
    ///   - late: an answer has come after that.
    func ask(
        _ message: ClusterMessage, about name: [UInt8], timeout: UInt64 = answerTime,
        late: (@EventLoop () -> Void)? = nil, then: @escaping @EventLoop (Reply) -> Void
    ) {
        let question = NATSMessage(subject: ClusterSubject.holder(of: name), payload: message.bytes(about: name))
        var withAnswer: (@EventLoop (NATSMessage) -> Void)?
        if let late { withAnswer = { _ in late() } }
        var second: (@EventLoop () -> Void)?
        switch message {
        case .frames, .ask:
            // It is kept for a while, unlike the message.
            second = { [weak client, subject = question.subject] in
                let compare = ClusterMessage.compare.bytes(about: name)
                try? client?.publish(NATSMessage(subject: subject, payload: compare))
            }
        case .kept, .claim, .holds, .here, .left, .compare: break
        }
        client.request(question, timeout: timeout, late: withAnswer, second: second) { result in then(Reply(result)) }
    }

    /// Tells all relays that follow the id. Nothing is sent while NATS is away: they ask once it is back.
    func tell(_ message: ClusterMessage, about name: [UInt8]) {
        let subject = ClusterSubject.status(of: name)
        try? client.publish(NATSMessage(subject: subject, payload: message.bytes(about: name)))
    }

    /// Calls the handler with what relays tell of the id. Returns what ``stop(_:)`` takes.
    func follow(_ name: [UInt8], _ handler: @escaping @EventLoop (ClusterMessage) -> Void) -> UInt64? {
        // The subject is one of ours, so it is valid.
        try? client.subscribe(ClusterSubject.status(of: name)) { message in
            guard case (name, let told)? = ClusterMessage.read(message.payload) else { return }
            handler(told)
        }
    }

    /// Calls the handler with what is for the holder of the id, or for a relay that wants to be that.
    func serve(_ name: [UInt8], _ handler: @escaping @EventLoop (NATSMessage) -> Void) -> UInt64? {
        try? client.subscribe(ClusterSubject.holder(of: name), handler)
    }

    func stop(_ subscription: UInt64) { client.unsubscribe(subscription) }

    /// Answers a question. A relay that asked without waiting for an answer gets none.
    func answer(_ question: NATSMessage, _ payload: [UInt8]) {
        if let reply = question.reply { try? client.publish(NATSMessage(subject: reply, payload: payload)) }
    }
}
