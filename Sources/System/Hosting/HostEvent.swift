package import JSON

/// Something that a role tells the program that embeds it.
package struct HostEvent: Sendable {
    /// What a host can subscribe to: the library's events, and topics of the host's own.
    package enum Name: Sendable, Hashable {
        case notificationReceived
        /// A push has taken the place of one that the host has had.
        case notificationUpdated
        /// An alert was shown, or not. On a desktop: a device reports this of one of its pushes (WireSealing,
        /// "Receipts").
        case notificationPresented
        case notificationExpired
        /// What a person did with an alert.
        case notificationResponse
        /// A push without an alert, for the host to act upon.
        case notificationSilent
        case unreadChanged
        case connectionChanged
        case pairingChanged
        case peersChanged
        /// A move to another key, of this side or of a peer.
        case rekeyChanged
        /// A desktop's part of the inbox is another one, or is being loaded.
        case inboxChanged
        case settingsChanged
        /// Whether alerts may be shown is something else than before.
        case authorizationChanged
        case badgeChanged
        // What a desktop reports of its history to its host, and to the user's other devices (WireMessages, "State
        // changes").
        case notificationRead
        case notificationDeleted
        case notificationCleared
        case queueChanged
        /// A queued command was carried out, has failed, or has left the queue.
        case queueEnded
        case command
        case problem
        case topic(HostTopic)
    }

    package let name: Name
    /// The desktop that it is about, where there is one.
    package let desktop: String?
    package let data: JSONObject

    /// The same under another name.
    package func named(_ name: Name) -> HostEvent { HostEvent(name, desktop: desktop, data: data) }

    package init(_ name: Name, desktop: String? = nil, data: JSONObject) {
        self.name = name
        self.desktop = desktop
        self.data = data
    }

    /// `{"event","desktop"?,"data"}`
    package func serialized() -> String {
        JSONValue.object([
            "event": .string(name.rawValue), "desktop": desktop.map(JSONValue.string), "data": .object(data),
        ]).serialized()
    }
}

extension HostEvent.Name {
    /// The library's events; topics are the host's to name.
    package static let known: [HostEvent.Name] = [
        .notificationReceived, .notificationUpdated, .notificationPresented, .notificationResponse,
        .notificationExpired, .notificationSilent, .unreadChanged, .connectionChanged, .pairingChanged, .peersChanged,
        .rekeyChanged,
        .inboxChanged,
        .settingsChanged, .authorizationChanged, .badgeChanged, .notificationRead, .notificationDeleted,
        .notificationCleared, .queueChanged, .queueEnded, .command, .problem,
    ]

    package init?(rawValue: String) {
        if let name = Self.known.first(where: { $0.rawValue == rawValue }) {
            self = name
        } else if let topic = HostTopic(rawValue) {
            self = .topic(topic)
        } else {
            return nil
        }
    }

    package var rawValue: String {
        switch self {
        case .notificationReceived: "notification.received"
        case .notificationUpdated: "notification.updated"
        case .notificationPresented: "notification.presented"
        case .notificationExpired: "notification.expired"
        case .notificationResponse: "notification.response"
        case .notificationSilent: "notification.silent"
        case .unreadChanged: "unread.changed"
        case .connectionChanged: "connection.changed"
        case .pairingChanged: "pairing.changed"
        case .peersChanged: "peers.changed"
        case .rekeyChanged: "rekey.changed"
        case .inboxChanged: "inbox.changed"
        case .settingsChanged: "settings.changed"
        case .authorizationChanged: "authorization.changed"
        case .badgeChanged: "badge.changed"
        case .notificationRead: "notification.read"
        case .notificationDeleted: "notification.deleted"
        case .notificationCleared: "notification.cleared"
        case .queueChanged: "queue.changed"
        case .queueEnded: "queue.ended"
        case .command: "command"
        case .problem: "problem"
        case .topic(let topic): topic.text
        }
    }

    /// Whether a newer one makes an older one needless that still waits for the host.
    package var isState: Bool {
        switch self {
        case .unreadChanged, .connectionChanged, .peersChanged, .queueChanged, .inboxChanged, .settingsChanged,
            .authorizationChanged, .badgeChanged:
            true
        // Each step of a pairing is for the host to see.
        case .notificationReceived, .notificationUpdated, .notificationPresented, .notificationResponse,
            .notificationExpired, .notificationSilent, .notificationRead, .notificationDeleted, .notificationCleared,
            .pairingChanged,
            .rekeyChanged, .queueEnded, .command, .problem, .topic:
            false
        }
    }
}

/// The name of a host's own event: `host.` and then 1 to 123 of letters, digits, `.`, `_` and `-`.
package struct HostTopic: Sendable, Hashable {
    package static let maximumBytes = 128
    /// Of what is posted with it, as JSON.
    package static let maximumDataBytes = 65_536

    package let text: String

    package init?(_ text: String) {
        let prefix = "host."
        let bytes = text.utf8
        guard text.hasPrefix(prefix), bytes.count > prefix.utf8.count, bytes.count <= Self.maximumBytes,
            bytes.allSatisfy(Self.isAllowed)
        else { return nil }
        self.text = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}
