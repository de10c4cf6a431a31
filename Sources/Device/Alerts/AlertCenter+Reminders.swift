import Alerts
import Hosting
import JSON
import Notifications
import Signalling
import Store
import Transport
import Wire

// The program's own alerts, at a time or a place.
extension AlertCenter {
    func addReminder(_ object: JSONObject, _ then: @escaping Then) {
        guard isOn else { return then(.failure(.noAlerts)) }
        let reminder: Reminder
        do throws(AlertsError) {
            reminder = try Reminder(
                parsing: object,
                newID: AlertID(NotificationID(random: .random(in: 0 ... .max), .random(in: 0 ... .max)).text), now: .now
            )
        } catch {
            return then(.failure(HostError(error)))
        }
        guard let change = schedule.add(reminder) else {
            return then(
                .failure(HostError(.limit, "\(ReminderSchedule.limit) reminders are kept; remove some first")))
        }
        save(change) { center, error in
            guard error == nil else { return then(.failure(error ?? .closed)) }
            let stored = center.schedule[reminder.id] ?? reminder
            then(.success(JSONValue.object(stored.json).serialized()))
        }
    }

    func removeReminders(id: String?, thread: String?, _ then: @escaping Then) {
        let change: ReminderSchedule.Change
        switch (id, thread) {
        case (let id?, nil):
            change = schedule.remove(AlertID(id))
            guard !change.isEmpty else {
                return then(.failure(HostError(.notFound, "no reminder that is still to come has this id")))
            }
        case (nil, let thread?): change = schedule.remove(thread: thread)
        case (nil, nil): change = schedule.removeAll()
        case (_?, _?):
            return then(
                .failure(
                    HostError(.invalid, "give an id or a thread, or neither for all", detail: ["field": "thread"])))
        }
        save(change) { _, error in then(error.map(Result.failure) ?? .success("{}")) }
    }

    func move(to latitude: Double, _ longitude: Double, accuracy: Double, _ then: @escaping Then) {
        guard isOn else { return then(.failure(.noAlerts)) }
        do throws(AlertsError) {
            let position = try Position(latitude: latitude, longitude: longitude, accuracy: accuracy)
            save(schedule.moved(to: position, at: .now)) { _, error in
                then(error.map(Result.failure) ?? .success("{}"))
            }
        } catch {
            then(.failure(HostError(error)))
        }
    }

    /// Time has passed, or the clock was set.
    func passed(isStart: Bool) {
        let now = EpochMilliseconds.now
        var changes = [schedule.clockChanged(now)]
        changes.append(schedule.passed(now, isStart: isStart))
        for change in changes where !change.isEmpty { save(change) { _, _ in } }
    }

    /// A change of the schedule with the alerts that it brings about, in one transaction. After a failure the schedule is
    /// what the store has.
    private func save(
        _ change: ReminderSchedule.Change, then: @escaping @Sendable @EventLoop (AlertCenter, HostError?) -> Void
    ) {
        scheduleVersion &+= 1
        armClock()
        let judge = judge
        storeAlways { (connection) throws(StoreError) -> [AlertJudge.Judged] in
            try ReminderTable(connection).save(change)
            var judged: [AlertJudge.Judged] = []
            for firing in change.firings {
                let alert = NewAlert(
                    AlertKey(desktop: nil, id: firing.reminder.id), firing.reminder.content, dueAt: firing.dueAt,
                    isReminder: true, isLate: firing.isLate)
                if let saved = try judge?.judge(alert).saved(connection) { judged.append(saved) }
            }
            return judged
        } then: { center, result in
            switch result {
            case .success(let judged):
                for alert in judged { center.entered(alert) }
                then(center, nil)
            case .failure(let error):
                if change.firings.isEmpty == false { center.note(result, "a reminder could not be stored") }
                center.reload(after: error, then)
            }
        }
    }

    private func reload(
        after error: StoreError, _ then: @escaping @Sendable @EventLoop (AlertCenter, HostError?) -> Void
    ) {
        let version = scheduleVersion
        storeAlways { (connection) throws(StoreError) in
            try ReminderTable(connection).all()
        } then: { center, result in
            // What has changed since is in the store behind this.
            guard version == center.scheduleVersion else { return center.reload(after: error, then) }
            if case .success(let reminders) = result { center.schedule = ReminderSchedule(reminders) }
            center.restClock()
            then(center, HostError(error))
        }
    }
}
