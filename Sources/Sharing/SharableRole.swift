package import Hosting
package import Store

/// A role whose state directory several programs can share.
package protocol SharableRole: Role {
    var database: Database { get }

    /// Starts a call; an error is a wrong parameter, and nothing was started. For any thread but the store's; a call that
    /// ``blocks(_:)`` for a host's thread.
    func perform(_ call: HostCall, then: @escaping ReplyThen) throws(HostError)

    /// Whether this program has a callback that answers these questions.
    func hostAnswers(_ hook: HostHook, _ answers: Bool)

    /// Whether the call waits for a file or for another program before it starts.
    static func blocks(_ call: HostCall) -> Bool
    /// Whether the call starts the role.
    static func starts(_ call: HostCall) -> Bool
    /// Whether the call only reads: a second time does no harm.
    static func isRepeatable(_ call: HostCall) -> Bool
    /// Finds a wrong parameter before the call is sent to another program.
    static func check(_ call: HostCall) throws(HostError)
}

extension SharableRole {
    package static func isStart(_ call: HostCall) -> Bool { call.name == SharedCall.start }
    package static func isStop(_ call: HostCall) -> Bool { call.name == SharedCall.stop }
}

/// Calls that mean something for the sharing itself.
package enum SharedCall {
    package static let start = "start"
    package static let stop = "stop"
    package static let state = "state"
}

/// How a program shares its role.
package struct SharedSettings: Sendable {
    /// The state directory.
    package let path: String
    /// `device` or `desktop`.
    package let role: String
    /// The program's name: each name is given every event once.
    package let application: String
    /// Those of the options that belong to the role, as the program gave them.
    package let options: HostedOptions

    package init(path: String, role: String, application: String, options: HostedOptions) {
        (self.path, self.role, self.application, self.options) = (path, role, application, options)
    }
}
