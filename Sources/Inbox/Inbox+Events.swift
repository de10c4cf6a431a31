import Notifications
package import Store
package import Wire

extension Inbox {
    /// Applies a desktop's change of its own state, except its settings (WireMessages, "State changes").
    package func apply(_ event: StateEvent, from desktop: PeerID, at moment: EpochMilliseconds) throws(StoreError) {
        switch event {
        case .read(let ids, let readAt): try apply(.read, ids, of: desktop, at: readAt)
        case .deleted(let ids): try apply(.delete, ids, of: desktop, at: moment)
        case .cleared(let before): try cleared(before: before, of: desktop)
        case .settingsChanged: break
        }
    }
}
