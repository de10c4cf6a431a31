import Hosting
import JSON
import Pairing
import Relay
import Sealing
import Transport
import Wire

// What hosts can read.
extension DesktopCore {
    func describe(_ then: @escaping Then) {
        var state: JSONObject = [
            "id": .string(peerID.text), "name": .string(options.common.name), "started": .bool(isStarted),
            "unread": .integer(unread), "devices": .integer(Int64(devices.count)),
            "connection": connection["routes"],
        ]
        if let relay {
            state["relay"] = .object([
                "port": .integer(Int64(relay.port)),
                "healthPort": relay.healthPort.map { .integer(Int64($0)) },
                "note": announcement?.note.map(JSONValue.string),
            ])
        }
        if offering.isActive {
            let offer = offering.reported.data
            state["offer"] = .object(["state": offer["state"], "expiresAt": offer["expiresAt"]])
        }
        let refused = sealer.refused
        state["notes"] = .array((machine?.notes ?? []).map(JSONValue.string))
        state["counters"] = [
            "unknownSenders": .integer(counters.unknownSenders),
            "malformedFrames": .integer(counters.malformedFrames),
            "malformedPayloads": .integer(counters.malformedPayloads),
            "refusedCommands": .integer(counters.refusedCommands),
            "limitedCommands": .integer(counters.limitedCommands),
            "lateCommands": .integer(counters.lateCommands),
            "repeatedCommands": .integer(counters.repeatedCommands),
            "droppedAcks": .integer(
                Int64(offering.dropped.total &+ scanning.dropped.total &+ coding.dropped.total)),
            "plainOfSecure": .integer(counters.plainOfSecure),
            "forged": .integer(Int64(clamping: refused.forged)),
            "replayed": .integer(Int64(clamping: refused.replayed) &+ counters.replayed),
            "misaddressed": .integer(Int64(clamping: refused.misaddressed)),
            "malformed": .integer(Int64(clamping: refused.malformed)),
        ]
        then(.success(JSONValue.object(state).serialized()))
    }

    func describeDevices(_ then: Then) {
        then(.success(JSONValue.array(devices.map { .object($0.json) }).serialized()))
    }
}
