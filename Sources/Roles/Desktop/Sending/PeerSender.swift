import JSON
import Pairing
import Peering
import Signalling
import Transport
import Wire

/// Sends payloads to peers over the routes that suit each payload, sealed if the peer was paired sealed (WireSealing,
/// "The seal").
@EventLoop
struct PeerSender {
    let routes: Routes
    let channel: PeerChannel

    /// A push, or what stands for one.
    func send(_ payload: JSONValue, to device: PairedDevice) -> Sent {
        let did = device.did
        guard routes.isAbsent(did) else {
            return channel.send(payload, to: did, sealed: device.isSecure, over: routes.bestLink(to: did))
        }
        // Called absent everywhere: each relay is asked once more.
        let sent = routes.online.map { channel.send(payload, to: did, sealed: device.isSecure, over: $0.link) }
        return sent.first(where: \.isWritten) ?? sent.first ?? .offline
    }

    /// An answer: over the route that the request came by, else over the device's best.
    func answer(_ request: DeviceRequest, _ outcome: CommandResponse.Outcome) -> Sent {
        channel.send(
            request.response(outcome), to: request.device, sealed: request.isSecure,
            over: routes.link(request.route, orBestOf: request.device))
    }

    /// Answers a deployed phone's heartbeat (WireDeployedRequests, "Heartbeats").
    func acknowledge(_ heartbeat: JSONValue, of device: PeerID, over route: RouteID) {
        let answer = Heartbeat.acknowledgement(of: heartbeat, at: .now)
        _ = channel.send(answer, to: device, sealed: false, over: routes.link(route, orBestOf: device))
    }

    /// Only to Bellwire devices, because no others understand it. An offline one requests the history when it is back.
    func announce(_ event: StateEvent, to devices: [PeerID]) {
        guard !devices.isEmpty else { return }
        let payload = event.payload
        for device in devices {
            _ = channel.send(payload, to: device, sealed: true, over: routes.bestLink(to: device))
        }
    }

    /// What only sessions may carry. Without one it is dropped: it is said again in the next.
    func sendInSession(_ payload: JSONValue, to device: PeerID) {
        guard channel.sessions?.hasSession(with: device) == true else { return }
        _ = channel.send(payload, to: device, sealed: true, over: routes.bestLink(to: device))
    }

    /// Tells a device that it is not paired. `false` = the relay has not taken it.
    func unpair(_ device: PeerID, over route: RouteID) -> Bool {
        channel.sendUnpair(to: device, over: routes.link(route)).isWritten
    }
}
