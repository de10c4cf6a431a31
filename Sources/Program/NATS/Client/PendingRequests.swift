import Transport

/// Requests that wait for their answers. All answers come to one wildcard subscription; the last token of the subject says
/// which request it belongs to.
struct PendingRequests {
    typealias Completion = @EventLoop (Result<NATSMessage, NATSError>) -> Void

    private struct Request {
        /// `nil` = it has been called; the request only waits for a second answer, or for a late one.
        var then: Completion?
        let late: Late?
        let second: (@EventLoop () -> Void)?
        var isAnswered = false
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
    /// Requests that have neither an answer nor failed.
    private var unanswered = 0
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
    ///   - second: another answer has come before the timeout. Called once.
    mutating func add(
        at now: UInt64, timeout: UInt64, late: Late? = nil, second: (@EventLoop () -> Void)? = nil,
        _ then: @escaping Completion
    ) throws(NATSError) -> String {
        guard unanswered < limit else {
            throw NATSError(.overloaded, "\(limit) requests wait for answers of the NATS server")
        }
        let number = nextNumber
        nextNumber += 1
        requests[number] = Request(then: then, late: late, second: second)
        unanswered += 1
        expire(number, timeout, after: now)
        return "\(prefix).\(number)"
    }

    private mutating func expire(_ number: UInt64, _ timeout: UInt64, after now: UInt64) {
        expiries[timeout, default: FIFO()].append(Expiry(number: number, deadline: now &+ timeout))
    }

    /// What to call with the answer; `nil` = it comes too late.
    mutating func take(_ subject: String) -> Completion? {
        guard let number = number(of: subject), var request = requests.removeValue(forKey: number) else { return nil }
        if let then = request.then {
            unanswered -= 1
            guard request.second != nil else { return then }
            request.then = nil
            request.isAnswered = true
            requests[number] = request
            return then
        }
        if request.isAnswered {
            guard let second = request.second else { return nil }
            return { _ in second() }
        }
        guard let late = request.late else { return nil }
        return { result in if case .success(let message) = result { late.then(message) } }
    }

    /// The request was not sent.
    mutating func remove(_ subject: String) {
        guard let number = number(of: subject), requests.removeValue(forKey: number)?.then != nil else { return }
        unanswered -= 1
    }

    private func number(of subject: String) -> UInt64? {
        subject.hasPrefix(prefix + ".") ? UInt64(subject.dropFirst(prefix.utf8.count + 1)) : nil
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
                guard let then = request.then else {
                    requests[expiry.number] = nil
                    continue
                }
                unanswered -= 1
                completions.append(then)
                guard let late = request.late else {
                    requests[expiry.number] = nil
                    continue
                }
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
        defer { (requests, expiries, unanswered) = ([:], [:], 0) }
        return requests.sorted { $0.key < $1.key }.compactMap(\.value.then)
    }
}
