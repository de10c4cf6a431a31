import Alerts
import Hosting
import JSON
import Store
import Wire

/// The bookkeeping of what was shown: reports, receipts, responses, the badge, and what is taken back.
///
/// Decides only: each event returns what its owner does next, in order.
struct AlertRecords {
    enum Action {
        /// Do the work, then call ``stored(_:_:)``.
        case store(RecordWork)
        case reply(Then, Result<HostReply, HostError>)
        case post(HostEvent)
        /// Tell the desktop whether its push was shown.
        case sendReceipt(NotificationID, isPresented: Bool, to: PeerID)
        case showBadge(Int64)
        /// A response waits for the host. `isDisplaced`: an older one gave way to it.
        case responseWaits(isDisplaced: Bool)
        /// The alert of that row was answered; it may still be on its way to the screen.
        case responded(row: Int64)
        /// The alert was clicked.
        case tapped(AlertContent)
        case markRead(NotificationID, of: PeerID)
        case withdraw(AlertKey, handle: String?)
        /// Alerts that were on their way are not wanted any more.
        case withdrawRuns([AlertKey])
    }

    struct Counters {
        var shown: Int64 = 0
        var hidden: Int64 = 0
        var responses: Int64 = 0
    }

    /// Whether anybody shows alerts.
    private let isOn: Bool
    private(set) var counters = Counters()
    private(set) var badge: Int64 = 0

    init(isOn: Bool) { self.isOn = isOn }

    /// `notification.presented`, and its receipt for the desktop.
    mutating func tell(_ report: AlertReport) -> [Action] {
        let isPresented = report.reason == nil
        if isPresented { counters.shown &+= 1 } else { counters.hidden &+= 1 }
        let event = HostEvent(
            .notificationPresented, desktop: report.key.desktop?.text,
            data: [
                "id": .string(report.key.id.text), "presented": .bool(isPresented),
                "reason": report.reason.map(JSONValue.string), "late": report.isLate ? true : nil,
                "reminder": report.isReminder ? true : nil, "image": report.image.map(JSONValue.object),
            ])
        // Late alerts often come in large numbers, and silenced ones were not meant to be shown: no receipts for these.
        guard let desktop = report.key.desktop, !report.isLate,
            report.reason != AlertDecision.HideReason.silenced.rawValue
        else { return [.post(event)] }
        let id = NotificationID(report.key.id.text)
        return [.post(event), .sendReceipt(id, isPresented: isPresented, to: desktop)]
    }

    /// - Parameter count: `nil` leaves the badge as it is.
    mutating func setBadge(_ count: Int64?) -> [Action] {
        guard let count, count != badge else { return [] }
        badge = count
        guard isOn else { return [.showBadge(count)] }
        return [.showBadge(count), .post(HostEvent(.badgeChanged, data: ["badge": .integer(count)]))]
    }

    /// `bw_alerts_remove`.
    func remove(desktop: String?, id: String?, thread: String?, _ then: @escaping Then) -> [Action] {
        guard desktop == nil || id != nil else {
            let error = HostError(.invalid, "desktop requires an id", detail: ["field": "desktop"])
            return [.reply(then, .failure(error))]
        }
        switch (id, thread) {
        case (let id?, nil):
            let key = AlertKey(desktop: desktop.map { PeerID($0) }, id: AlertID(id))
            return [.store(.remove(.keys([key]), isOne: true, then))]
        case (nil, let thread?): return [.store(.remove(.thread(thread), isOne: false, then))]
        case (nil, nil): return [.store(.remove(.all, isOne: false, then))]
        case (_?, _?): return [.reply(then, .failure(.idAndThread))]
        }
    }

    mutating func stored(_ work: RecordWork, _ result: Result<RecordWork.Outcome, StoreError>) -> [Action] {
        switch (work, result) {
        case (.list(let then), .success(.alerts(let rows))):
            return [.reply(then, .success(HostReply(.array(rows.map { .object($0.deliveredJSON) }))))]
        case (.remove(_, let isOne, let then), .success(.removed(let removed))):
            let isMissing = isOne && removed.isEmpty
            return takeBack(removed) + [.reply(then, isMissing ? .failure(.noSuchAlert) : .success(.done))]
        case (.respond(_, let then), .success(.response(let response))):
            switch response {
            case .unknown: return [.reply(then, .failure(.noSuchAlert))]
            case .refused(let error): return [.reply(then, .failure(HostError(error)))]
            case .stored(let alert, let response, let isDisplaced):
                return responded(alert, response, isDisplaced) + [.reply(then, .success(.done))]
            }
        case (_, .success(.removed(let removed))): return takeBack(removed)
        case (.list(let then), .failure(let error)), (.remove(_, _, let then), .failure(let error)),
            (.respond(_, let then), .failure(let error)):
            return [.reply(then, .failure(HostError(error)))]
        case (_, .success), (_, .failure): return []
        }
    }

    private func takeBack(_ removed: [AlertTable.Removed]) -> [Action] {
        [.withdrawRuns(removed.filter { $0.state == .due }.map(\.key))]
            + removed.map { .withdraw($0.key, handle: $0.handle) }
    }

    private mutating func responded(
        _ alert: AlertRow, _ response: AlertResponse, _ isDisplaced: Bool
    ) -> [Action] {
        counters.responses &+= 1
        var actions: [Action] = [.responseWaits(isDisplaced: isDisplaced)]
        // A banner that is not recorded yet is taken away when it would be recorded: its row is gone.
        if alert.state == .delivered { actions.append(.withdraw(alert.key, handle: alert.handle)) }
        actions.append(.responded(row: alert.row))
        switch response.kind {
        case .markRead:
            if let desktop = alert.key.desktop {
                actions.append(.markRead(NotificationID(alert.key.id.text), of: desktop))
            }
        case .tap: actions.append(.tapped(alert.content))
        case .dismiss, .button, .reply: break
        }
        return actions
    }
}
