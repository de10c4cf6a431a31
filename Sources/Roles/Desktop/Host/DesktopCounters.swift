import JSON
import Peering
import Sealing

/// What the desktop's units have counted since it was opened.
struct DesktopCounters {
    let commands: CommandServer.Counters
    let channel: PeerChannel.Counters
    let malformed: HostReports.Malformed
    let pairingFrames: Int
    let staleAcknowledgements: Int64

    var json: JSONValue {
        [
            "unknownSenders": .integer(channel.unknownSenders),
            "malformedFrames": .integer(malformed.frames),
            "malformedPayloads": .integer(malformed.payloads),
            "refusedCommands": .integer(commands.refused),
            "limitedCommands": .integer(commands.limited),
            "lateCommands": .integer(commands.late),
            "repeatedCommands": .integer(commands.repeated),
            "droppedAcks": .integer(Int64(pairingFrames)),
            "staleAcknowledgements": .integer(staleAcknowledgements),
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
