package import Hosting
package import Store

/// A role whose state directory several programs can share.
package protocol SharableRole: Role {
    /// Starts a call whose parameters were checked, and gives its result. For any thread but the store's; a call that
    /// ``blocks(_:)`` for a host's thread.
    typealias Start = @Sendable (@escaping ReplyThen) -> Void

    var database: Database { get }

    /// The newest events of a source, for the program that holds the role; `nil` = they are in the store alone.
    func local(_ source: HostEvent.Name) -> (any LocalFeed)?

    /// Checks a call; an error is a wrong parameter.
    func prepare(_ call: HostCall) throws(HostError) -> Start

    /// Whether this program has a callback that answers these questions.
    func hostAnswers(_ hook: HostHook, _ answers: Bool)

    /// Whether the call waits for a file or for another program before it starts.
    static func blocks(_ call: HostCall) -> Bool
    /// Whether the call starts the role.
    static func starts(_ call: HostCall) -> Bool
    /// The call with what its next holder needs to carry it out once, should this one end during it.
    ///
    /// - Parameter stays: it is the holder's own call, and the holder gives way to no program with other options.
    static func identified(_ call: HostCall, stays: Bool) -> HostCall
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
    package func local(_ source: HostEvent.Name) -> (any LocalFeed)? { nil }

    /// Starts a call; an error is a wrong parameter, and nothing was started.
    package func perform(_ call: HostCall, then: @escaping ReplyThen) throws(HostError) { try prepare(call)(then) }
}

/// Calls that mean something for the sharing itself.
package enum SharedCall {
    package static let start = "start"
    package static let stop = "stop"
    package static let state = "state"
}

extension HostCall {
    var isStart: Bool { name == SharedCall.start }
    var isStop: Bool { name == SharedCall.stop }
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
}

/// What a role keeps in its store for the programs that share it.
package struct StoredEvents: Sendable {
    /// In the order in which a program is asked to take them.
    package let sources: [HostEvent.Name]
    package let tables: FeedTables
    /// Of these, the role has the newest events in memory (``SharableRole/local(_:)``), and says itself that there are
    /// some. All others wait in the store until they are moved.
    package let local: Set<HostEvent.Name>
    package let move: EventSpool.Move

    package init(
        _ tables: KeyValuePairs<HostEvent.Name, any FeedTable>, local: Set<HostEvent.Name>,
        move: @escaping EventSpool.Move
    ) {
        sources = tables.map(\.key)
        self.tables = Dictionary(tables.map { ($0.key, $0.value) }) { first, _ in first }
        (self.local, self.move) = (local, move)
    }
}
