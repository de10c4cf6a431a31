import Transport

/// Requests that wait for their answers. All answers come to one wildcard subscription; the last token of the subject says
/// which request it belongs to.
struct PendingRequests {
    typealias Completion = @EventLoop (Result<NATSMessage, NATSError>) -> Void

    private struct Request {
        let deadline: UInt64
        let then: Completion
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
    mutating func add(until deadline: UInt64, _ then: @escaping Completion) throws(NATSError) -> String {
        guard requests.count < limit else {
            throw NATSError(.overloaded, "\(limit) requests wait for answers of the NATS server")
        }
        defer { nextNumber += 1 }
        requests[nextNumber] = Request(deadline: deadline, then: then)
        return "\(prefix).\(nextNumber)"
    }

    /// The request that an answer belongs to. A late one belongs to none.
    mutating func take(_ subject: String) -> Completion? {
        guard subject.hasPrefix(prefix + "."), let number = UInt64(subject.dropFirst(prefix.utf8.count + 1)) else {
            return nil
        }
        return requests.removeValue(forKey: number)?.then
    }

    /// Those whose time is over, oldest first.
    mutating func takeExpired(at now: UInt64) -> [Completion] {
        let expired = requests.filter { $0.value.deadline <= now }.sorted { $0.key < $1.key }
        for (number, _) in expired { requests[number] = nil }
        return expired.map(\.value.then)
    }

    mutating func takeAll() -> [Completion] { takeExpired(at: .max) }
}
