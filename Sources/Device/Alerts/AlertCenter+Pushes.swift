import Alerts
import Calendar
import Hosting
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
            fetchesImages: options.alerts.images.isEnabled && options.common.stateDirectory != nil, now: now)
    }

    /// It is in the store, with what became of it.
    func entered(_ judged: AlertJudge.Judged) {
        guard isBegun, !isEnded else { return }
        withdrawRuns(of: [judged.alert.key] + judged.replaced, .replaced)
        for handle in judged.obsolete { presenter?.withdraw(judged.alert.key, handle: handle) }
        for key in judged.replaced { shown.remove(key) }
        switch judged.decision {
        case .show(let isQuiet):
            if let row = judged.row { run(row, imageURL: judged.imageURL, isQuiet: isQuiet) }
        case .hold(let hold):
            tellPresented(judged.alert, reason: judged.decision.reason)
            wait(for: hold)
        case .hide:
            shown.remove(judged.alert.key)
            setBadge(of: judged.alert.content, allowed: judged.decision)
            tellPresented(judged.alert, reason: judged.decision.reason)
        }
    }

    /// One that was stored as to be shown, and was not: as it is decided now. Since it was read it may have been shown.
    func rejudge(_ alert: AlertRow) {
        store { (connection) throws(StoreError) in
            try AlertTable(connection).find(alert.row)
        } then: { center, result in
            center.note(result, "an alert that waits could not be read")
            guard case .success(let alert?) = result, alert.state == .due, center.runs[alert.row] == nil else { return }
            center.decide(alert)
        }
    }

    private func decide(_ alert: AlertRow) {
        let judge = makeJudge()
        let decision = judge.decide(alert.subject)
        switch decision {
        case .show(let isQuiet): run(alert, imageURL: nil, isQuiet: isQuiet)
        case .hold(let hold):
            store { (connection) throws(StoreError) in
                try AlertTable(connection).hold(alert.row, hold)
            } then: { center, result in
                center.note(result, "an alert could not be held back")
                if let handle = try? result.get() { center.presenter?.withdraw(alert.key, handle: handle) }
                center.tellPresented(alert.key, alert.isReminder, alert.isLate, reason: decision.reason)
                center.wait(for: hold)
            }
        case .hide:
            drop(alert.row)
            tellPresented(alert.key, alert.isReminder, alert.isLate, reason: decision.reason)
        }
    }

    func drop(_ row: Int64) {
        store { (connection) throws(StoreError) in
            try AlertTable(connection).drop(row)
        } then: { center, result in
            center.note(result, "an alert could not be dropped")
        }
    }

    // MARK: Digests

    /// So long after a push that came late another is waited for, in milliseconds.
    private static let latePause: UInt64 = 2_000

    private func wait(for hold: AlertDecision.Hold) {
        switch hold {
        case .quietHours: armClock()
        case .late: lateTimer.start(after: Self.latePause)
        }
    }

    /// One alert for all that came late.
    func tellLate() {
        guard options.lateAlerts == .summary else { return }
        release(.late)
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
                center.rejudge(digest)
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
        if let desktop = key.desktop {
            core?.sendReceipt(id: NotificationID(key.id.text), presented: isPresented, to: desktop)
        }
    }
}
