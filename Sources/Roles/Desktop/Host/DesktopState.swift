import Hosting
import JSON
import Pairing
import Peering
import Sealing
import Transport
import Wire

/// The result of `bw_desktop_state()`.
@EventLoop
struct DesktopState {
    /// Its caller keeps it. A strong reference here makes the optimizer release it before its lazy units are made.
    private unowned let board: DesktopSwitchboard

    init(of board: DesktopSwitchboard) { self.board = board }

    var json: JSONValue {
        let (identity, offer) = (board.context.identity, board.pairing.offering)
        var state: JSONObject = [
            "id": .string(identity.did.text), "name": .string(identity.deviceInfo.name),
            "started": .bool(board.isStarted), "unread": .integer(board.host.unread),
            "devices": .integer(Int64(board.devices.count)), "connection": board.routes.connection(of: nil)["routes"],
            "relay": board.relay.json,
        ]
        if offer.isActive {
            let reported = offer.reported.data
            state["offer"] = .object(["state": reported["state"], "expiresAt": reported["expiresAt"]])
        }
        state["notes"] = .array((board.machine?.notes ?? []).map(JSONValue.string))
        state["counters"] = counters
        return .object(state)
    }

    private var counters: JSONValue {
        let (commands, channel, malformed) = (board.commands.counters, board.channel.counters, board.host.malformed)
        return [
            "unknownSenders": .integer(channel.unknownSenders),
            "malformedFrames": .integer(malformed.frames),
            "malformedPayloads": .integer(malformed.payloads),
            "refusedCommands": .integer(commands.refused),
            "limitedCommands": .integer(commands.limited),
            "lateCommands": .integer(commands.late),
            "repeatedCommands": .integer(commands.repeated),
            "droppedAcks": .integer(Int64(board.pairing.dropped)),
            "staleAcknowledgements": .integer(board.outboxes.staleAcknowledgements),
            "plainOfSecure": .integer(channel.plainOfSecure),
            "forged": .integer(Int64(clamping: channel.unopened.forged)),
            "replayed": .integer(channel.replayed),
            "misaddressed": .integer(Int64(clamping: channel.unopened.misaddressed)),
            "malformed": .integer(Int64(clamping: channel.unopened.malformed)),
            "downgraded": .integer(Int64(clamping: channel.unopened.downgraded)),
            "revoked": .integer(channel.revoked),
        ]
    }
}
