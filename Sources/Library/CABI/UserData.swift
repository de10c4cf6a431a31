import CBellwire
import Hosting
import JSON
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

/// A host's completion, called at most once, and its user data released after that.
final class Completion: @unchecked Sendable {
    private let callback: bw_completion
    let userData: UserData

    init(_ callback: @escaping bw_completion, _ userData: UserData) {
        self.callback = callback
        self.userData = userData
    }

    /// Only on a thread that the host expects callbacks on.
    func call(_ outcome: Result<HostReply, HostError>) {
        switch outcome {
        case .success(let reply):
            callback(userData.pointer, bw_status(reply.status.rawValue), reply.value.serialized())
        case .failure(let error): callback(userData.pointer, error.status, error.serialized())
        }
        userData.release()
    }
}

extension HostReply {
    var status: bw_status_code { isQueued ? BW_QUEUED : BW_OK }
}

/// A parameter that is a completion, and must be one.
func completion(_ callback: bw_completion?, _ userData: UserData) throws(HostError) -> Completion {
    guard let callback else { throw HostError(.invalid, "completion is NULL", detail: ["field": "completion"]) }
    return Completion(callback, userData)
}
