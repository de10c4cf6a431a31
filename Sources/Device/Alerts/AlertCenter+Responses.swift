import Alerts
import Hosting
import Inbox
import JSON
import Notifications
import Signalling
import Store
import Transport
import Wire

// What the person does with alerts.
extension AlertCenter {
    func take(_ event: PresenterEvent) {
        guard !isEnded else { return }
        switch event {
        case .ready:
            presenter?.setBadge(badge)
            retryRuns()
            // What was asked by another server is gone from the screen.
            if question != nil { askPerson() }
        case .gone(let problem):
            channel.log(.info, "alerts cannot be shown for now: \(problem)")
            presenterGone(problem)
        case .closed(let key):
            // It expired or was taken away: it stays in the list, as in the server's where it has one.
            _ = isAnswer(key, nil)
        case .responded(let key, let action, let text):
            guard !isAnswer(key, action) else { return }
            respond(key, action, text) { [weak self] result in
                guard case .failure(let error) = result else { return }
                self?.channel.log(.warning, "an answer to an alert was not taken: \(error.message)")
            }
        }
    }

    private enum Responded: Sendable {
        case taken(AlertRow, AlertResponse, displaced: Bool)
        case unknown
        case refused(AlertsError)
    }

    /// Keeps an answer for the host, and carries out what is built in.
    func respond(
        _ key: AlertKey, _ action: String, _ text: String?,
        then: @escaping @EventLoop (Result<String, HostError>) -> Void
    ) {
        let (now, categories) = (EpochMilliseconds.now, categories)
        // On the screen, though it is not recorded yet.
        let presenting = Set(runs.values.lazy.filter(\.machine.isPresenting).map(\.row))
        let then = LoopCallback(then)
        store { (connection) throws(StoreError) -> Responded in
            let table = AlertTable(connection)
            guard let row = try table.find(key), row.state == .delivered || presenting.contains(row.row) else {
                return .unknown
            }
            let response: AlertResponse
            do throws(AlertsError) {
                response = try AlertResponse(
                    action: action, text: text, category: row.content.category.flatMap { categories[$0] })
            } catch {
                return .refused(error)
            }
            var push: JSONObject?
            if let desktop = key.desktop {
                push = try Inbox(connection).find(NotificationID(key.id.text), of: desktop)?.notification.receivedData()
            }
            let data = response.data(of: row, push: push, at: now)
            let isRoomy = try KeptEvents(connection).add(
                HostEvent(.notificationResponse, desktop: key.desktop?.text, data: data))
            try table.drop(row.row)
            return .taken(row, response, displaced: !isRoomy)
        } then: { center, result in
            switch result {
            case .failure(let error):
                center.note(result, "an answer to an alert could not be kept")
                then.call(.failure(HostError(error)))
            case .success(.unknown): then.call(.failure(.noSuchAlert))
            case .success(.refused(let error)): then.call(.failure(HostError(error)))
            case .success(.taken(let row, let response, let isDisplaced)):
                center.taken(row, response)
                if isDisplaced { center.channel.tooManyKept(.notificationResponse) }
                then.call(.success("{}"))
            }
        }
    }

    private func taken(_ row: AlertRow, _ response: AlertResponse) {
        counters.responses &+= 1
        channel.waits(.notificationResponse)
        // One that is not recorded yet is taken away when it is about to be: its row is gone.
        if row.state == .delivered { presenter?.withdraw(row.key, handle: row.handle) }
        runs[row.row]?.isAnswered = true
        switch response.kind {
        case .markRead: markRead(row.key)
        case .tap, .dismiss, .button, .reply: break
        }
    }

    /// As the inbox does it: at the desktop, or in the queue.
    private func markRead(_ key: AlertKey) {
        guard let core, let desktop = key.desktop, let request = try? Device.InboxRequest.markRead(key.id.text) else {
            return
        }
        core.inbox.change(
            request, desktop: desktop.text, timeout: Int64(clamping: InboxSync.timeout)
        ) { [channel] result in
            guard case .failure(let error) = result, error.code != .closed, error.code != .notFound else { return }
            channel.log(.warning, "a notification could not be marked as read: \(error.message)")
        }
    }

    // MARK: Taking away

    /// `bw_alerts_remove`.
    func remove(desktop: String?, id: String?, thread: String?, _ then: @escaping Then) {
        guard desktop == nil || id != nil else {
            return then(
                .failure(HostError(.invalid, "a desktop goes with an id only", detail: ["field": "desktop"])))
        }
        let which: AlertTable.Which
        switch (id, thread) {
        case (let id?, nil): which = .keys([AlertKey(desktop: desktop.map { PeerID($0) }, id: AlertID(id))])
        case (nil, let thread?): which = .thread(thread)
        case (nil, nil): which = .all
        case (_?, _?):
            return then(
                .failure(
                    HostError(.invalid, "give an id or a thread, or neither for all", detail: ["field": "thread"])))
        }
        storeAlways { (connection) throws(StoreError) in
            try AlertTable(connection).remove(which, deliveredOnly: true)
        } then: { center, result in
            if let error = Self.failure(result) { return then(.failure(error)) }
            let removed = (try? result.get()) ?? []
            center.withdraw(removed)
            then(removed.isEmpty && id != nil ? .failure(.noSuchAlert) : .success("{}"))
        }
    }

    private func withdraw(_ removed: [AlertTable.Removed]) {
        withdrawRuns(of: removed.filter { $0.state == .due }.map(\.key), .removed)
        for alert in removed { presenter?.withdraw(alert.key, handle: alert.handle) }
    }

    /// The desktop was unpaired.
    func forget(_ desktop: PeerID) {
        storeAlways { (connection) throws(StoreError) in
            try AlertTable(connection).remove(.desktop(desktop))
        } then: { center, result in
            center.note(result, "alerts of a desktop could not be removed")
            center.withdraw((try? result.get()) ?? [])
        }
    }

    // MARK: Following the inbox

    private static let inboxPause: UInt64 = 100

    /// Something was read, deleted or cleared, here or elsewhere.
    func inboxChanged() {
        guard isBegun, !isEnded, !inboxTimer.isRunning else { return }
        inboxTimer.start(after: Self.inboxPause)
    }

    /// What was read or deleted needs no alert any more, and is not in a digest.
    func followInbox() {
        store { (connection) throws(StoreError) -> [AlertTable.Removed] in
            let inbox = Inbox(connection)
            let table = AlertTable(connection)
            var settled: [AlertKey] = []
            for (key, desktop) in try table.ofDesktops() {
                if try !inbox.isUnread(NotificationID(key.id.text), of: desktop) { settled.append(key) }
            }
            return try table.remove(.keys(settled))
        } then: { center, result in
            center.note(result, "alerts that are read could not be removed")
            center.withdraw((try? result.get()) ?? [])
        }
    }
}

extension HostError {
    static let noSuchAlert = HostError(.notFound, "no such alert was shown, or it was answered already")
}
