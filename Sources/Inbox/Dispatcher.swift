import Notifications
package import Wire

/// The first look at each push on the device: malformed ones are dropped and counted, doubled ones are dropped.
///
/// A pure state machine; `now` is monotonic milliseconds. It remembers the last 256 ids for 30 s, keyed by desktop and
/// notification, never by a timestamp. What is older, or came before a restart, the inbox's rows tell apart
/// (`protocol.md` 4.4).
package struct Dispatcher: Sendable {
    /// What came so far, for the host to read.
    package struct Counters: Sendable, Equatable {
        package var admitted: UInt64 = 0
        package var duplicates: UInt64 = 0
        package var malformed: UInt64 = 0

        package init() {}
    }

    package static let limit = 256
    package static let lifetime: UInt64 = 30_000

    private var recent = RecentPushes(limit: Dispatcher.limit)
    package private(set) var counters = Counters()

    package init() {}

    package enum Admission: Sendable, Hashable {
        /// Store it: the inbox has the last word.
        case admitted
        case duplicate
    }

    package mutating func admit(
        _ event: NotificationEvent, from desktop: PeerID, now: UInt64
    ) -> Admission {
        let key = RecentPushes.Key(desktop: desktop, id: event.id)
        if let seenAt = recent.touch(key), now &- seenAt < Dispatcher.lifetime {
            counters.duplicates &+= 1
            return .duplicate
        }
        recent.insert(key, at: now)
        counters.admitted &+= 1
        return .admitted
    }

    /// An event that cannot be read is dropped. It takes no slot.
    package mutating func drop(_ malformed: MalformedPayload) { counters.malformed &+= 1 }

    /// An admitted push was not stored: its sender may try again.
    package mutating func release(_ id: NotificationID, from desktop: PeerID) {
        counters.admitted &-= 1
        recent.remove(RecentPushes.Key(desktop: desktop, id: id))
    }

    /// An admitted push was in the inbox already.
    package mutating func wasStoredBefore() {
        counters.admitted &-= 1
        counters.duplicates &+= 1
    }
}
