import Hosting
import Inbox
import JSON
import Notifications
import Pairing
import Sealing
import Signalling
import Store
import Transport
import Wire

// What a desktop has done and become while we were away, and what it says of itself while we are there.
extension DeviceCore {
    /// A desktop can be reached, or cannot any more.
    func reachabilityChanged(_ desktop: PairedDesktop, isOnline: Bool) {
        guard isOnline, isStarted else {
            desk.synced.remove(desktop.id)
            return
        }
        guard desk.synced.insert(desktop.id).inserted else { return }
        // A desktop with an outbox sends what we have missed by itself (protocol.md 4.4).
        if desktop.isSecure { catchUp(desktop) } else { fillGap(desktop) }
    }

    /// The history as it is now, then the settings.
    private func catchUp(_ desktop: PairedDesktop) {
        refreshUnasked(desktop) { [weak self] result in
            guard let self, continues(desktop, after: result.map { _ in }) else { return }
            fetchSettings(of: desktop)
        }
    }

    /// Whether it makes sense to ask on. A desktop that went away is asked anew when it is back.
    private func continues(_ desktop: PairedDesktop, after result: Result<Void, HostError>) -> Bool {
        guard case .failure(let error) = result else { return true }
        if error.code == .offline { desk.synced.remove(desktop.id) }
        return error.code != .unsupported && error.code != .offline && error.code != .closed && error.code != .timeout
    }

    // MARK: The gap

    /// A desktop without an outbox is asked for what it has made since its last push: those are pushes that come late.
    private func fillGap(_ desktop: PairedDesktop) {
        let peer = desktop.id
        let pairedAt = desktop.pairedAt
        store { (connection) throws(StoreError) in
            try Inbox(connection).beginGap(of: peer, orSince: pairedAt)
        } then: { core, result in
            guard case .success(let since) = result else { return }
            let machine = InboxRefresh(since: since, rowLimit: Self.gapLimit)
            core.fill(GapFill(desktop: desktop, since: since, machine: machine), machine.begin())
        }
    }

    /// So many missed pushes are handed over at most; what is older comes with the refresh, as history.
    private static let gapLimit: Int64 = 1_000

    private struct GapFill: Sendable {
        let desktop: PairedDesktop
        let since: EpochMilliseconds
        var machine: InboxRefresh
        var rows: [HistoryRow] = []
    }

    private func fill(_ fill: GapFill, _ step: InboxRefresh.Step) {
        switch step {
        case .ask(let query):
            perform(
                Device.Command(history: query), desktop: fill.desktop,
                timeout: Int64(clamping: Self.syncTimeout)
            ) { core, performed in
                switch performed {
                case .answered(let result):
                    var fill = fill
                    guard case .success(let page) = HistoryPage.read(result) else { return core.catchUp(fill.desktop) }
                    fill.rows += page.rows
                    // Rows come the newest first: beyond the gap there is nothing to look for.
                    let isBeyond = page.rows.contains { $0.createdAt.map { $0 < fill.since } ?? false }
                    var seen = Inbox.Merged()
                    seen.newToRun = page.rows.count
                    let next = fill.machine.received(page, seen)
                    core.fill(fill, isBeyond ? .finish(.all, unread: nil) : next)
                case .refused(let error), .uncertain(_, let error):
                    core.noteInbox(error, of: fill.desktop.id)
                    core.tellInbox(of: fill.desktop.id, unread: nil)
                    if core.continues(fill.desktop, after: .failure(error)) { core.catchUp(fill.desktop) }
                case .queued: break
                }
            }
        case .askUnreadCount, .finish: keep(fill)
        }
    }

    private func keep(_ fill: GapFill) {
        let (peer, rows, since) = (fill.desktop.id, fill.rows, fill.since)
        let moment = EpochMilliseconds.now
        let judge = alertJudge
        store { (connection) throws(StoreError) in
            let inbox = Inbox(connection)
            let pushed = try inbox.fill(rows, from: peer, since: since, receivedAt: moment)
            try inbox.endGap(of: peer)
            var judged: [AlertJudge.Judged] = []
            for notification in pushed {
                if let alert = try judge?.judge(notification, from: peer).saved(connection) { judged.append(alert) }
            }
            return (judged, try inbox.watermarks().last, try inbox.unreadCount())
        } then: { core, result in
            switch result {
            case .failure(let error):
                guard error.code != .closed else { return }
                core.channel.problem("store_failed", "missed pushes could not be stored: \(error.message)")
            case .success((let judged, let last, let unread)):
                core.pushes.waiting.stored(through: last)
                core.channel.pushesWait()
                for alert in judged { core.alerts.entered(alert) }
                core.tellInbox(of: peer, unread: unread)
                core.catchUp(fill.desktop)
            }
        }
    }

    // MARK: Settings

    private func fetchSettings(of desktop: PairedDesktop) {
        perform(
            Device.Command(.getSettings, wire: [:]), desktop: desktop, timeout: Int64(clamping: Self.syncTimeout)
        ) { core, performed in
            switch performed {
            case .answered(let result): core.learn(.getSettings, [:], result, from: desktop.id) { _ in }
            case .refused(let error), .uncertain(_, let error):
                core.noteInbox(error, of: desktop.id)
                _ = core.continues(desktop, after: .failure(error))
            case .queued: break
            }
        }
    }

    /// What a desktop has said of its settings last; readable offline.
    func describeSettings(of name: String?, _ then: @escaping Then) {
        let desktop: PairedDesktop
        switch pick(name) {
        case .failure(let error): return then(.failure(error))
        case .success(let picked): desktop = picked
        }
        let peer = desktop.id
        store { (connection) throws(StoreError) in
            try SettingsCache(connection).entry(of: peer)
        } then: { core, result in
            switch result {
            case .failure(let error): then(.failure(HostError(error)))
            case .success(let entry?): then(.success(JSONValue.object(entry.json).serialized()))
            case .success(nil) where core.withoutSkill.contains(peer): then(.failure(.noSkill))
            case .success(nil):
                then(.failure(HostError(.notFound, "the desktop's settings are not known yet: it was never asked")))
            }
        }
    }

    private func tell(settings: SettingsCache.Entry?, of desktop: PeerID) {
        guard let settings else { return }
        if let revision = settings.revision { note(revision: revision, of: desktop) }
        channel.post(HostEvent(.settingsChanged, desktop: desktop.text, data: settings.json))
    }

    // MARK: What is learnt

    private struct Learnt: Sendable {
        let unread: Int64
        /// Other settings than before.
        let settings: SettingsCache.Entry?
    }

    func learn(
        _ command: Device.Command, _ performed: Performed, from desktop: PairedDesktop,
        then: @escaping @Sendable @EventLoop (DeviceCore) -> Void
    ) {
        guard case .notification(let method) = command.kind, case .answered(let result) = performed else {
            return then(self)
        }
        learn(method, command.params, result, from: desktop.id, then: then)
    }

    /// A desktop has done what a method of the host's asked for: the inbox is to show it. `then` comes after that.
    func learn(
        _ method: NotificationMethod, _ params: JSONObject, _ result: JSONObject, from desktop: PeerID,
        then: @escaping @Sendable @EventLoop (DeviceCore) -> Void
    ) {
        let settings: JSONObject?
        switch method {
        case .getSettings: settings = result
        case .updateSettings: settings = result["settings"]?.object
        case .send, .sendToMobile, .broadcast, .getHistory, .markAsRead, .markAllAsRead, .delete, .clearAll,
            .getUnreadCount:
            settings = nil
        }
        let change = result["success"] == false ? nil : InboxChange.Kind(method)
        guard settings != nil || change != nil else { return then(self) }
        if change != nil { overtakeRefresh(of: desktop) }
        let revision = result["revision"]?.integer
        let ids = params["notificationId"]?.string.map { [NotificationID($0)] } ?? []
        let moment = EpochMilliseconds.now
        store { (connection) throws(StoreError) -> Learnt in
            let inbox = Inbox(connection)
            if let change { try inbox.apply(change, ids, of: desktop, at: moment) }
            var told: SettingsCache.Entry?
            if let settings, let decoded = try? Settings(decoding: settings) {
                let cache = SettingsCache(connection)
                if try cache.keep(decoded, revision: revision, of: desktop, at: moment, isEvent: false) {
                    told = try cache.entry(of: desktop)
                }
            }
            return Learnt(unread: try inbox.unreadCount(), settings: told)
        } then: { core, learnt in
            if case .success(let learnt) = learnt {
                core.tell(settings: learnt.settings, of: desktop)
                if change != nil { core.tellInbox(of: desktop, unread: learnt.unread) }
            }
            then(core)
        }
    }

    /// A desktop says what its state has become (protocol.md 4.6). `false` for an event that says something else.
    func apply(event name: String, _ fields: JSONObject, from desktop: PairedDesktop, _ mark: SealMark?) -> Bool {
        let event: StateEvent
        do throws(MalformedPayload) {
            guard let read = try StateEvent(name: name, fields) else { return false }
            event = read
        } catch {
            counters.malformedPayloads &+= 1
            channel.log(.warning, "an event from \(desktop.name) was dropped: \(error)")
            save(mark)
            return true
        }
        let peer = desktop.id
        switch event {
        case .read, .deleted, .cleared: overtakeRefresh(of: peer)
        case .settingsChanged: break
        }
        let moment = EpochMilliseconds.now
        store { (connection) throws(StoreError) -> Learnt? in
            if let mark, try !SealStates(connection).save(mark) { return nil }
            let inbox = Inbox(connection)
            try inbox.apply(event, from: peer, at: moment)
            var told: SettingsCache.Entry?
            if case .settingsChanged(let object, let revision) = event, let settings = try? Settings(decoding: object) {
                let cache = SettingsCache(connection)
                if try cache.keep(settings, revision: revision, of: peer, at: moment, isEvent: true) {
                    told = try cache.entry(of: peer)
                }
            }
            return Learnt(unread: try inbox.unreadCount(), settings: told)
        } then: { core, result in
            switch result {
            case .failure(let error):
                guard error.code != .closed else { return }
                core.channel.problem("store_failed", "what a desktop said was dropped: \(error.message)")
            case .success(nil): core.counters.replayed &+= 1
            case .success(let learnt?):
                core.tell(settings: learnt.settings, of: peer)
                if case .settingsChanged = event { return }
                core.tellInbox(of: peer, unread: learnt.unread)
            }
        }
        return true
    }

    /// The desktop was unpaired: its rows stay.
    func forgetInbox(of desktop: PeerID) {
        endRefresh(of: desktop, .noSuchDesktop)
        desk.synced.remove(desktop)
        desk.errors[desktop] = nil
        store { (connection) throws(StoreError) in
            try Inbox(connection).forget(desktop)
            return try Inbox(connection).unreadCount()
        } then: { core, result in
            if case .success(let unread) = result { core.tell(unread: unread) }
        }
    }
}
