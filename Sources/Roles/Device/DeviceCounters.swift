import Delivery
import JSON
import Peering
import Sealing

/// What the device's units have counted since it was opened.
struct DeviceCounters {
    let pushes: PushReceiver.Counters
    let sealed: PeerChannel.Counters
    let dropped: FrameReader.Counters
    let silent: (total: Int64, failed: Int64)
    let unopenedPushes: Int64
    let repeatedCommands: Int64
    let strayResponses: UInt64
    let pairingFrames: Int

    var json: JSONObject {
        [
            "admitted": .integer(Int64(clamping: pushes.admitted)),
            "duplicates": .integer(Int64(clamping: pushes.duplicates)),
            "malformedEvents": .integer(Int64(clamping: pushes.malformed)),
            "malformedPayloads": .integer(dropped.malformedPayloads),
            "malformedFrames": .integer(dropped.malformedFrames),
            "unknownSenders": .integer(sealed.unknownSenders),
            "refusedByRelay": .integer(dropped.refusedByRelay),
            "repeatedCommands": .integer(repeatedCommands),
            "unopenedBodies": .integer(dropped.unopenedBodies),
            "unopenedPushes": .integer(unopenedPushes),
            "plainOfSecure": .integer(sealed.plainOfSecure),
            "sealsForged": .integer(Int64(clamping: sealed.unopened.forged)),
            "sealsReplayed": .integer(sealed.replayed &+ Int64(clamping: pushes.replayed)),
            "sealsMisaddressed": .integer(Int64(clamping: sealed.unopened.misaddressed)),
            "sealsMalformed": .integer(Int64(clamping: sealed.unopened.malformed)),
            "sealsDowngraded": .integer(Int64(clamping: sealed.unopened.downgraded)),
            "revoked": .integer(sealed.revoked),
            "handshakesRefused": .integer(sealed.refusedHandshakes),
            "droppedPairingFrames": .integer(Int64(clamping: pairingFrames)),
            "silentPushes": .integer(silent.total), "silentFailed": .integer(silent.failed),
            "strayResponses": .integer(Int64(clamping: strayResponses)),
        ]
    }
}
