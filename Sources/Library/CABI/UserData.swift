import CBellwire
import Hosting
import JSON
import Sharing
import Synchronization

/// A host's pointer and the function that ends it: run exactly once, whatever happens.
final class UserData: @unchecked Sendable {
    /// The host's; passed back to it, never looked at.
    let pointer: UnsafeMutableRawPointer?
    private let destroy: bw_destroy?
    private let isReleased = Atomic(false)

    init(_ pointer: UnsafeMutableRawPointer?, _ destroy: bw_destroy?) {
        self.pointer = pointer
        self.destroy = destroy
    }

    func release() {
        guard !isReleased.exchange(true, ordering: .acquiringAndReleasing) else { return }
        destroy?(pointer)
    }

    /// The last way out, for what failed before anyone could take it.
    deinit { release() }
}

/// The result of a successful call: its result as JSON, and a status that is no error.
struct Answer: Sendable {
    let json: String
    let status: bw_status_code

    init(_ json: String) { (self.json, status) = (json, BW_OK) }

    init(_ reply: HostReply) { (json, status) = (reply.json, reply.isQueued ? BW_QUEUED : BW_OK) }
}

/// The outcome of a call: its answer, or why it failed.
typealias Outcome = Result<Answer, HostError>

/// A host's completion, called at most once, and its user data released after that.
final class Completion: @unchecked Sendable {
    private let callback: bw_completion
    let userData: UserData

    init(_ callback: @escaping bw_completion, _ userData: UserData) {
        self.callback = callback
        self.userData = userData
    }

    /// Only on a thread that the host expects callbacks on.
    func call(_ outcome: Outcome) {
        switch outcome {
        case .success(let answer): callback(userData.pointer, bw_status(answer.status.rawValue), answer.json)
        case .failure(let error): callback(userData.pointer, error.status, error.serialized())
        }
        userData.release()
    }
}

/// A parameter that is a completion, and must be one.
func completion(_ callback: bw_completion?, _ userData: UserData) throws(HostError) -> Completion {
    guard let callback else { throw HostError(.invalid, "completion is NULL", detail: ["field": "completion"]) }
    return Completion(callback, userData)
}
