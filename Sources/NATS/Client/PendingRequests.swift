import Transport

/// Requests that wait for their answers. All answers come to one wildcard subscription; the last token of the subject says
/// which request it belongs to.
struct PendingRequests {
    typealias Completion = @EventLoop (Result<NATSMessage, NATSError>) -> Void

    private struct Request {
        var deadline: UInt64
        /// `nil` = it has been called; the request only waits for a late answer.
        var then: Completion?
        let late: Late?
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
    private var nextNumber: UInt64 = 1

    init(prefix: String, limit: Int) { (self.prefix, self.limit) = (prefix, limit) }

    var pattern: String { prefix + ".*" }
    var isEmpty: Bool { requests.isEmpty }
    var nextDeadline: UInt64? { requests.values.lazy.map(\.deadline).min() }

    /// The subject for the answer.
    mutating func add(
        until deadline: UInt64, late: Late? = nil, _ then: @escaping Completion
    ) throws(NATSError) -> String {
        guard requests.count < limit else {
            throw NATSError(.overloaded, "\(limit) requests wait for answers of the NATS server")
        }
        defer { nextNumber += 1 }
        requests[nextNumber] = Request(deadline: deadline, then: then, late: late)
        return "\(prefix).\(nextNumber)"
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

    /// Those whose time is over, oldest first.
    mutating func takeExpired(at now: UInt64) -> [Completion] {
        let expired = requests.filter { $0.value.deadline <= now }.sorted { $0.key < $1.key }
        for (number, request) in expired {
            guard request.then != nil, let late = request.late else {
                requests[number] = nil
                continue
            }
            requests[number]?.then = nil
            requests[number]?.deadline = request.deadline &+ late.within
        }
        return expired.compactMap(\.value.then)
    }

    /// Without a connection no answer comes any more.
    mutating func takeAll() -> [Completion] {
        defer { requests = [:] }
        return requests.sorted { $0.key < $1.key }.compactMap(\.value.then)
    }
}
