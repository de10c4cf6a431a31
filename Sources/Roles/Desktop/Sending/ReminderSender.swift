import Peering
import Transport
import Wire

/// Tells devices that they are not paired any more, now and later (WireSealing, "Unpairing").
@EventLoop
struct ReminderSender {
    let devices: DeviceBook
    let sender: PeerSender

    /// The device was unpaired.
    func begin(_ device: PeerID) {
        devices.reminders.begin(device, now: EventLoop.now)
        for (route, _) in sender.routes.online { remind(device, over: route) }
    }

    /// The route is up.
    func connected(over route: RouteID) {
        for device in devices.reminders.due(over: route) { remind(device, over: route) }
    }

    /// A stranger has sealed something to the desktop.
    ///
    /// - Parameter asStranger: it isn't being paired, so it may be one whose pairing was lost.
    func spoke(_ peer: PeerID, over route: RouteID, asStranger: Bool = false) {
        if devices.reminders.spoke(peer, now: EventLoop.now, asStranger: asStranger) { remind(peer, over: route) }
    }

    private func remind(_ device: PeerID, over route: RouteID) {
        if sender.unpair(device, over: route) { devices.reminders.told(device, over: route) }
    }
}
