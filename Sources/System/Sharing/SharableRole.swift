package import Hosting
package import JSON
package import Store

/// A role whose state directory several programs can share.
package protocol SharableRole: Role {
    associatedtype Call: SharableCall

    var database: Database { get }

    /// The newest events of a source, for the program that holds the role; `nil` = they are in the store alone.
    func local(_ source: HostEvent.Name) -> (any LocalFeed)?

    /// Executes a call. From any thread, without waiting.
    func perform(_ call: Call, as identity: CommandIdentity, then: @escaping Then)

    /// Whether this program has a callback that answers these questions.
    func hostAnswers(_ hook: HostHook, _ answers: Bool)
}

extension SharableRole {
    package func local(_ source: HostEvent.Name) -> (any LocalFeed)? { nil }
}

/// A call of a role that programs share.
package protocol SharableCall: CallCoding {
    static var start: Self { get }
    static var stop: Self { get }
    /// Whether the holder's own commands have an id where it gives way to no program with other options.
    static var isAlwaysIdentified: Bool { get }
    /// Whether the call only reads what is stored: its answer may be long, and needs nobody else.
    var readsStored: Bool { get }
    /// The call with those of its program's own options that it needs, whatever the holder's are.
    func asked(with options: JSONObject) -> Self
}

extension SharableCall {
    package func asked(with options: JSONObject) -> Self { self }

    package var readsStored: Bool {
        switch traits.kind {
        case .read, .state: true
        case .start, .stop, .startAndChange, .change, .command: false
        }
    }
}

/// A call of this program with its identity, until it is answered.
struct IdentifiedCall<Call: SharableCall>: Sendable {
    let call: Call
    private(set) var identity: CommandIdentity

    init(_ call: Call, isIdentified: Bool = true) {
        self.call = call
        identity = isIdentified && call.traits.kind == .command ? .unique() : .new
    }

    /// For a holder that has only just taken over, because nobody held the role when the call was made.
    var delayed: IdentifiedCall {
        var call = self
        call.identity = identity.delayed
        return call
    }

    /// For the next holder, when one has ended during the call; `nil` = it must not be executed twice.
    var repeated: IdentifiedCall? {
        switch call.traits.kind {
        case .start, .stop, .state, .read: return self
        case .startAndChange, .change: return nil
        case .command:
            guard let identity = identity.repeated else { return nil }
            var call = self
            call.identity = identity
            return call
        }
    }

    var encoded: HostCall {
        var encoded = call.encoded
        encoded.identity = identity
        return encoded
    }
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
