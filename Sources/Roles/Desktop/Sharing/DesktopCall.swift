package import JSON
package import Sharing

/// The functions of the C interface that a desktop carries out, by the names that programs which share one use.
package enum DesktopCall: String, Sendable, CaseIterable {
    case start, stop, state

    case offer, scan, code
    case cancel = "pairing.cancel"
    case confirm

    case devices, tokens
    case sealPush = "push.seal"
    case rename, unpair
    case unpairAll = "clear"

    case revoke, readmit, revoked, rekey
    case cancelRekey = "rekey.cancel"
    case rekeyState = "rekey.status"
    case confirmRekey = "rekey.confirm"

    case permissions, allow
    case enableSkill = "skill.enable"

    case notify, history, invoke

    /// Whether it starts the desktop.
    var startsDesktop: Bool { [.offer, .scan, .code].contains(self) }

    /// Whether it only reads.
    var reads: Bool {
        switch self {
        case .start, .stop, .state, .devices, .tokens, .revoked, .rekeyState, .permissions, .history: true
        case .offer, .scan, .code, .cancel, .confirm, .sealPush, .rename, .unpair, .unpairAll, .revoke, .readmit,
            .rekey, .cancelRekey, .confirmRekey, .allow, .enableSkill, .notify, .invoke:
            false
        }
    }

    /// The place of the time that the program waits for an answer.
    var timeoutPlace: Int? {
        switch self {
        case .offer, .code: 0
        case .notify: 1
        case .invoke: 2
        case .start, .stop, .state, .scan, .cancel, .confirm, .devices, .tokens, .sealPush, .rename, .unpair,
            .unpairAll, .revoke, .readmit, .revoked, .rekey, .cancelRekey, .rekeyState, .confirmRekey, .permissions,
            .allow, .enableSkill, .history:
            nil
        }
    }
}

extension HostCall {
    package init(_ call: DesktopCall, _ arguments: JSONValue...) { self.init(call.rawValue, arguments) }
}
