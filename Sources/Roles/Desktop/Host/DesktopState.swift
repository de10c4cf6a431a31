import Hosting
import JSON
import Pairing
import Peering
import Transport
import Wire

/// The result of `bw_desktop_state()`.
@EventLoop
struct DesktopState {
    let identity: PairingIdentity
    let life: DesktopLife
    let devices: DeviceBook
    let routes: Routes
    let unread: Int64
    let offer: DesktopOfferStateMachine
    let counters: DesktopCounters

    var json: JSONValue {
        var state: JSONObject = [
            "id": .string(identity.did.text), "name": .string(identity.deviceInfo.name),
            "started": .bool(life.isStarted), "unread": .integer(unread), "devices": .integer(Int64(devices.count)),
            "connection": routes.connection(of: nil)["routes"], "relay": life.relay.json,
        ]
        if offer.isActive {
            let reported = offer.reported.data
            state["offer"] = .object(["state": reported["state"], "expiresAt": reported["expiresAt"]])
        }
        state["notes"] = .array(life.notes.map(JSONValue.string))
        state["counters"] = counters.json
        return .object(state)
    }
}
