import Notifications
import Hosting
import JSON
import Inbox
import Wire

/// A change that the program made in the inbox: already visible, with its command in progress.
struct PendingChange: Sendable {
    let desktop: PeerID
    let kind: InboxEffect
    /// Of the change in the store.
    let number: Int64
    /// The youngest row when it was made.
    let newest: Int64
    let then: Then

    /// What becomes of the change.
    struct End: Sendable {
        let ending: InboxChange.Ending
        var error: HostError?
        /// The id of its command in the offline queue.
        var queuedAs: RequestID?
    }

    /// - Parameter isQueued: its command is in the offline queue.
    func end(after outcome: CommandOutcome, isQueued: Bool) -> End {
        switch outcome {
        case .answered(let result):
            let error = HostError(refusedBy: result)
            return End(ending: error == nil ? .done : .refused, error: error)
        case .queued(let id): return End(ending: .queued, queuedAs: id)
        case .refused(let refusal): return End(ending: .refused, error: refusal.error)
        case .notSent(let error), .absent(let error): return End(ending: .refused, error: error)
        case .unanswered(let id, let error), .ended(let id, let error):
            return End(
                ending: .lost(isKept: isQueued), error: isQueued ? .queued(id, after: error) : error,
                queuedAs: isQueued ? id : nil)
        }
    }
}

extension HostError {
    /// There was no answer, and the command is sent again.
    fileprivate static func queued(_ id: RequestID, after error: HostError) -> HostError {
        HostError(
            error.code, "no answer yet; the command waits in the queue and is sent again",
            detail: ["queued": true, "id": .string(id.text)])
    }
}
