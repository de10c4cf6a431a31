import Transport

/// Requests that wait for their answers. All answers come to one wildcard subscription; the last token of the subject says
/// which request it belongs to.
struct PendingRequests {
    typealias Completion = @EventLoop (Result<NATSMessage, NATSError>) -> Void

    private struct Request {
        /// `nil` = it has been called; the request only waits for a late answer.
        var then: Completion?
        let late: Late?
    }

    private struct Expiry {
        let number: UInt64
        let deadline: UInt64
    }

    /// What becomes of an answer that comes when its request has already failed.
    struct Late {
        /// How long after the deadline, in milliseconds.
        let within: UInt64
        let then: @EventLoop (NATSMessage) -> Void
    }

    /// Where answers go: `PREFIX.NUMBER`.
    let prefix: String
    private let limit: Int
    private var requests: [UInt64: Request] = [:]
    /// By timeout: those with the same one end in the order in which they began. Requests with answers stay until then.
    private var expiries: [UInt64: FIFO<Expiry>] = [:]
    private var nextNumber: UInt64 = 1

    init(prefix: String, limit: Int) { (self.prefix, self.limit) = (prefix, limit) }

    var pattern: String { prefix + ".*" }
    var isEmpty: Bool { requests.isEmpty }
    var nextDeadline: UInt64? { expiries.values.lazy.compactMap(\.first?.deadline).min() }

    /// The subject for the answer.
    ///
    /// - Parameters:
    ///   - timeout: after `now`, which never goes back; both in milliseconds.
    mutating func add(
        at now: UInt64, timeout: UInt64, late: Late? = nil, _ then: @escaping Completion
    ) throws(NATSError) -> String {
        guard requests.count < limit else {
            throw NATSError(.overloaded, "\(limit) requests wait for answers of the NATS server")
        }
        let number = nextNumber
        nextNumber += 1
        requests[number] = Request(then: then, late: late)
        expire(number, timeout, after: now)
        return "\(prefix).\(number)"
    }

    private mutating func expire(_ number: UInt64, _ timeout: UInt64, after now: UInt64) {
        expiries[timeout, default: FIFO()].append(Expiry(number: number, deadline: now &+ timeout))
    }

    /// What to call with the answer; `nil` = it comes too late.
    mutating func take(_ subject: String) -> Completion? {
        guard subject.hasPrefix(prefix + "."), let number = UInt64(subject.dropFirst(prefix.utf8.count + 1)),
            let request = requests.removeValue(forKey: number)
        else { return nil }
        if let then = request.then { return then }
        guard let late = request.late else { return nil }
        return { result in if case .success(let message) = result { late.then(message) } }
    }

    /// Those whose time is over.
    mutating func takeExpired(at now: UInt64) -> [Completion] {
        var completions: [Completion] = []
        for timeout in expiries.keys.sorted() {
            while let expiry = expiries[timeout]?.first {
                // An answer has come, or it has had its time for a late one.
                guard var request = requests[expiry.number] else {
                    _ = expiries[timeout]?.removeFirst()
                    continue
                }
                guard expiry.deadline <= now else { break }
                _ = expiries[timeout]?.removeFirst()
                guard let then = request.then, let late = request.late else {
                    requests[expiry.number] = nil
                    if let then = request.then { completions.append(then) }
                    continue
                }
                completions.append(then)
                request.then = nil
                requests[expiry.number] = request
                expire(expiry.number, late.within, after: now)
            }
            if expiries[timeout]?.isEmpty == true { expiries[timeout] = nil }
        }
        return completions
    }

    /// Without a connection no answer comes any more.
    mutating func takeAll() -> [Completion] {
        defer { (requests, expiries) = ([:], [:]) }
        return requests.sorted { $0.key < $1.key }.compactMap(\.value.then)
    }
}
