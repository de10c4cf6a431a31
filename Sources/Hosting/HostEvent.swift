package import JSON

/// Something that a role tells the program that embeds it.
package struct HostEvent: Sendable {
    /// The events that a host can subscribe to.
    package enum Name: String, Sendable, CaseIterable {
        case notificationReceived = "notification.received"
        /// A push has taken the place of one that the host has had.
        case notificationUpdated = "notification.updated"
        case unreadChanged = "unread.changed"
        case connectionChanged = "connection.changed"
        case pairingChanged = "pairing.changed"
        case peersChanged = "peers.changed"
        /// A desktop's part of the inbox is another one, or is being loaded.
        case inboxChanged = "inbox.changed"
        case settingsChanged = "settings.changed"
        // What a desktop tells of its history, to its host and to the user's other devices (protocol.md 4.6).
        case notificationRead = "notification.read"
        case notificationDeleted = "notification.deleted"
        case notificationCleared = "notification.cleared"
        case queueChanged = "queue.changed"
        /// A queued command was carried out, has failed, or has left the queue.
        case queueEnded = "queue.ended"
        case command
        case problem

        /// Whether a newer one makes an older one needless that still waits for the host.
        package var isState: Bool {
            switch self {
            case .unreadChanged, .connectionChanged, .peersChanged, .queueChanged, .inboxChanged, .settingsChanged: true
            // Each step of a pairing is for the host to see.
            case .notificationReceived, .notificationUpdated, .notificationRead, .notificationDeleted,
                .notificationCleared, .pairingChanged, .queueEnded, .command, .problem:
                false
            }
        }
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

/// The pushes that wait in a role's store until the host has taken them.
///
/// Both calls block on the store's thread; they are for the host's thread only.
package protocol PushSource: AnyObject, Sendable {
    /// The oldest waiting pushes, at most `limit`, durably marked as being handed over.
    func takePushes(limit: Int) throws(HostError) -> [WaitingPush]

    /// Durably marks `handed` as handed over and lets `untouched` wait again, as if never taken.
    func finishPushes(handed: [Int64], untouched: [Int64]) throws(HostError)
}

/// One stored push on its way to the host.
package struct WaitingPush: Sendable {
    /// Its row in the store.
    package let row: Int64
    package let event: HostEvent

    package init(row: Int64, event: HostEvent) {
        self.row = row
        self.event = event
    }
}
