package import Calendar
import JSON
package import Wire

/// An alert of the program's own, at a time or a place.
package struct Reminder: Sendable, Equatable {
    package let id: AlertID
    package let content: AlertContent
    package let trigger: Trigger
    package let addedAt: EpochMilliseconds
    /// `nil` for a region, and when it does not come again.
    package internal(set) var nextAt: EpochMilliseconds?
    /// Of a calendar's: what the clock on the wall shows then. That is the truth, and ``nextAt`` what the zone makes of it.
    package internal(set) var nextTime: Int64?
    /// The moment for which it came last.
    package internal(set) var lastAt: EpochMilliseconds?
    /// Of a region's: where the position was.
    package internal(set) var side: Region.Side
    /// How many bytes it takes in a list, as JSON, at most.
    let bytes: Int

    /// Fails when it would never come.
    package init(
        id: AlertID, content: AlertContent, trigger: Trigger, addedAt now: EpochMilliseconds,
        in zone: LocalTime = .system
    ) throws(AlertsError) {
        self.init(id: id, content: content, trigger: trigger, addedAt: now, side: .unknown)
        setFirst(now, zone)
        guard nextAt != nil || trigger.region != nil else {
            throw AlertsError("trigger: the time does not exist or has passed", field: "trigger")
        }
    }

    /// One that was stored.
    init(
        id: AlertID, content: AlertContent, trigger: Trigger, addedAt: EpochMilliseconds,
        nextAt: EpochMilliseconds? = nil, nextTime: Int64? = nil, lastAt: EpochMilliseconds? = nil, side: Region.Side
    ) {
        (self.id, self.content, self.trigger, self.addedAt) = (id, content, trigger, addedAt)
        (self.nextAt, self.nextTime, self.lastAt, self.side) = (nextAt, nextTime, lastAt, side)
        let texts: JSONObject = [
            "content": .object(content.json), "id": .string(id.text), "trigger": .object(trigger.json),
        ]
        bytes = JSONValue.object(texts).serializedCount + 32
    }
}

// MARK: Time

extension Reminder {
    private mutating func setFirst(_ now: EpochMilliseconds, _ zone: LocalTime) {
        switch trigger {
        case .now: nextAt = now
        case .interval(let seconds, _): nextAt = now.adding(Trigger.length(seconds))
        case .moment(let moment): nextAt = max(moment, now)
        case .calendar(let match, _):
            nextTime = match.nextTime(after: now, in: zone)
            nextAt = nextTime.map(zone.moment)
        case .region: nextAt = nil
        }
    }

    /// After it came: it waits for the next time, or for the next crossing.
    var comesAgain: Bool { trigger.repeats && (nextAt != nil || trigger.region != nil) }

    func isDue(_ now: EpochMilliseconds) -> Bool { nextAt.map { $0 <= now } ?? false }

    /// It comes now. Gives the moment for which it does: of the times that were missed the first, unless there is one
    /// within `grace` before now. ``nextAt`` becomes the first after now, in step with those before.
    mutating func fire(_ now: EpochMilliseconds, grace: EpochMilliseconds, _ zone: LocalTime) -> EpochMilliseconds {
        guard let due = nextAt else { return now }
        let recent = trigger.repeats ? occurrence(after: now.adding(-grace - 1), from: due, zone) : nil
        let firedFor = recent.map { $0 > due && $0 <= now ? $0 : due } ?? due
        lastAt = firedFor
        nextAt = trigger.repeats ? occurrence(after: now, from: due, zone) : nil
        return firedFor
    }

    private mutating func occurrence(
        after moment: EpochMilliseconds, from due: EpochMilliseconds, _ zone: LocalTime
    ) -> EpochMilliseconds? {
        switch trigger {
        case .now, .moment, .region: return nil
        case .interval(let seconds, _):
            guard moment >= due else { return due }
            let (passed, overflow) = moment.subtractingReportingOverflow(due)
            let length = Trigger.length(seconds)
            return overflow ? nil : moment.adding(length - passed % length)
        case .calendar(let match, _):
            nextTime = match.nextTime(after: moment, in: zone)
            return nextTime.map(zone.moment)
        }
    }

    /// The clock was set, or the zone changed: another time to come may follow.
    mutating func clockChanged(_ now: EpochMilliseconds, _ zone: LocalTime) {
        guard let due = nextAt else { return }
        switch trigger {
        case .now, .moment: if due > now { setFirst(now, zone) }
        case .interval(let seconds, _): nextAt = min(due, now.adding(Trigger.length(seconds)))
        case .calendar(let match, _):
            // What the clock on the wall has not shown yet is still to come in this zone, and what it has passed over is
            // due.
            guard let time = nextTime else { return }
            nextAt = zone.moment(of: time)
            guard !isDue(now) else { return }
            // Put back a little, a time that it came for is not another one, as in autumn. Put back far, the clock was
            // wrong before.
            let hasCome = lastAt.map { $0 <= now.adding(Self.little) } ?? false
            guard !hasCome, let earlier = match.nextTime(after: now, in: zone) else { return }
            (nextTime, nextAt) = (earlier, zone.moment(of: earlier))
        case .region: return
        }
    }

    /// An hour, in milliseconds.
    private static let little: EpochMilliseconds = 3_600_000
}

extension EpochMilliseconds {
    func adding(_ milliseconds: Int64) -> EpochMilliseconds {
        let (sum, overflow) = addingReportingOverflow(milliseconds)
        return overflow ? (milliseconds < 0 ? .min : .max) : sum
    }
}
