import CBellwire
import Glibc
import JSON

/// The reason why a command failed: one line for the user, and an exit code for scripts.
struct Failure: Error {
    let exit: Exit
    let message: String
    /// The result of `bw_last_error`; `nil` if the program itself refuses.
    let error: JSONValue?

    init(_ exit: Exit, _ message: String, error: JSONValue? = nil) {
        self.exit = exit
        self.message = message
        self.error = error
    }

    /// A call of the library's that failed.
    ///
    /// - Parameter json: what a completion got; for other calls, `bw_last_error` of this thread.
    init(_ status: bw_status, json: String?) {
        var error = json.flatMap { text in try? JSONValue(parsing: text) }
        let detail = error?["detail"]
        var message = LibraryWords.text(error?["message"]?.string ?? String(cString: bw_status_name(status)))
        if var object = error?.object, object["message"] != nil {
            object["message"] = .string(message)
            error = .object(object)
        }
        // The peer's own message is in the detail.
        if let words = detail?["message"]?.string, !words.isEmpty, words != message { message += ": \(words)" }
        self.init(Exit(status, reason: detail?["reason"]?.string), message, error: error)
    }

    /// What `errno` says.
    static var systemError: String { String(cString: strerror(errno)) }

    static func interrupted(_ signal: Int32) -> Failure { Failure(.interrupted(signal), "interrupted") }
}

extension Exit {
    init(_ status: bw_status, reason: String?) {
        switch bw_status_code(rawValue: status) {
        case BW_E_INVALID: self = .usage
        case BW_E_OFFLINE, BW_E_TIMEOUT: self = .offline
        case BW_E_NOT_FOUND: self = .notPaired
        case BW_E_BUSY: self = .inUse
        // These reasons mean that the other side was not reachable (WirePairing, "States and reasons").
        case BW_E_PAIRING where ["relay_unreachable", "desktop_offline", "no_relay", "timeout"].contains(reason):
            self = .offline
        // What was given is no code for pairing.
        case BW_E_PAIRING where ["not_json", "wrong_type", "bad_code", "missing_peer_id", "bad_field"].contains(reason):
            self = .usage
        default: self = .failed
        }
    }
}

/// Passes a status on, or throws what the library says about it.
@discardableResult
func check(_ status: bw_status) throws(Failure) -> bw_status {
    guard status < 0 else { return status }
    throw Failure(status, json: taken(bw_last_error()))
}

/// A text of the library's that is ours to free.
func taken(_ text: UnsafeMutablePointer<CChar>?) -> String? {
    guard let text else { return nil }
    defer { bw_free(text) }
    return String(cString: text)
}

/// The JSON that a call writes to its last parameter.
func result(
    _ call: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> bw_status
) throws(Failure) -> JSONValue {
    let text = try resultText(call)
    do throws(JSONError) { return try JSONValue(parsing: text) } catch {
        throw Failure(.failed, "cannot read the library's answer: \(error.message)")
    }
}

/// The text that a call writes to its last parameter.
func resultText(
    _ call: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> bw_status
) throws(Failure) -> String {
    var text: UnsafeMutablePointer<CChar>?
    try check(call(&text))
    return taken(text) ?? ""
}
