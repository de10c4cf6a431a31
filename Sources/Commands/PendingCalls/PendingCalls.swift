package import JSON
package import Wire

/// The commands that wait for an answer.
///
/// A pure state machine: moments are monotonic milliseconds that the caller brings, and `Waiter` is what the caller wants
/// back with each call, such as its completion. Each call leaves the table exactly once, by one of: an answer, the
/// desktop's absence, a cancel, its deadline, the closing of all.
package struct PendingCalls<Waiter> {
    package struct Call {
        package let id: RequestID
        package let desktop: PeerID
        package let method: String
        package let deadline: UInt64
        package let waiter: Waiter
        /// Counts the calls: several that leave at once leave in the order in which they came.
        fileprivate let number: UInt64
    }

    private var calls: [RequestID: Call] = [:]
    private var added: UInt64 = 0
    private var isClosed = false
    private let limit: Int
    /// No deadline is before this one. It may be that of a call that has left: then one wake-up is for nothing.
    private var earliest: UInt64?
    /// Answers that nobody waits for: late, doubled, or from another desktop than the one that was asked.
    package private(set) var strayResponses: UInt64 = 0

    /// - Parameter limit: more calls than this are refused.
    package init(limit: Int = 1_024) { self.limit = limit }

    package var count: Int { calls.count }
    /// When to call ``expire(now:)`` next; `nil` when nothing waits.
    package var nextDeadline: UInt64? { calls.isEmpty ? nil : earliest }

    package enum AddAction {
        /// Send the request; wake up at the next deadline.
        case send
        /// Fail it at once.
        case refuse(CommandError)
    }

    package mutating func add(
        _ id: RequestID, to desktop: PeerID, method: String, deadline: UInt64, waiter: Waiter
    ) -> AddAction {
        guard !isClosed else { return .refuse(CommandError(.closed, "no commands are taken any more")) }
        guard calls.count < limit else {
            return .refuse(CommandError(.tooMany, "\(limit) commands wait for their answers already"))
        }
        guard calls[id] == nil else {
            return .refuse(CommandError(.duplicateID, "a command with this id waits already"))
        }
        added &+= 1
        calls[id] = Call(
            id: id, desktop: desktop, method: method, deadline: deadline, waiter: waiter, number: added)
        earliest = calls.count == 1 ? deadline : min(earliest ?? deadline, deadline)
        return .send
    }

    package enum ResolveAction {
        case complete(Call, Result<JSONValue, CommandError>)
        /// Nobody waits for it.
        case ignore
    }

    /// An answer came from `desktop`.
    package mutating func resolve(_ response: CommandResponse, from desktop: PeerID) -> ResolveAction {
        guard let call = calls[response.id], call.desktop == desktop else {
            strayResponses &+= 1
            return .ignore
        }
        calls[response.id] = nil
        switch response.outcome {
        case .result(let result): return .complete(call, .success(result))
        case .error(let error): return .complete(call, .failure(CommandError(remote: error)))
        }
    }

    /// The relay says that `desktop` is absent. It never says which message it means, so all calls to it fail.
    package mutating func peerOffline(_ desktop: PeerID) -> [Call] { remove { $0.desktop == desktop } }

    /// The caller gives one call up; `nil` when it has left already.
    package mutating func cancel(_ id: RequestID) -> Call? { calls.removeValue(forKey: id) }

    /// Takes out the calls whose deadline is `now` or earlier, the earliest first.
    package mutating func expire(now: UInt64) -> [Call] {
        guard let earliest, earliest <= now else { return [] }
        let expired = remove { $0.deadline <= now }
        self.earliest = calls.values.lazy.map(\.deadline).min()
        return expired.sorted { ($0.deadline, $0.number) < ($1.deadline, $1.number) }
    }

    /// Takes out all calls; later ones are taken again.
    package mutating func cancelAll() -> [Call] { remove { _ in true } }

    /// Takes out all calls; later ones are refused.
    package mutating func close() -> [Call] {
        isClosed = true
        return remove { _ in true }
    }

    private mutating func remove(where condition: (Call) -> Bool) -> [Call] {
        let removed = calls.values.filter(condition).sorted { $0.number < $1.number }
        for call in removed { calls[call.id] = nil }
        return removed
    }
}

extension PendingCalls: Sendable where Waiter: Sendable {}
extension PendingCalls.Call: Sendable where Waiter: Sendable {}
