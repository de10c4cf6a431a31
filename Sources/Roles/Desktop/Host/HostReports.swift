import History
import Hosting
import JSON
import Notifications
import Relay
import Signalling
import Store
import Transport
import Wire

/// The desktop's reports to the program. State is reported only when it has changed.
@EventLoop
final class HostReports {
    /// What could not be read, and was dropped.
    struct Malformed {
        var frames: Int64 = 0
        var payloads: Int64 = 0
    }

    private let channel: HostChannel
    private(set) var unread: Int64
    private var toldUnread: Int64
    private(set) var malformed = Malformed()
    private var forgeryWarnings = ForgeryWarnings()

    nonisolated init(_ channel: HostChannel, unread: Int64) {
        (self.channel, self.unread, toldUnread) = (channel, unread, unread)
    }

    nonisolated var log: Log { channel.log }
    nonisolated var relayLog: RelayLog { channel.relayLog }

    func post(_ name: HostEvent.Name, _ data: JSONObject) { channel.post(HostEvent(name, data: data)) }

    /// Told once for everything that the store has committed together.
    func unread(_ now: Int64) {
        let isPending = unread != toldUnread
        unread = now
        guard !isPending, now != toldUnread else { return }
        EventLoop.post { [self] in
            guard unread != toldUnread else { return }
            toldUnread = unread
            post(.unreadChanged, ["unread": .integer(unread)])
        }
    }

    func devices(_ devices: JSONValue) {
        post(.peersChanged, ["devices": devices])
        if forgeryWarnings.isDue(for: devices) { channel.warnOfForgery(of: "device") }
    }

    /// A push for the desktop's own user.
    func show(_ notification: Notification) { post(.notificationReceived, notification.receivedData()) }

    /// What the desktop's state has become.
    func announce(_ event: StateEvent) {
        let name: HostEvent.Name =
            switch event {
            case .read: .notificationRead
            case .deleted: .notificationDeleted
            case .cleared: .notificationCleared
            case .settingsChanged: .settingsChanged
            }
        post(name, event.fields)
    }

    /// A payload of a type that is the host's to read.
    func command(_ type: String, _ fields: JSONObject, from device: PeerID) {
        var data: JSONObject = ["type": .string(type), "device": .string(device.text)]
        data.merge(fields)
        post(.command, data)
    }

    func dropped(frame error: SignallingFrameError, from url: String) {
        malformed.frames &+= 1
        log(.warning, "dropped a frame from the relay \(WebSocketURL.loggable(url)): \(error.message)")
    }

    /// - Parameter payload: what was dropped, and why, without any of its text.
    func dropped(_ payload: String) {
        malformed.payloads &+= 1
        log(.warning, "dropped \(payload)")
    }

    /// A device has shown a push to its user, or has not.
    func presented(_ receipt: PushReceipt, by device: PeerID) {
        post(
            .notificationPresented,
            [
                "id": .string(receipt.id.text), "device": .string(device.text),
                "presented": .bool(receipt.isPresented), "at": .integer(receipt.at),
            ])
    }

    /// Pushes that a device never gets.
    func expired(_ ids: [NotificationID], of device: PeerID) {
        post(.notificationExpired, ["ids": .array(ids.map { .string($0.text) }), "device": .string(device.text)])
    }

    func outboxIsFull(_ limit: Int64) {
        channel.problem(
            "outbox_full",
            "\(limit) pushes wait for an offline device; from now on the oldest are dropped (they stay in the history)")
    }

    func storeFailed(_ message: String) { channel.problem("store_failed", message) }

    /// A closed store is not reported.
    func storeFailed(_ what: String, _ error: StoreError) {
        if error.code != .closed { storeFailed("\(what): \(error.message)") }
    }
}
