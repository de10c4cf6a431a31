import Alerts
import Hosting
import JSON
import Store
import Wire

/// The program's own alerts, at a time or a place.
///
/// Decides only: each event returns what its owner does next, in order. A change counts at once and is undone, by reading
/// the store again, if it could not be stored.
struct ReminderScheduler {
    indirect enum Action {
        /// Do the work, then call ``stored(_:_:)``.
        case store(ReminderWork)
        case reply(Then, Result<HostReply, HostError>)
        /// Alerts entered the store.
        case entered(AlertJudge.Judged)
        case armClock
        /// The store failed with something that is due, and would be due again at once: let the clock rest.
        case rest
        /// The store failed with something that nobody waits for.
        case report(StoreError)
    }

    private var schedule: ReminderSchedule
    /// Counts changes: what was read from the store before the last one is outdated.
    private var version: UInt64 = 0
    /// The clock is not followed, after the store failed with something that was due.
    private(set) var isResting = false

    init(_ stored: [Reminder]) { schedule = ReminderSchedule(stored) }

    /// Takes over what the store has.
    mutating func load(_ stored: [Reminder]) { schedule = ReminderSchedule(stored) }

    var list: [Reminder] { schedule.list }

    /// When ``passed(now:isStart:)`` is due.
    var nextAt: EpochMilliseconds? { schedule.nextAt }

    // MARK: The host

    /// - Parameter newID: for a reminder without an id.
    mutating func add(
        _ object: JSONObject, newID: AlertID, now: EpochMilliseconds, _ then: @escaping Then
    ) -> [Action] {
        let reminder: Reminder
        do throws(AlertsError) { reminder = try Reminder(parsing: object, newID: newID, now: now) } catch {
            return [.reply(then, .failure(HostError(error)))]
        }
        guard let change = schedule.add(reminder) else {
            let error = HostError(
                .limit,
                "there is room for \(ReminderSchedule.limit) reminders with \(ReminderSchedule.byteLimit) bytes of JSON; "
                    + "remove some first")
            return [.reply(then, .failure(error))]
        }
        return save(change, .added(reminder, then))
    }

    mutating func remove(id: String?, thread: String?, _ then: @escaping Then) -> [Action] {
        let change: ReminderSchedule.Change
        switch (id, thread) {
        case (let id?, nil):
            change = schedule.remove(AlertID(id))
            guard !change.isEmpty else {
                return [.reply(then, .failure(HostError(.notFound, "no such pending reminder")))]
            }
        case (nil, let thread?): change = schedule.remove(thread: thread)
        case (nil, nil): change = schedule.removeAll()
        case (_?, _?): return [.reply(then, .failure(.idAndThread))]
        }
        return save(change, .done(then))
    }

    mutating func move(
        to latitude: Double, _ longitude: Double, accuracy: Double, now: EpochMilliseconds, _ then: @escaping Then
    ) -> [Action] {
        do throws(AlertsError) {
            let position = try Position(latitude: latitude, longitude: longitude, accuracy: accuracy)
            return save(schedule.moved(to: position, at: now), .done(then))
        } catch {
            return [.reply(then, .failure(HostError(error)))]
        }
    }

    // MARK: The clock

    /// Time has passed, or the clock was set.
    mutating func passed(now: EpochMilliseconds, isStart: Bool) -> [Action] {
        let changes = [schedule.clockChanged(now), schedule.passed(now, isStart: isStart)]
        return changes.filter { !$0.isEmpty }.flatMap { save($0, .nobody) }
    }

    mutating func rest() { isResting = true }

    mutating func rested() { isResting = false }

    // MARK: The store

    private mutating func save(_ change: ReminderSchedule.Change, _ waiter: ReminderWork.Waiter) -> [Action] {
        version &+= 1
        return [.armClock, .store(.save(change, waiter))]
    }

    mutating func stored(_ work: ReminderWork, _ result: Result<ReminderWork.Outcome, StoreError>) -> [Action] {
        switch work {
        case .save(let change, let waiter):
            switch result {
            case .success(.judged(let judged)): return judged.map { .entered($0) } + reply(waiter, nil)
            case .success(.reminders): return []
            case .failure(let error):
                let report: [Action] = change.firings.isEmpty ? [] : [.report(error)]
                return report + [.store(.reload(version: version, error, waiter))]
            }
        case .reload(let version, let error, let waiter):
            // Later changes are stored behind this: read again.
            guard version == self.version else { return [.store(.reload(version: self.version, error, waiter))] }
            if case .success(.reminders(let reminders)) = result { schedule = ReminderSchedule(reminders) }
            return [.rest] + reply(waiter, HostError(error))
        }
    }

    private func reply(_ waiter: ReminderWork.Waiter, _ error: HostError?) -> [Action] {
        switch waiter {
        case .nobody: return []
        case .done(let then): return [.reply(then, error.map(Result.failure) ?? .success(.done))]
        case .added(let reminder, let then):
            let stored = schedule[reminder.id] ?? reminder
            return [.reply(then, error.map(Result.failure) ?? .success(HostReply(stored.json)))]
        }
    }
}
