import Hosting
import Inbox
import JSON
import Notifications
import Sharing
import Store
import Wire

/// The pushes of the inbox, for programs that share the device: their rows are the feed.
struct InboxFeed: FeedTable {
    /// The file in which a program that doesn't share the device notes what its callbacks are about to see.
    let handoverPath: String?

    func join(_ application: String, _ connection: Connection) throws(StoreError) -> Bool {
        let inbox = Inbox(connection)
        let host = try inbox.handover.watermarks()
        let mark = handoverPath.flatMap { HandoverMark(path: $0) }
        return try inbox.programs.join(
            application, seen: mark?.begin(handed: host.handed, offered: host.offered) ?? host.offered)
    }

    /// Pushes are offered ahead, so that handing over the first ones writes nothing either.
    func begin(_ application: String, _ connection: Connection) throws(StoreError) -> FeedMarks? {
        let programs = InboxPrograms(connection)
        guard let marks = try programs.marks(application) else { return nil }
        try programs.offer(application, through: marks.handed &+ InboxPrograms.offeredAhead)
        return FeedMarks(slot: marks.slot, handed: marks.handed, offered: marks.offered)
    }

    func take(
        _ application: String, limit: Int, _ size: inout FeedBatch.Size, _ connection: Connection
    ) throws(StoreError) -> [WaitingEvent] {
        var events: [WaitingEvent] = []
        _ = try InboxPrograms(connection).take(application, limit: limit) { entry in
            let event = entry.event()
            guard size.fits(event) else { return false }
            events.append(event)
            return true
        }
        return events
    }

    func takeDropped(_ application: String, _ connection: Connection) throws(StoreError) -> Int64 {
        try InboxPrograms(connection).takeDropped(application)
    }

    func finish(_ application: String, through row: Int64, _ connection: Connection) throws(StoreError) {
        try InboxPrograms(connection).finish(application, through: row)
    }

    func settle(_ application: String, seen: Int64, _ connection: Connection) throws(StoreError) {
        try InboxPrograms(connection).settle(application, seen: seen)
    }

    func forget(_ application: String, _ connection: Connection) throws(StoreError) {
        try InboxPrograms(connection).forget(application)
    }
}

extension Inbox.Entry {
    /// As the program gets it.
    func event(redelivered isRedelivered: Bool = false) -> WaitingEvent {
        var data = notification.receivedData(redelivered: isRedelivered)
        if let replaces { data["replaces"] = .string(replaces.text) }
        return WaitingEvent(
            row: arrival,
            event: HostEvent(
                replaces == nil ? .notificationReceived : .notificationUpdated, desktop: desktop.text, data: data))
    }
}
