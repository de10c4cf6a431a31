import Alerts
import Delivery
import Hosting
import Inbox
import JSON
import Notifications
import Pairing
import Peering
import Sealing
import Signalling
import Store
import Transport
import Wire

/// The device's state for hosts (`bw_device_state`).
@EventLoop
struct DeviceStatus {
    private let board: DeviceSwitchboard

    init(of board: DeviceSwitchboard) { self.board = board }

    func read(_ then: @escaping Then) {
        board.context.answer(then) { (connection) throws(StoreError) in
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
        let context = board.context
        return [
            "id": .string(context.did.text), "deviceId": .string(context.deviceID),
            "name": .string(context.options.common.name), "started": .bool(board.life.isStarted),
            "unread": .integer(unread), "latestPush": latestPush.map(JSONValue.object) ?? .null,
            "connection": .array(
                board.desktops.peers.peers.map { desktop in
                    var connection: JSONObject = ["desktop": .string(desktop.id.text), "name": .string(desktop.name)]
                    connection.merge(board.routes.connection(of: desktop.id))
                    return .object(connection)
                }),
            "queue": .object(board.queue.summary),
            "notes": .array(board.life.notes.map(JSONValue.string)), "counters": .object(counters),
        ]
    }

    private var counters: JSONObject {
        let (pushes, sealed, dropped) = (board.pushes.counters, board.channel.counters, board.frames.counters)
        let silent = board.pushServices.silentPushes
        return [
            "admitted": .integer(Int64(clamping: pushes.admitted)),
            "duplicates": .integer(Int64(clamping: pushes.duplicates)),
            "malformedEvents": .integer(Int64(clamping: pushes.malformed)),
            "malformedPayloads": .integer(dropped.malformedPayloads),
            "malformedFrames": .integer(dropped.malformedFrames),
            "unknownSenders": .integer(sealed.unknownSenders),
            "refusedByRelay": .integer(dropped.refusedByRelay),
            "repeatedCommands": .integer(board.commands.repeated),
            "unopenedBodies": .integer(dropped.unopenedBodies),
            "unopenedPushes": .integer(board.pushServices.prekeys.refused),
            "plainOfSecure": .integer(sealed.plainOfSecure),
            "sealsForged": .integer(Int64(clamping: sealed.unopened.forged)),
            "sealsReplayed": .integer(sealed.replayed &+ Int64(clamping: pushes.replayed)),
            "sealsMisaddressed": .integer(Int64(clamping: sealed.unopened.misaddressed)),
            "sealsMalformed": .integer(Int64(clamping: sealed.unopened.malformed)),
            "sealsDowngraded": .integer(Int64(clamping: sealed.unopened.downgraded)),
            "revoked": .integer(sealed.revoked),
            "handshakesRefused": .integer(sealed.refusedHandshakes),
            "droppedPairingFrames": .integer(Int64(clamping: board.pairing.flows.dropped)),
            "silentPushes": .integer(silent.total), "silentFailed": .integer(silent.failed),
            "strayResponses": .integer(Int64(clamping: board.commands.strayResponses)),
        ]
    }
}
