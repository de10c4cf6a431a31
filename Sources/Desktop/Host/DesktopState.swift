import JSON
import Pairing
import Peering
import Sealing
import Wire

/// What `bw_desktop_state()` answers.
struct DesktopState {
    let identity: PairingIdentity
    let isStarted: Bool
    let unread: Int64
    let devices: Int
    /// `{"online","routes":[…]}`
    let connection: JSONObject
    let relay: JSONValue?
    let offer: DesktopOfferStateMachine
    /// Why something of the machine is not followed, for people.
    let notes: [String]
    let commands: CommandServer.Counters
    let channel: PeerChannel.Counters
    let malformed: HostReports.Malformed
    /// Pairing frames that were dropped.
    let droppedAcks: Int
    /// Of pushes that an earlier start has sent.
    let staleAcknowledgements: Int64

    var json: JSONValue {
        var state: JSONObject = [
            "id": .string(identity.did.text), "name": .string(identity.deviceInfo.name), "started": .bool(isStarted),
            "unread": .integer(unread), "devices": .integer(Int64(devices)), "connection": connection["routes"],
            "relay": relay,
        ]
        if offer.isActive {
            let reported = offer.reported.data
            state["offer"] = .object(["state": reported["state"], "expiresAt": reported["expiresAt"]])
        }
        state["notes"] = .array(notes.map(JSONValue.string))
        state["counters"] = [
            "unknownSenders": .integer(channel.unknownSenders),
            "malformedFrames": .integer(malformed.frames),
            "malformedPayloads": .integer(malformed.payloads),
            "refusedCommands": .integer(commands.refused),
            "limitedCommands": .integer(commands.limited),
            "lateCommands": .integer(commands.late),
            "repeatedCommands": .integer(commands.repeated),
            "droppedAcks": .integer(Int64(droppedAcks)),
            "staleAcknowledgements": .integer(staleAcknowledgements),
            "plainOfSecure": .integer(channel.plainOfSecure),
            "forged": .integer(Int64(clamping: channel.unopened.forged)),
            "replayed": .integer(channel.replayed),
            "misaddressed": .integer(Int64(clamping: channel.unopened.misaddressed)),
            "malformed": .integer(Int64(clamping: channel.unopened.malformed)),
            "downgraded": .integer(Int64(clamping: channel.unopened.downgraded)),
        ]
        return .object(state)
    }
}
