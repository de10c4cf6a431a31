package import JSON
package import Wire

/// The commands that wait for an answer.
///
/// A pure state machine: moments are monotonic milliseconds that the caller brings, and `Waiter` is what the caller wants
/// back with each call, such as its completion. Each call leaves the table exactly once, by one of: an answer, the
/// desktop's absence, the end of its connection, a cancel, its deadline, the closing of all.
/// When a connection ends, messages in flight are lost in both directions, without notice. A call to a desktop that
/// executes an id only once (WireMessages, "Repeated and late commands") survives this: it is sent again under its id
/// when there is a new connection, when the desktop is back at its relay, and after a time without an answer.
package struct PendingCalls<Waiter> {
    package struct Call {
        package let id: RequestID
        package let desktop: PeerID
        package let method: String
        package let deadline: UInt64
        package let waiter: Waiter
        /// Its desktop carries an id out only once.
        package let isRepeatable: Bool
        /// Counts the calls: several that leave at once leave in the order in which they came.
        fileprivate let number: UInt64
        fileprivate var sentAt: UInt64
        /// How often it was sent.
        package fileprivate(set) var sends: UInt64 = 1
        /// The route that it took last.
        package fileprivate(set) var route: RouteID?
        /// It is written when a session with its desktop begins.
        fileprivate var waitsForSession = false

        /// The pause before it is sent again, in milliseconds: each is longer than the one before.
        fileprivate var patience: UInt64 { min(PendingCalls.firstPause << min(sends - 1, 8), PendingCalls.lastPause) }
    }

    /// How long to wait for an answer before a call is sent again, in milliseconds. The wait doubles each time, up to
    /// the last value.
    package static var firstPause: UInt64 { 5_000 }
    package static var lastPause: UInt64 { 60_000 }

    private var calls: [RequestID: Call] = [:]
    private var added: UInt64 = 0
    private var isClosed = false
    private let limit: Int
    /// No deadline is before this one. It may be that of a call that has left: then one wake-up is for nothing.
    private var earliest: UInt64?
    /// Nothing is to be sent again before this.
    private var earliestRepeat: UInt64?
    /// Answers without a waiting call: late, duplicate, or from a desktop that was not asked.
    package private(set) var strayResponses: UInt64 = 0

    /// - Parameter limit: more calls than this are refused.
    package init(limit: Int = 1_024) { self.limit = limit }

    package var count: Int { calls.count }
    /// When to call ``expire(now:)`` and ``dueToRepeat(now:heard:)`` next; `nil` when nothing waits.
    package var nextDeadline: UInt64? {
        guard !calls.isEmpty else { return nil }
        return [earliest, earliestRepeat].compactMap(\.self).min()
    }

    package enum AddAction {
        /// Send the request; wake up at the next deadline.
        case send
        /// Fail it at once.
        case refuse(CommandError)
    }

    /// - Parameter isRepeatable: the desktop carries an id out only once.
    package mutating func add(
        _ id: RequestID, to desktop: PeerID, method: String, deadline: UInt64, waiter: Waiter,
        isRepeatable: Bool = false, now: UInt64 = 0
    ) -> AddAction {
        guard !isClosed else { return .refuse(CommandError(.closed, "commands are no longer accepted")) }
        guard calls.count < limit else {
            return .refuse(CommandError(.tooMany, "\(limit) commands already wait for answers"))
        }
        guard calls[id] == nil else {
            return .refuse(CommandError(.duplicateID, "a command with this id is already waiting"))
        }
        added &+= 1
        calls[id] = Call(
            id: id, desktop: desktop, method: method, deadline: deadline, waiter: waiter, isRepeatable: isRepeatable,
            number: added, sentAt: now)
        if calls.count == 1 { (earliest, earliestRepeat) = (nil, nil) }
        earliest = min(earliest ?? deadline, deadline)
        if isRepeatable { earliestRepeat = min(earliestRepeat ?? .max, now &+ Self.firstPause) }
        return .send
    }

    package indirect enum ResolveAction {
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

    /// The relay reports `desktop` offline. It does not say which message was refused, so all calls to it fail, except
    /// those that were sent again: they may have been executed the first time, and the desktop may be reconnecting,
    /// too.
    package mutating func peerOffline(_ desktop: PeerID) -> [Call] {
        remove { $0.desktop == desktop && $0.sends == 1 }
    }

    /// A call was written, or waits for a session.
    package mutating func wrote(_ id: RequestID, over route: RouteID, waitsForSession: Bool = false) {
        calls[id]?.route = route
        calls[id]?.waitsForSession = waitsForSession
    }

    /// `desktop` was reported offline on this route, and there is another one. The calls sent over this route
    /// were not delivered; send them over the other one, in this order.
    package func toReroute(to desktop: PeerID, from route: RouteID) -> [Call] {
        calls.values.filter { $0.desktop == desktop && $0.sends == 1 && $0.route == route }
            .sorted { $0.number < $1.number }
    }

    /// All calls to a desktop that is no longer paired.
    package mutating func forget(_ desktop: PeerID) -> [Call] { remove { $0.desktop == desktop } }

    /// No connection leads to `desktop` any more. Those that cannot be sent again fail; the others wait.
    package mutating func disconnected(_ desktop: PeerID) -> [Call] {
        remove { $0.desktop == desktop && !$0.isRepeatable }
    }

    /// There is a connection to `desktop` again, or it has one: its calls are to be sent again, in this order.
    package mutating func toRepeat(to desktop: PeerID, now: UInt64) -> [Call] {
        sendAgain(calls.values.filter { $0.desktop == desktop && $0.isRepeatable }, now)
    }

    /// A session with `desktop` begins. What was sealed before it may have been refused, or sealed for a session that the
    /// desktop has lost: those calls are to be sent again, in this order. Calls that wait for the session are written.
    package mutating func sessionBegan(with desktop: PeerID, now: UInt64) -> [Call] {
        let all = calls.values.filter { $0.desktop == desktop && $0.isRepeatable }
        for call in all { calls[call.id]?.waitsForSession = false }
        return sendAgain(all.filter { !$0.waitsForSession }, now)
    }

    /// The calls to send again because nothing has come for them, in this order.
    ///
    /// A desktop that answers others is at work: then a call waits three times as long.
    ///
    /// - Parameter heard: when something came from a desktop last.
    package mutating func dueToRepeat(now: UInt64, heard: (PeerID) -> UInt64?) -> [Call] {
        guard let earliestRepeat, earliestRepeat <= now else { return [] }
        var due: [Call] = []
        var next: UInt64?
        for call in calls.values where call.isRepeatable {
            let silence = max(call.sentAt, heard(call.desktop) ?? 0) &+ call.patience
            let moment = min(silence, call.sentAt &+ call.patience * 3)
            if moment <= now {
                due.append(call)
            } else {
                next = min(next ?? moment, moment)
            }
        }
        self.earliestRepeat = next
        return sendAgain(due, now)
    }

    private mutating func sendAgain(_ again: [Call], _ now: UInt64) -> [Call] {
        for call in again {
            calls[call.id]?.sentAt = now
            calls[call.id]?.sends += 1
            if let patience = calls[call.id]?.patience {
                earliestRepeat = min(earliestRepeat ?? .max, now &+ patience)
            }
        }
        return again.sorted { $0.number < $1.number }
    }

    /// A call that still waits for this desktop.
    package func call(_ id: RequestID, to desktop: PeerID) -> Call? {
        calls[id].flatMap { $0.desktop == desktop ? $0 : nil }
    }

    /// The caller gives up a call; `nil` if the call has already ended.
    package mutating func cancel(_ id: RequestID) -> Call? { calls.removeValue(forKey: id) }

    /// Removes the calls with a deadline of `now` or earlier, earliest first.
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
