import Hosting
import JSON
import Pairing
import Relay
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
            ])
        }
        if offering.isActive, case .displaying(_, let expiresAt) = offering.reported {
            state["offer"] = .object(["state": "displaying", "expiresAt": .integer(expiresAt)])
        }
        state["counters"] = [
            "unknownSenders": .integer(counters.unknownSenders),
            "malformedFrames": .integer(counters.malformedFrames),
            "malformedPayloads": .integer(counters.malformedPayloads),
            "refusedCommands": .integer(counters.refusedCommands),
            "droppedAcks": .integer(Int64(offering.dropped.total)),
        ]
        then(.success(JSONValue.object(state).serialized()))
    }

    func describeDevices(_ then: Then) {
        then(.success(JSONValue.array(devices.map { .object($0.json) }).serialized()))
    }
}
