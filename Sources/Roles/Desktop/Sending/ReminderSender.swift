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
        for (url, _) in sender.routes.onlineLinks { remind(device, over: url) }
    }

    /// A relay has registered the desktop.
    func connected(to url: String) { for device in devices.reminders.due(over: url) { remind(device, over: url) } }

    /// A stranger has sealed something to the desktop.
    ///
    /// - Parameter asStranger: it isn't being paired, so it may be one whose pairing was lost.
    func spoke(_ peer: PeerID, over url: String, asStranger: Bool = false) {
        if devices.reminders.spoke(peer, now: EventLoop.now, asStranger: asStranger) { remind(peer, over: url) }
    }

    private func remind(_ device: PeerID, over url: String) {
        if sender.unpair(device, over: url) { devices.reminders.told(device, over: url) }
    }
}
