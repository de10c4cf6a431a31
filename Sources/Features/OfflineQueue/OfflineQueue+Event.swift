package import JSON
package import Wire

extension OfflineQueue {
    /// One event of the queue as a value, so that it can be applied to what the table holds (``QueueTable/apply(_:)``).
    package enum Event: Sendable, Equatable {
        case add(QueuedCommand)
        /// It is about to be sent; commands that are too old fail first.
        case begin(RequestID, now: ExpiryMoment)
        case answered(RequestID, JSONObject)
        case refused(RequestID, QueueFailure)
        /// `counts`: it was a try.
        case unanswered(RequestID, QueueFailure, counts: Bool)
        /// Everything that waits for this desktop fails; `sending`: this one as well.
        case failAll(PeerID, QueueFailure, sending: RequestID?)
        case expire(now: ExpiryMoment)
        case remove(RequestID)
        /// `nil` = every failed command.
        case retry(RequestID?, now: EpochMilliseconds)
        case clear(before: EpochMilliseconds?)
        /// The desktop was unpaired.
        case forget(PeerID)

        /// The one command that it is about.
        package var command: RequestID? {
            switch self {
            case .add(let command): command.id
            case .begin(let id, _), .answered(let id, _), .refused(let id, _), .unanswered(let id, _, _),
                .remove(let id):
                id
            case .failAll(_, _, let id), .retry(let id, _): id
            case .expire, .clear, .forget: nil
            }
        }
    }

    package mutating func apply(_ event: Event) -> Change {
        switch event {
        case .add(let command): return add(command)
        case .begin(let id, let now):
            var change = expire(now: now)
            change.append(begin(id))
            return change
        case .answered(let id, let result): return answered(id, result)
        case .refused(let id, let failure): return refused(id, failure)
        case .unanswered(let id, let failure, let counts): return unanswered(id, failure, counts: counts)
        case .failAll(let desktop, let failure, let sending):
            var change = sending.map { refused($0, failure) } ?? Change()
            change.append(failAll(of: desktop, failure))
            return change
        case .expire(let now): return expire(now: now)
        case .remove(let id): return remove(id)
        case .retry(let id, let now): return retry(id, now: now)
        case .clear(let moment): return clear(before: moment)
        case .forget(let desktop): return forget(desktop)
        }
    }
}
