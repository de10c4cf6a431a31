import Glibc
package import Wire

extension CommandError {
    /// Maps a peer's refusal. Deployed peers use one number for several things, and texts without a number, so the text
    /// counts as well (WireMessages, "Error codes").
    package init(remote error: RemoteError) {
        let text = error.message.lowercased()
        // Today's deployed desktop answers so for every method of a skill that it does not have.
        if text.hasPrefix("unknown command namespace"), error.code == nil || error.code == .internalError {
            self.init(.unsupported, "this desktop does not support this command", remote: error, lacksSkill: true)
            return
        }
        self.init(CommandError.code(of: error, text: text), error)
    }

    private init(_ code: Code, _ error: RemoteError) {
        let message =
            switch code {
            case .denied: "the desktop does not allow it"
            case .unsupported: "the desktop does not know this command"
            case .timeout: "the desktop took too long"
            case .cancelled: "the command was cancelled"
            case _: "the desktop refused"
            }
        self.init(code, message, remote: error)
    }

    private static func code(of error: RemoteError, text: String) -> Code {
        switch error.code {
        case .methodNotFound: return .unsupported
        case .timeout: return .timeout
        case .denied: return .denied
        // Deployed code also means "no handler" by this number.
        case .permissionDenied: return saysUnsupported(text) ? .unsupported : .denied
        // And "the handler failed" by this one.
        case .cancelled: return saysCancelled(text) || text.isEmpty ? .cancelled : .remote
        case .some: return .remote
        case nil: break
        }
        if saysUnsupported(text) { return .unsupported }
        if ["permission denied", "not allowed", "unauthorized", "access denied"].contains(where: { says(text, $0) }) {
            return .denied
        }
        if ["timeout", "timed out"].contains(where: { says(text, $0) }) { return .timeout }
        return saysCancelled(text) ? .cancelled : .remote
    }

    private static func says(_ text: String, _ words: String) -> Bool { strstr(text, words) != nil }

    private static func saysUnsupported(_ text: String) -> Bool {
        ["no handler", "method not found", "unknown method", "unknown command"].contains(where: { says(text, $0) })
    }

    private static func saysCancelled(_ text: String) -> Bool {
        ["cancelled", "canceled"].contains(where: { says(text, $0) })
    }
}
