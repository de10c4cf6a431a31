package import JSON

/// The result of a method for its caller.
package enum MethodAnswer: Sendable {
    /// `success`, and these in this order. A refusal has an `error` at the end.
    case members([ResultMember])
    /// A page (``HistoryPage``).
    case history
    /// ``Settings``, and their revision.
    case settings

    /// The desktop's settings in a result of this kind, if it has any.
    package func settings(in result: JSONObject) -> JSONObject? {
        switch self {
        case .history: nil
        case .settings: result
        case .members: result["settings"]?.object
        }
    }
}

/// A member of a method's result, as any desktop may write it.
package struct ResultMember: Sendable {
    enum Kind: Sendable {
        case text, flag, count, moment
        /// A count, or `"all"` from desktops that do not count.
        case countOrAll
        /// ``Settings``.
        case settings
        /// A list; what is no text in it is left out.
        case texts
        /// An error beside a success: done, but not entirely.
        case error
    }

    enum Absent: Sendable {
        case leftOut
        case value(JSONValue)
        case now
        /// The answer cannot be understood.
        case fault
    }

    /// What of it stands in a refusal.
    enum Refused: Sendable {
        case leftOut
        case value(JSONValue)
        /// What the desktop says, else this.
        case read(Absent)
    }

    package let name: String
    /// Other names under which deployed desktops give it.
    let aliases: [String]
    let kind: Kind
    let absent: Absent
    let refused: Refused

    init(
        _ name: String, _ aliases: String..., kind: Kind, absent: Absent = .leftOut, refused: Refused = .leftOut
    ) {
        self.name = name
        self.aliases = aliases
        self.kind = kind
        self.absent = absent
        self.refused = refused
    }

    /// Refusals are read under the names of the table only.
    var unaliased: ResultMember { ResultMember(name, kind: kind, absent: absent, refused: refused) }
}
