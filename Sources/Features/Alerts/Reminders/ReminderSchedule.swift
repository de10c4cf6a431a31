package import Calendar
package import Wire

/// The reminders that are still to come: at most 500, and as many as fit into a list of 4 MiB.
///
/// A pure state machine over what the store holds (``ReminderTable``). Each event is one mutating method that returns
/// what has changed. The caller writes this, and the alerts of the reminders that fire, in one transaction, and
/// continues with the changed schedule after the commit. Times are epoch milliseconds.
/// A reminder waits → fires → is removed, or waits again if it repeats. If it was due several times while the program
/// was not running, it fires once.
package struct ReminderSchedule: Sendable, Equatable {
    package static let limit = 500
    /// Of all together, as JSON, escapes included.
    package static let byteLimit = 4 << 20
    /// A reminder that is overdue by more than this at the start counts as late, in milliseconds.
    package static let grace: EpochMilliseconds = 60_000

    /// In the order in which they were added.
    private var reminders: [Reminder]

    /// Those that were stored.
    package init(_ reminders: [Reminder] = []) { self.reminders = reminders }

    /// One that comes now.
    package struct Firing: Sendable, Equatable {
        /// As it will be from now on.
        package let reminder: Reminder
        /// The moment for which it comes.
        package let dueAt: EpochMilliseconds
        /// It was due while nothing ran.
        package let isLate: Bool
    }

    /// What to write, and what fires after the commit.
    package struct Change: Sendable, Equatable {
        package indirect enum Write: Sendable, Equatable {
            case save(Reminder)
            case remove(AlertID)
        }

        package var writes: [Write] = []
        /// Those that were due first, first.
        package var firings: [Firing] = []

        package init(_ writes: [Write] = []) { self.writes = writes }

        package var isEmpty: Bool { writes.isEmpty && firings.isEmpty }
    }

    package subscript(id: AlertID) -> Reminder? { reminders.first { $0.id == id } }

    package var count: Int { reminders.count }

    /// The next first, those of regions last.
    package var list: [Reminder] { inOrder(Array(reminders.indices), .max).map { reminders[$0] } }

    /// Those that are due first, first; `place` is the moment of those that wait for none.
    private func inOrder(_ indices: [Int], _ place: EpochMilliseconds) -> [Int] {
        indices.sorted { left, right in
            let (first, second) = (reminders[left].nextAt ?? place, reminders[right].nextAt ?? place)
            return first == second ? left < right : first < second
        }
    }

    /// When the next one is due; `nil` = no time is waited for.
    package var nextAt: EpochMilliseconds? { reminders.lazy.compactMap(\.nextAt).min() }

    // MARK: In and out

    /// Takes one in, in place of the one with its id; `nil` when there is no room.
    package mutating func add(_ reminder: Reminder) -> Change? {
        let bytes = reminders.reduce(reminder.bytes) { $0 + ($1.id == reminder.id ? 0 : $1.bytes) }
        guard bytes <= Self.byteLimit else { return nil }
        if let index = reminders.firstIndex(where: { $0.id == reminder.id }) {
            reminders[index] = reminder
        } else {
            guard reminders.count < Self.limit else { return nil }
            reminders.append(reminder)
        }
        return Change([.save(reminder)])
    }

    /// Changes nothing if there is no such reminder.
    package mutating func remove(_ id: AlertID) -> Change { remove { $0.id == id } }

    package mutating func remove(thread: String) -> Change { remove { $0.content.thread == thread } }

    package mutating func removeAll() -> Change { remove { _ in true } }

    private mutating func remove(_ isMeant: (Reminder) -> Bool) -> Change {
        let change = Change(reminders.filter(isMeant).map { .remove($0.id) })
        reminders.removeAll(where: isMeant)
        return change
    }

    // MARK: Events

    /// Time has passed. At the start of the program the clock and the zone may be others than when it ended.
    package mutating func passed(
        _ now: EpochMilliseconds, isStart: Bool = false, in zone: LocalTime = .system
    ) -> Change {
        var change = isStart ? clockChanged(now, in: zone) : Change()
        fire(reminders.indices.filter { reminders[$0].isDue(now) }, now, isStart: isStart, zone, &change)
        return change
    }

    /// The clock or the time zone was changed. Reminders that are now due fire with ``passed(_:isStart:in:)``.
    package mutating func clockChanged(_ now: EpochMilliseconds, in zone: LocalTime = .system) -> Change {
        var change = Change()
        for index in reminders.indices {
            let before = reminders[index]
            reminders[index].clockChanged(now, zone)
            if reminders[index] != before { change.writes.append(.save(reminders[index])) }
        }
        return change
    }

    /// The program reports its position. A position that may be inside or outside of a region changes nothing for that
    /// region.
    package mutating func moved(
        to position: Position, at now: EpochMilliseconds, in zone: LocalTime = .system
    ) -> Change {
        var change = Change()
        var crossed: [Int] = []
        for index in reminders.indices {
            guard let region = reminders[index].trigger.region, let side = region.side(of: position) else { continue }
            let before = reminders[index].side
            guard side != before else { continue }
            reminders[index].side = side
            if region.isCrossed(from: before, to: side) {
                crossed.append(index)
            } else {
                change.writes.append(.save(reminders[index]))
            }
        }
        fire(crossed, now, isStart: false, zone, &change)
        return change
    }

    private mutating func fire(
        _ indices: [Int], _ now: EpochMilliseconds, isStart: Bool, _ zone: LocalTime, _ change: inout Change
    ) {
        // `indices` ascend.
        for index in inOrder(indices, now) {
            let dueAt = reminders[index].fire(now, grace: Self.grace, zone)
            let reminder = reminders[index]
            let isLate = isStart && dueAt < now.adding(-Self.grace)
            change.firings.append(Firing(reminder: reminder, dueAt: dueAt, isLate: isLate))
            change.writes.append(reminder.comesAgain ? .save(reminder) : .remove(reminder.id))
        }
        for index in indices.reversed() where !reminders[index].comesAgain { reminders.remove(at: index) }
    }
}
