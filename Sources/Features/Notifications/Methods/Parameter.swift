import JSON

/// A parameter of a method: what a program may pass, and what is sent.
package struct Parameter: Sendable {
    package enum Kind: Sendable, Equatable {
        /// At most so many bytes of UTF-8. A required one must not be empty.
        case text(limit: Int)
        /// A text of 1 to ``Parameter/idLimit`` bytes.
        case id
        case flag
        case integer
        /// A whole number that is not negative: an offset, or milliseconds since 1970.
        case natural
        case number(ClosedRange<Int64>)
        /// `HH:mm`.
        case timeOfDay
        case choice([String])
        case priority
        /// At most so many bytes of JSON.
        case object(limit: Int)
    }

    /// How it goes out, besides under its name: desktops differ (WireDeployedPeers, "What a device sends").
    enum Spelling: Sendable {
        case name
        case also(String)
        /// As the only element of a list.
        case alsoInList(String)
        /// As `urgency`, with the words that belong to it.
        case alsoAsUrgency
        /// Not at all when it says what is meant anyway.
        case unless(JSONValue)
        /// Not at all: it is for the sender's own library.
        case kept
    }

    package let name: String
    package let kind: Kind
    package private(set) var isRequired = false
    /// Other names under which a desktop takes it.
    private(set) var aliases: [String] = []
    /// The value to send if the program does not pass one; `nil` = nothing.
    private(set) var standard: JSONValue?
    private var spelling = Spelling.name

    /// In bytes.
    package static let idLimit = 1_024

    package init(_ name: String, _ kind: Kind) {
        self.name = name
        self.kind = kind
    }

    var names: [String] { [name] + aliases }

    func write(_ value: JSONValue, to wire: inout JSONObject) {
        switch spelling {
        case .unless(let omitted) where value == omitted: return
        case .kept: return
        default: wire[name] = value
        }
        switch spelling {
        case .name, .unless, .kept: break
        case .also(let other): wire[other] = value
        case .alsoInList(let other): wire[other] = [value]
        case .alsoAsUrgency: wire["urgency"] = value == "urgent" ? "critical" : value
        }
    }
}

// MARK: How rows are written

extension Parameter {
    var required: Parameter { with { $0.isRequired = true } }
    func standard(_ value: JSONValue) -> Parameter { with { $0.standard = value } }
    func alias(_ name: String) -> Parameter { with { $0.aliases.append(name) } }
    func written(_ spelling: Spelling) -> Parameter { with { $0.spelling = spelling } }

    /// Sent and taken under both names.
    func also(_ name: String) -> Parameter { alias(name).written(.also(name)) }

    private func with(_ change: (inout Parameter) -> Void) -> Parameter {
        var changed = self
        change(&changed)
        return changed
    }

    /// With neither spelling a deployed desktop takes all.
    package static let notificationID = Parameter("notificationId", .id).required.also("id")
}
