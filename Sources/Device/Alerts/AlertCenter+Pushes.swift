import Alerts
import Calendar
import Hosting
import Inbox
import JSON
import Notifications
import Signalling
import Store
import Transport
import Wire

// Alerts enter: from pushes, reminders, digests. Held ones leave as a digest.
extension AlertCenter {
    /// Decides for pushes that are about to be stored; `nil` = nobody shows alerts.
    var judge: AlertJudge? { isOn ? makeJudge() : nil }

    private func makeJudge() -> AlertJudge {
        let now = EpochMilliseconds.now
        return AlertJudge(
            settings: settings, authorization: authorization.current(now).status, lateAlerts: options.lateAlerts,
            fetchesImages: options.alerts.images.isEnabled && options.common.stateDirectory != nil,
            programName: options.common.name, now: now)
    }

    /// It is in the store, with what became of it.
    func entered(_ judged: AlertJudge.Judged) {
        guard isBegun, !isEnded else { return }
        withdrawRuns(of: [judged.alert.key] + judged.replaced, .replaced)
        for handle in judged.obsolete { presenter?.withdraw(judged.alert.key, handle: handle) }
        switch judged.decision {
        case .show(let isQuiet):
            guard let row = judged.row else { return }
            // Each in its turn.
            guard !hasBacklog, runs.count < Self.runLimit else { return takeDue() }
            run(row, imageURL: judged.imageURL, isQuiet: isQuiet)
        case .hold(let hold):
            setBadge(judged.alert.content.badge)
            tellPresented(judged.alert, reason: judged.decision.reason)
            wait(for: hold)
        case .hide(let reason):
            // A badge is in nobody's way; what is silenced is for the inbox alone.
            if reason != .silenced { setBadge(judged.alert.content.badge) }
            tellPresented(judged.alert, reason: judged.decision.reason)
        }
    }

    /// So many alerts are on their way at a time; the others wait in the store, where they are anyway.
    static let runLimit = 32
    /// One of an earlier run that was due so long before this one began is late.
    private static let grace: EpochMilliseconds = 60_000

    /// Takes up what waits in the store, the oldest first.
    func takeDue() {
        hasBacklog = true
        guard !isTakingUp else {
            takesAgain = true
            return
        }
        guard runs.count < Self.runLimit else { return }
        isTakingUp = true
        let limit = Self.runLimit * 2
        store { (connection) throws(StoreError) -> [(AlertRow, Notification?)] in
            var due: [(AlertRow, Notification?)] = []
            for alert in try AlertTable(connection).due(limit: limit) {
                let push = try alert.key.desktop.flatMap { (desktop) throws(StoreError) in
                    try Inbox(connection).find(NotificationID(alert.key.id.text), of: desktop)
                }
                due.append((alert, push?.notification))
            }
            return due
        } then: { center, result in
            let (ended, takesAgain) = (center.endedMeanwhile, center.takesAgain)
            (center.isTakingUp, center.endedMeanwhile, center.takesAgain) = (false, [], false)
            center.note(result, "alerts that wait could not be read")
            let read = (try? result.get()) ?? []
            let due = read.filter { center.runs[$0.0.row] == nil && !ended.contains($0.0.row) }
            let taken = due.prefix(max(0, Self.runLimit - center.runs.count))
            if case .failure = result { return }
            let pause = center.backlogPause
            center.backlogPause = Self.shortPause
            center.hasBacklog = takesAgain || due.count > taken.count || read.count >= limit
            for (alert, push) in taken {
                center.rejudge(
                    alert, push,
                    isLate: alert.isLate
                        || (alert.row <= center.lastEarlierRow && alert.dueAt < center.begunAt &- Self.grace))
            }
            // Where none of them is shown, no end of one brings the next.
            if center.hasBacklog, center.runs.isEmpty { center.backlogTimer.start(after: pause) }
        }
    }

    /// One that was stored as to be shown, and was not: as it is decided now.
    func rejudge(_ alert: AlertRow, _ push: Notification? = nil, isLate: Bool) {
        let judge = makeJudge()
        var subject = alert.subject
        subject.isLate = isLate
        let decision = judge.decide(subject)
        switch decision {
        case .show(let isQuiet):
            run(alert, imageURL: push.flatMap(judge.namedImageURL(of:)), isQuiet: isQuiet, isLate: isLate)
        case .hold(let hold):
            store { (connection) throws(StoreError) in
                try AlertTable(connection).hold(alert.row, hold)
            } then: { center, result in
                center.note(result, "an alert could not be held back")
                if let handle = try? result.get() { center.presenter?.withdraw(alert.key, handle: handle) }
                center.tellPresented(alert.key, alert.isReminder, isLate, reason: decision.reason)
                center.wait(for: hold)
            }
        case .hide:
            drop(alert) { [weak self] in
                self?.tellPresented(alert.key, alert.isReminder, isLate, reason: decision.reason)
            }
        }
    }

    private func drop(_ alert: AlertRow, then: @escaping @EventLoop () -> Void) {
        let then = LoopCallback<Void> { _ in then() }
        store { (connection) throws(StoreError) in
            try AlertTable(connection).drop(alert.row)
        } then: { center, result in
            center.note(result, "an alert could not be dropped")
            guard case .success(let handle) = result else { return }
            if let handle { center.presenter?.withdraw(alert.key, handle: handle) }
            then.call(())
        }
    }

    // MARK: Digests

    /// So long after a push that came late another is waited for, and so long after the first, in milliseconds.
    private static let latePause: UInt64 = 2_000
    private static let lateLimit: UInt64 = 15_000

    private func wait(for hold: AlertDecision.Hold) {
        switch hold {
        case .quietHours: armClock()
        case .late:
            let now = EventLoop.now
            if !lateTimer.isRunning { lateSince = now }
            let rest = lateSince &+ Self.lateLimit > now ? lateSince &+ Self.lateLimit - now : 0
            lateTimer.start(after: min(Self.latePause, rest))
        }
    }

    /// One alert for all that came late.
    func tellLate() {
        guard options.lateAlerts == .summary else { return }
        guard settings.isQuiet(at: .now, .system) else { return release(.late) }
        // One alert is enough, when it is quiet no more.
        store { (connection) throws(StoreError) in
            try AlertTable(connection).moveLateToQuiet()
        } then: { center, result in
            center.note(result, "what came late could not be held back")
            center.armClock()
        }
    }

    /// One alert for all that quiet hours held back, when they are over.
    func tellQuiet() {
        guard !settings.isQuiet(at: .now, .system) else { return }
        release(.quietHours)
    }

    private func release(_ hold: AlertDecision.Hold) {
        let now = EpochMilliseconds.now
        store { (connection) throws(StoreError) in
            try AlertTable(connection).release(hold, at: now)
        } then: { center, result in
            center.note(result, "what was held back could not be told")
            if case .success(let digest?) = result {
                center.withdrawRuns(of: [digest.key], .replaced, except: digest.row)
                center.rejudge(digest, isLate: false)
            }
        }
    }

    // MARK: Telling

    func tellPresented(_ alert: NewAlert, reason: String?) {
        tellPresented(alert.key, alert.isReminder, alert.isLate, reason: reason)
    }

    /// `notification.presented`, and to the desktop its receipt.
    func tellPresented(
        _ key: AlertKey, _ isReminder: Bool, _ isLate: Bool, reason: String?, image: JSONObject? = nil
    ) {
        let isPresented = reason == nil
        if isPresented { counters.shown &+= 1 } else { counters.hidden &+= 1 }
        channel.post(
            HostEvent(
                .notificationPresented, desktop: key.desktop?.text,
                data: [
                    "id": .string(key.id.text), "presented": .bool(isPresented), "reason": reason.map(JSONValue.string),
                    "late": isLate ? true : nil, "reminder": isReminder ? true : nil,
                    "image": image.map(JSONValue.object),
                ]))
        // Who comes back to many of them does not answer each; and what was silenced was not to be shown.
        if let desktop = key.desktop, !isLate, reason != AlertDecision.HideReason.silenced.rawValue {
            core?.sendReceipt(id: NotificationID(key.id.text), presented: isPresented, to: desktop)
        }
    }
}
