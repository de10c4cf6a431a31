import History
import Hosting
import JSON
import Notifications
import Signalling
import Wire

// What the desktop's state has become, told to its own host and to the user's other devices (protocol.md 4.6).
extension DesktopCore {
    /// Only sealed devices understand it. One that is away asks for the history when it comes: nothing waits for it.
    func announce(_ announcements: [Handled.Announcement]) {
        for announcement in announcements {
            for peer in announcement.devices where isSecure(peer) { tell(announcement.event, to: peer) }
            channel.post(HostEvent(announcement.event))
        }
    }

    private func tell(_ event: StateEvent, to peer: PeerID) {
        for url in routes(to: peer) {
            if let link = links[url], send(event.payload, to: peer, over: link).isWritten { return }
        }
    }
}

extension HostEvent {
    fileprivate init(_ event: StateEvent) {
        let name: Name =
            switch event {
            case .read: .notificationRead
            case .deleted: .notificationDeleted
            case .cleared: .notificationCleared
            case .settingsChanged: .settingsChanged
            }
        self.init(name, data: event.fields)
    }
}
