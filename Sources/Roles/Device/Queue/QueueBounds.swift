import Inbox
import JSON
import Notifications
import OfflineQueue
import Store
import Wire

/// Gives a command about everything its bound before it is queued: it must not concern what the desktop creates while it
/// waits (WireMessages, "Commands about everything").
///
/// Made for one piece of work on the store, over its connection.
struct QueueBounds {
    let connection: Connection

    /// - Parameters:
    ///   - isSecure: the desktop understands a bound. Another one gets the ids of what the user saw.
    ///   - row: the newest row of the inbox when the user asked.
    func bounded(
        _ command: QueuedCommand, isSecure: Bool, through row: Int64 = .max
    ) throws(StoreError) -> QueuedCommand {
        guard let effect = NotificationMethod(name: command.method)?.row.effect, effect.isOfAll,
            command.ids == nil, !CommandBound.isGiven(in: command.params)
        else { return command }
        let seen = InboxSeen(connection, of: command.desktop, through: row)
        var bounded = command
        if isSecure {
            let bound = try seen.bound(at: command.createdAt)
            bounded.params.merge(bound.params)
        } else {
            let ids = try seen.ids(effect, limit: QueuedCommand.idLimit)
            bounded.params["ids"] = .array(ids.map { .string($0.text) })
        }
        return bounded
    }

    /// Gives a bound to commands that were stored without one: what the device has when it opens, which their users saw.
    func adopt(_ secure: Set<PeerID>) throws(StoreError) {
        let table = QueueTable(connection)
        var change = OfflineQueue.Change()
        for command in try table.load().commands {
            let bounded = try bounded(command, isSecure: secure.contains(command.desktop))
            if bounded != command { change.writes.append(.update(bounded)) }
        }
        try table.save(change)
    }
}
