import Alerts
import Commands
import Delivery
import Hosting
import Inbox
import JSON
import Notifications
import OfflineQueue
import Pairing
import Sealing
import Signalling
import Store
import Transport
import Wire

// What hosts can read.
extension DeviceCore {
    func describe(_ then: @escaping Then) {
        store { (connection) throws(StoreError) in
            let inbox = Inbox(connection)
            return (
                try inbox.unreadCount(), try inbox.latestPush(), try AlertPreferences(connection).authorization()
            )
        } then: { core, result in
            switch result {
            case .failure(let error): then(.failure(HostError(error)))
            case .success((let unread, let latest, let authorization)):
                var state = core.state(unread: unread, latest: latest)
                state["authorization"] = .string(authorization.current(.now).status.rawValue)
                then(.success(JSONValue.object(state).serialized()))
            }
        }
    }

    private func state(unread: Int64, latest: Inbox.Entry?) -> JSONObject {
        var latestPush: JSONObject?
        if let latest {
            latestPush = latest.notification.receivedData()
            latestPush?["desktop"] = .string(latest.desktop.text)
        }
        return [
            "id": .string(did.text), "deviceId": .string(deviceID), "name": .string(options.common.name),
            "started": .bool(isStarted), "unread": .integer(unread),
            "latestPush": latestPush.map(JSONValue.object) ?? .null,
            "connection": .array(
                desktops.map { desktop in
                    var connection: JSONObject = ["desktop": .string(desktop.id.text), "name": .string(desktop.name)]
                    connection.merge(self.connection(of: desktop))
                    return .object(connection)
                }),
            "queue": .object(queue.summary),
            "notes": .array((machine?.notes ?? []).map(JSONValue.string)),
            "counters": [
                "admitted": .integer(Int64(clamping: pushes.counters.admitted)),
                "duplicates": .integer(Int64(clamping: pushes.counters.duplicates)),
                "malformedEvents": .integer(Int64(clamping: pushes.counters.malformed)),
                "malformedPayloads": .integer(counters.malformedPayloads),
                "malformedFrames": .integer(counters.malformedFrames),
                "unknownSenders": .integer(counters.unknownSenders),
                "refusedByRelay": .integer(counters.refusedByRelay),
                "repeatedCommands": .integer(counters.repeatedCommands),
                "unopenedBodies": .integer(counters.unopenedBodies),
                "plainOfSecure": .integer(counters.plainOfSecure),
                "sealsForged": .integer(Int64(clamping: sealer.refused.forged)),
                "sealsReplayed": .integer(
                    Int64(clamping: sealer.refused.replayed &+ pushes.counters.replayed) &+ counters.replayed),
                "sealsMisaddressed": .integer(Int64(clamping: sealer.refused.misaddressed)),
                "sealsMalformed": .integer(Int64(clamping: sealer.refused.malformed)),
                "droppedPairingFrames": .integer(
                    Int64(
                        clamping: scanning.machine.dropped.total &+ showing.machine.dropped.total
                            &+ typing.machine.dropped.total)),
                "silentPushes": .integer(silentPushes.total), "silentFailed": .integer(silentPushes.failed),
                "strayResponses": .integer(Int64(clamping: calls.strayResponses)),
            ],
        ]
    }

    func describeDesktops(_ then: @escaping Then) {
        then(.success(JSONValue.array(desktopList).serialized()))
    }
}
