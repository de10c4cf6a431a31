import Hosting
import JSON
import Notifications
import Store
import Wire

/// The pushes in the inbox that the host has not taken. For the host's thread: every call waits for the store.
final class WaitingPushes: PushSource {
    private let database: Database

    init(_ database: Database) { self.database = database }

    func takePushes(limit: Int) throws(HostError) -> [WaitingPush] {
        let entries = try run { (connection) throws(StoreError) in
            let inbox = Inbox(connection)
            let entries = try inbox.takeForHost(limit: limit, after: 0)
            try inbox.markDispatching(entries.map(\.row))
            return entries
        }
        return entries.map { entry in
            let data = entry.notification.receivedData(redelivered: entry.redelivered)
            return WaitingPush(
                row: entry.row, event: HostEvent(.notificationReceived, desktop: entry.desktop.text, data: data))
        }
    }

    func finishPushes(handed: [Int64], untouched: [Int64]) throws(HostError) {
        try run { (connection) throws(StoreError) in
            try Inbox(connection).markHanded(handed)
            try Inbox(connection).markWaiting(untouched)
        }
    }

    func restorePushes(untouched: [Int64]) throws(HostError) {
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
