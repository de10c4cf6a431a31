import CBellwire
import Glibc
import Hosting
import JSON
import Store
import Synchronization
import Transport

/// The process that opened the library first; 0 = none yet.
private let owner = Atomic<pid_t>(0)

/// Every function that returns a status is called through this.
///
/// The process is compared before any lock: after a `fork` a lock may be held by a thread that is not there.
func entry(_ body: () throws(HostError) -> Void) -> bw_status {
    statusEntry { () throws(HostError) in
        try body()
        return BW_OK
    }
}

/// The same, for a function whose success has more than one status.
func statusEntry(_ body: () throws(HostError) -> bw_status_code) -> bw_status {
    let opener = owner.load(ordering: .acquiring)
    if opener != 0, opener != getpid() { return BW_E_FORKED.rawValue }
    do throws(HostError) {
        return bw_status(try body().rawValue)
    } catch {
        LastError.set(error)
        return error.status
    }
}

/// Marks the calling process as the library's own. Called by each open.
func claimProcess() { _ = owner.compareExchange(expected: 0, desired: getpid(), ordering: .acquiringAndReleasing) }

/// Refuses the library's own two threads, on which a call that waits would wait for itself.
func requireHostThread() throws(HostError) {
    guard EventLoop.isCurrent || StoreThread.isCurrent else { return }
    throw HostError(.invalid, "this call blocks and is not allowed on the library's own threads")
}

/// A parameter that is a text, and must be one.
func text(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(HostError) -> String {
    guard let text = try optionalText(pointer, name) else {
        throw HostError(.invalid, "\(name) is NULL; pass a string", detail: ["field": .string(name)])
    }
    return text
}

/// A parameter that is a text or NULL.
func optionalText(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(HostError) -> String? {
    guard let pointer else { return nil }
    guard let text = String(validatingCString: pointer) else {
        throw HostError(.invalid, "\(name) is not UTF-8", detail: ["field": .string(name)])
    }
    return text
}

/// A parameter with the address of the result.
func output<Pointee>(
    _ pointer: UnsafeMutablePointer<Pointee>?, _ name: String
) throws(HostError) -> UnsafeMutablePointer<Pointee> {
    guard let pointer else {
        throw HostError(.invalid, "\(name) is NULL; pass the address of the result", detail: ["field": .string(name)])
    }
    return pointer
}

/// A parameter that is a JSON object; NULL is the empty one.
func object(_ pointer: UnsafePointer<CChar>?, _ name: String) throws(HostError) -> JSONObject {
    try JSONObject(parameter: name, try optionalText(pointer, name))
}

/// Gives a call's result to the caller, as JSON.
func give(_ reply: HostReply, to pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws(HostError) {
    try give(reply.value.serialized(), to: pointer)
}

/// Gives a text to the caller.
func give(_ text: String, to pointer: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) throws(HostError) {
    guard let copy = copyOut(text) else { throw HostError(.noMemory, "out of memory") }
    pointer.pointee = copy
}
