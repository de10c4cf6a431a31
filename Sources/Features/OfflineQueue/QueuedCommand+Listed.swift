package import JSON
import Notifications
package import Wire

/// A command about everything for a deployed desktop, which knows no bound: it names what the user saw in `ids`, and goes
/// out as a `markAsRead` of all of them, or as one `delete` after another (WireDeployedPeers, "What a device sends").
extension QueuedCommand {
    /// Such a command names at most so many, the newest.
    package static let idLimit = 1_000

    /// `nil` = it is sent as it is.
    package var ids: [JSONValue]? {
        NotificationMethod(name: method)?.row.effect?.isOfAll == true ? params["ids"]?.array : nil
    }

    /// What is sent next.
    package var wire: (method: String, params: JSONObject) {
        guard let ids else { return (method, params) }
        guard isOneByOne else { return (NotificationMethod.markAsRead.name, ["ids": .array(ids)]) }
        let id = ids.first ?? ""
        return (NotificationMethod.delete.name, ["notificationId": id, "id": id])
    }

    /// The id of what is sent next: a late answer to one delete must not count for the one after it.
    package var wireID: RequestID {
        guard let ids, isOneByOne else { return id }
        return RequestID("\(id.text)-\(ids.count)")
    }

    /// The result, if the user had seen nothing.
    package var emptyResult: JSONObject? {
        guard ids?.isEmpty == true else { return nil }
        return ["success": true, isOneByOne ? "clearedCount" : "markedCount": 0]
    }

    private var isOneByOne: Bool { NotificationMethod(name: method)?.row.effect == .clear }

    /// The desktop has answered a delete: what is left, or the result of all.
    func answered(_ result: JSONObject) -> (rest: QueuedCommand?, result: JSONObject) {
        guard let ids, isOneByOne else { return (nil, result) }
        let count = (params["deleted"]?.integer ?? 0) &+ (result["deletedCount"]?.integer ?? 1)
        guard ids.count > 1 else { return (nil, ["success": true, "clearedCount": .integer(count)]) }
        var rest = self
        rest.params = ["ids": .array(Array(ids.dropFirst())), "deleted": .integer(count)]
        rest.state = .pending
        rest.tries = 0
        return (rest, result)
    }
}
