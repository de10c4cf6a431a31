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
    /// The call with what its next holder needs to carry it out once, should this one end during it.
    static func identified(_ call: HostCall) -> HostCall
    /// What to ask of the next holder when one has ended during the call; `nil` = it must not be carried out twice.
    static func repeated(_ call: HostCall) -> HostCall?
    /// The call as it goes to a holder that has only just taken over, because nobody held the role when it was made.
    static func delayed(_ call: HostCall) -> HostCall
    /// How long the program waits for a peer's answer to this call, in milliseconds; `nil` = it needs none.
    static func timeout(of call: HostCall) -> UInt64?
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
    /// Each name is given every event once.
    package let taker: FeedTaker
    /// Those of the options that belong to the role, as the program gave them.
    package let options: HostedOptions
    /// See ``HostedOptions/admission(of:guestYields:yields:name:)``.
    package let yields: Bool

    package init(path: String, role: String, taker: FeedTaker, options: HostedOptions, yields: Bool) {
        (self.path, self.role, self.taker, self.options, self.yields) = (path, role, taker, options, yields)
    }
}
