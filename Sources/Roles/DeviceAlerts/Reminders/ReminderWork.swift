import Alerts
import Hosting
import Store

/// The store jobs of ``ReminderScheduler``.
indirect enum ReminderWork: StoreWork {
    /// Stores a change and the alerts that it causes.
    case save(ReminderSchedule.Change, Waiter)
    /// Reads all reminders, after a change could not be stored.
    case reload(version: UInt64, StoreError, Waiter)

    indirect enum Waiter: Sendable {
        case nobody
        case done(Then)
        /// Gets the reminder as it was stored.
        case added(Reminder, Then)
    }

    indirect enum Outcome: Sendable {
        case judged([AlertJudge.Judged])
        case reminders([Reminder])
    }

    func run(_ store: AlertTransaction) throws(StoreError) -> Outcome {
        switch self {
        case .save(let change, _): return .judged(try save(change, store))
        case .reload: return .reminders(try ReminderTable(store.connection).all())
        }
    }

    private func save(
        _ change: ReminderSchedule.Change, _ store: AlertTransaction
    ) throws(StoreError) -> [AlertJudge.Judged] {
        try ReminderTable(store.connection).save(change)
        guard let judge = store.judge else { return [] }
        var judged: [AlertJudge.Judged] = []
        for firing in change.firings {
            let alert = NewAlert(
                AlertKey(desktop: nil, id: firing.reminder.id), firing.reminder.content, dueAt: firing.dueAt,
                isReminder: true, isLate: firing.isLate)
            judged.append(try judge.judge(alert).saved(store.connection))
        }
        return judged
    }

    var isAwaited: Bool { true }
    var failureReport: String? { nil }
}
