import Hosting
import Inbox
import JSON
import Notifications
import OfflineQueue
import Pairing
import Peering
import Sealing
import Signalling
import Store
import Transport
import Wire

/// State changes that desktops report, as results of methods and as events: the inbox shows it, settings are kept.
@EventLoop
final class DesktopUpdates {
    private struct Learned: Sendable {
        let unread: Int64
        /// They have changed.
        let settings: SettingsCache.Entry?
    }

    private let context: DeviceContext
    private let book: DesktopBook
    private let channel: PeerChannel
    /// Has this unit.
    private unowned let inbox: DeviceInbox

    init(_ context: DeviceContext, _ book: DesktopBook, _ channel: PeerChannel, _ inbox: DeviceInbox) {
        self.context = context
        self.book = book
        self.channel = channel
        self.inbox = inbox
    }

    /// A desktop has done what a method of the host's asked for: the inbox is to show it. `then` comes after that.
    func learn(
        _ method: NotificationMethod, _ params: JSONObject, _ result: JSONObject, from desktop: PeerID,
        then: @escaping @Sendable @EventLoop () -> Void = {}
    ) {
        let settings = method.row.result.settings(in: result)
        let isDone = result["success"] != false
        if isDone { book.peers[desktop]?.sync.succeeded(method.row.risk) }
        // The next refresh shows what a command about everything has changed that came from the queue.
        let isBounded = CommandBound.isGiven(in: params) || params["ids"] != nil
        let change = isDone && !isBounded ? method.row.effect : nil
        guard settings != nil || change != nil else { return then() }
        if change != nil { inbox.overtake(desktop) }
        let revision = result["revision"]?.integer
        let ids = params["notificationId"]?.string.map { [NotificationID($0)] } ?? []
        let moment = EpochMilliseconds.now
        context.store { (connection) throws(StoreError) -> Learned in
            let inbox = Inbox(connection)
            if let change { try inbox.changes.apply(change, ids, of: desktop, at: moment) }
            let told = try settings.flatMap { (settings) throws(StoreError) in
                try SettingsCache(connection).keep(settings, revision, of: desktop, at: moment, isEvent: false)
            }
            return Learned(unread: try inbox.counts.unread(), settings: told)
        } then: { [weak self] result in
            if let self, case .success(let learned) = result {
                tell(learned.settings, of: desktop)
                if change != nil { inbox.tell(desktop, unread: learned.unread) }
            }
            then()
        }
    }

    /// A desktop reports a change of its state (WireMessages, "State changes").
    func apply(_ event: StateEvent, from desktop: PeerID, _ mark: SealMark?) {
        let isOfInbox: Bool
        switch event {
        case .read, .deleted, .cleared: isOfInbox = true
        case .settingsChanged: isOfInbox = false
        }
        if isOfInbox { inbox.overtake(desktop) }
        let moment = EpochMilliseconds.now
        context.store { (connection) throws(StoreError) -> Learned? in
            if let mark, try !SealStates(connection).save(mark) { return nil }
            let inbox = Inbox(connection)
            try inbox.changes.apply(event, from: desktop, at: moment)
            var told: SettingsCache.Entry?
            if case .settingsChanged(let object, let revision) = event {
                told = try SettingsCache(connection).keep(object, revision, of: desktop, at: moment, isEvent: true)
            }
            return Learned(unread: try inbox.counts.unread(), settings: told)
        } then: { [weak self] result in
            guard let self else { return }
            switch result {
            case .failure(let error) where error.code != .closed:
                context.channel.problem("store_failed", "dropped a desktop's event: \(error.message)")
            case .failure: break
            case .success(nil): channel.countReplay()
            case .success(let learned?):
                tell(learned.settings, of: desktop)
                if isOfInbox { inbox.tell(desktop, unread: learned.unread) }
            }
        }
    }

    // MARK: Settings

    private func tell(_ settings: SettingsCache.Entry?, of desktop: PeerID) {
        guard let settings else { return }
        if let revision = settings.revision { note(revision: revision, of: desktop) }
        context.channel.post(HostEvent(.settingsChanged, desktop: desktop.text, data: settings.json))
    }

    /// A desktop has reported the revision of its settings.
    func note(revision: Int64, of desktop: PeerID) {
        guard book.peers.contains(desktop), book.peers[desktop]?.settingsRevision != revision else { return }
        book.peers[desktop]?.settingsRevision = revision
        context.store { (connection) throws(StoreError) in
            try QueueTable(connection).note(revision: revision, of: desktop)
        } then: { _ in
        }
    }

    /// The desktop was unpaired.
    func forget(_ desktop: PeerID) {
        context.store { (connection) throws(StoreError) in
            try QueueTable(connection).forgetRevision(of: desktop)
        } then: { _ in
        }
    }

    /// A desktop's settings as last received; readable offline.
    func describeSettings(of name: String?, _ then: @escaping Then) {
        let desktop: PeerID
        switch book.pick(name) {
        case .failure(let error): return then(.failure(error))
        case .success(let picked): desktop = picked.id
        }
        context.answer(then) { (connection) throws(StoreError) in
            try SettingsCache(connection).entry(of: desktop)
        } json: { [book] entry in
            if let entry { return .success(HostReply(entry.json)) }
            guard book.peers[desktop]?.lacksSkill != true else { return .failure(.noSkill) }
            return .failure(HostError(.notFound, "the desktop's settings have never been received"))
        }
    }
}

extension SettingsCache {
    /// Keeps settings as they came. Gives them if anything has changed.
    fileprivate func keep(
        _ object: JSONObject, _ revision: Int64?, of desktop: PeerID, at moment: EpochMilliseconds, isEvent: Bool
    ) throws(StoreError) -> Entry? {
        guard let settings = try? Settings(decoding: object),
            try keep(settings, revision: revision, of: desktop, at: moment, isEvent: isEvent)
        else { return nil }
        return try entry(of: desktop)
    }
}
