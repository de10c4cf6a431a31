import Alerts
import Hosting
import Inbox
import JSON
import Notifications
import Pairing
import Peering
import Signalling
import Store
import Transport
import Wire

/// The device's state for hosts (`bw_device_state`).
@EventLoop
struct DeviceStatus {
    /// What the units say of themselves.
    struct Units {
        let isStarted: Bool
        let queue: JSONObject
        let notes: [String]
        let counters: DeviceCounters
    }

    let context: DeviceContext
    let desktops: DesktopBook
    let routes: Routes
    let units: @EventLoop () -> Units

    func read(_ then: @escaping Then) {
        context.answer(then) { (connection) throws(StoreError) in
            let inbox = Inbox(connection)
            return (
                unread: try inbox.counts.unread(), latest: try inbox.latestPush(),
                authorization: try AlertPreferences(connection).authorization()
            )
        } json: { stored in
            var state = json(unread: stored.unread, latest: stored.latest)
            state["authorization"] = .string(stored.authorization.current(.now).status.rawValue)
            return .success(HostReply(state))
        }
    }

    private func json(unread: Int64, latest: Inbox.Entry?) -> JSONObject {
        var latestPush: JSONObject?
        if let latest {
            latestPush = latest.notification.receivedData()
            latestPush?["desktop"] = .string(latest.desktop.text)
        }
        let units = units()
        return [
            "id": .string(context.did.text), "deviceId": .string(context.deviceID),
            "name": .string(context.options.common.name), "started": .bool(units.isStarted),
            "unread": .integer(unread), "latestPush": latestPush.map(JSONValue.object) ?? .null,
            "connection": .array(
                desktops.peers.peers.map { desktop in
                    var connection: JSONObject = ["desktop": .string(desktop.id.text), "name": .string(desktop.name)]
                    connection.merge(routes.connection(of: desktop.id))
                    return .object(connection)
                }), "queue": .object(units.queue), "notes": .array(units.notes.map(JSONValue.string)),
            "counters": .object(units.counters.json),
        ]
    }
}
