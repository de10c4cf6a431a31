import Hosting
import Inbox
import JSON
import Notifications
import Store
import Wire

/// The pushes in the inbox that the host has not taken. For the host's thread: every call waits for the store.
final class WaitingPushes: EventSource {
    let name = HostEvent.Name.notificationReceived
    private let database: Database

    init(_ database: Database) { self.database = database }

    func take(limit: Int) throws(HostError) -> [WaitingEvent] {
        let (entries, replaced) = try run { (connection) throws(StoreError) in
            let inbox = Inbox(connection)
            let entries = try inbox.takeForHost(limit: limit, after: 0)
            let rows = entries.map(\.row)
            try inbox.markDispatching(rows)
            return (entries, try inbox.replacedIDs(of: rows))
        }
        if !entries.isEmpty { FailPoint.beforeHandOver.reach() }
        return entries.map { entry in
            var data = entry.notification.receivedData(redelivered: entry.redelivered)
            let replaces = replaced[entry.row]
            if let replaces { data["replaces"] = .string(replaces.text) }
            return WaitingEvent(
                row: entry.row,
                event: HostEvent(
                    replaces == nil ? .notificationReceived : .notificationUpdated, desktop: entry.desktop.text,
                    data: data))
        }
    }

    func finish(handed: [Int64], untouched: [Int64]) throws(HostError) {
        FailPoint.beforeMark.reach()
        try run { (connection) throws(StoreError) in
            try Inbox(connection).markHanded(handed)
            try Inbox(connection).markWaiting(untouched)
        }
        FailPoint.afterMark.reach()
    }

    func restore(untouched: [Int64]) throws(HostError) {
        try run { (connection) throws(StoreError) in
            let inbox = Inbox(connection)
            try inbox.markWaiting(untouched)
            _ = try inbox.recoverDispatching()
        }
    }

    private func run<T: Sendable>(
        _ work: @escaping @Sendable (Connection) throws(StoreError) -> T
    ) throws(HostError) -> T {
        do throws(StoreError) { return try database.run(work) } catch { throw HostError(error) }
    }
}
