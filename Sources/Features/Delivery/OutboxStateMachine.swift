import Notifications

/// Decides what of one sealed device's outbox is sent, and when: go-back-N (WireSealing, "Delivery of pushes").
///
/// A pure state machine; `now` is monotonic milliseconds. It knows only numbers: entries are read from the store
/// (``Action/read(from:through:round:)``), except a push that was enqueued when everything before it was on its way.
///
/// The device's position decides everything. What it hasn't acknowledged is sent again from there: when it says hello,
/// when nothing comes back in time (3 s, then longer each time, up to a minute), and when it is online again. A gap is
/// reported with a skip, and only once everything before it is acknowledged: a skip has no start, so a device would
/// apply it to pushes that it has missed.
package struct OutboxStateMachine: Sendable {
    package enum Frame: Sendable, Equatable {
        case push(Outbox.Entry)
        case skip(through: Int64)

        var seq: Int64 {
            switch self {
            case .push(let entry): entry.seq
            case .skip(let through): through
            }
        }
    }

    package enum Action: Sendable, Equatable {
        /// Read a page, and give it back with its `round`.
        case read(from: Int64, through: Int64, round: UInt64)
        /// Send these, in order. What a connection does not take, ``unsent(from:now:)`` is told of.
        case send([Frame])
        /// The device has everything through this one: the store may learn it later (``Outbox/settle(through:by:)``).
        case settle(through: Int64)
        /// The device is further than we have ever counted: count on from there (``Outbox/acknowledge(through:by:)``),
        /// and give the position to ``renumbered(_:now:)``. Nothing is sent until then.
        case renumber(after: Int64)
        /// The device has this number from an earlier start of ours, of which nobody knows what it sent: count on from there
        /// (``Outbox/recount(after:by:)``), settle nothing, and give the position to ``renumbered(_:now:)``.
        case recount(after: Int64)
    }

    /// What we know of the device's presence.
    package enum Presence: Sendable, Equatable {
        /// Nothing: one frame at a time finds out.
        case unheard
        /// It is there. A whole window is sent once it has acknowledged something of this start.
        case present
        /// The relay has called it absent. Nothing is sent until it is heard of.
        case absent
    }

    /// So many are under way at most.
    package static let window: Int64 = 64
    package static let firstTimeout: UInt64 = 3_000
    package static let longestTimeout: UInt64 = 60_000

    /// The number that was given last.
    package private(set) var last: Int64
    package private(set) var acknowledged: Int64
    /// What was sent and not acknowledged ends here.
    package private(set) var sent: Int64
    package private(set) var presence = Presence.unheard
    /// When ``deadlineReached(now:)`` is to be called.
    package private(set) var deadline: UInt64?

    /// A connection of ours is up.
    private var isReachable = false
    private var isReading = false
    /// Pages that were asked for in an earlier one are of no use.
    private var round: UInt64 = 0
    /// A skip that waits for its acknowledgement ends here.
    private var skipped: Int64 = 0
    /// Since the last progress.
    private var timeouts = 0
    /// It has gone back because the device told twice how far it is; once for each place.
    private var hasGoneBack = false
    /// The store gives what waits new numbers.
    private var isRenumbering = false
    /// The device has acknowledged pushes of this start, so both sides mean the same pushes by their numbers. Before that,
    /// a desktop restored from a backup may use numbers that the device has for other pushes.
    private var isPlaced = false

    package init(_ position: Outbox.Position) {
        last = position.last
        acknowledged = position.acknowledged
        sent = position.acknowledged
    }

    // MARK: Events

    /// A push was put in.
    package mutating func enqueued(_ entry: Outbox.Entry, now: UInt64) -> [Action] {
        // After its place: what was put in before it has gone through a page already.
        guard entry.seq > last else { return [] }
        let isNext = sent == last && entry.seq == last + 1
        last = entry.seq
        guard isNext, !isReading, isOpen else { return pump() }
        return send([.push(entry)], now: now)
    }

    /// A page that was asked for.
    package mutating func read(_ page: Outbox.Page, round: UInt64, now: UInt64) -> [Action] {
        guard round == self.round else { return [] }
        isReading = false
        guard page.from == sent + 1, isReachable, presence != .absent else { return pump() }
        var frames: [Frame] = []
        var reached = sent
        for entry in page.entries {
            if entry.seq > reached + 1 {
                guard skip(through: entry.seq - 1, after: reached, &frames) else { break }
                reached = entry.seq - 1
            }
            guard entry.seq <= edge else { break }
            frames.append(.push(entry))
            reached = entry.seq
        }
        // Nothing comes after the last entry of the page.
        if page.entries.last.map({ $0.seq == reached }) ?? true, page.through > reached {
            _ = skip(through: page.through, after: reached, &frames)
        }
        guard !frames.isEmpty else { return [] }
        return send(frames, now: now) + pump()
    }

    /// The page could not be read: it is asked for again later.
    package mutating func readFailed(round: UInt64, now: UInt64) {
        guard round == self.round else { return }
        isReading = false
        deadline = now &+ timeout
    }

    /// These were not taken: from this number on nothing has left.
    package mutating func unsent(from seq: Int64, now: UInt64) {
        sent = max(acknowledged, min(sent, seq - 1))
        skipped = min(skipped, sent)
        forgetPages()
        deadline = now &+ timeout
    }

    /// The device has acknowledged everything through `seq`.
    ///
    /// An old acknowledgement that comes late looks like a device that has lost something: it is asked by a resend, and
    /// answers how far it is.
    package mutating func acknowledged(through seq: Int64, now: UInt64) -> [Action] {
        let wasAbsent = presence == .absent
        presence = .present
        guard seq <= last else { return renumber(after: seq) }
        guard !isRenumbering else { return [] }
        isPlaced = true
        if seq == acknowledged {
            // What follows it is missing there: once it is sent again at once, then when it is time.
            guard wasAbsent || (sent > acknowledged && !hasGoneBack) else { return pump() }
            return goBack(to: seq, again: !wasAbsent)
        }
        guard seq > acknowledged, !wasAbsent else { return [.settle(through: seq)] + goBack(to: seq, again: false) }
        acknowledged = seq
        if sent < acknowledged {
            sent = acknowledged
            forgetPages()
        }
        timeouts = 0
        hasGoneBack = false
        deadline = sent > acknowledged ? now &+ timeout : nil
        return [.settle(through: seq)] + pump()
    }

    /// The device has registered, and says how far it is: from there everything is sent again.
    package mutating func hello(lastPushSeq seq: Int64, now: UInt64) -> [Action] {
        presence = .present
        guard seq <= last else { return renumber(after: seq) }
        guard !isRenumbering else { return [] }
        isPlaced = true
        let settled: [Action] = seq == acknowledged ? [] : [.settle(through: seq)]
        return settled + goBack(to: seq, again: false)
    }

    /// The device has registered, and says how far it is with what an earlier start has sent it. That may have been before a
    /// backup was restored, and this may be an old frame: no push counts as delivered by it. What waits is sent under numbers
    /// that the device doesn't have yet; it recognizes by their ids those that it has.
    ///
    /// A device says the same for every push that it can't take, so a repeated position causes one resend until there is
    /// progress. After that the deadline decides.
    package mutating func recalled(lastPushSeq seq: Int64, now: UInt64) -> [Action] {
        let wasPresent = presence == .present
        presence = .present
        guard !isRenumbering else { return [] }
        guard seq <= acknowledged else {
            isRenumbering = true
            rest()
            return [.recount(after: seq)]
        }
        guard seq == acknowledged, wasPresent else { return goBack(to: seq, again: false) }
        return hasGoneBack ? pump() : goBack(to: seq, again: true)
    }

    /// What waits has new numbers. Also for a position in which nothing was counted on: then the store knew more numbers
    /// than this machine.
    package mutating func renumbered(_ position: Outbox.Position, now: UInt64) -> [Action] {
        isRenumbering = false
        last = max(last, position.last)
        return goBack(to: position.acknowledged, again: false)
    }

    /// The store could not do it: the device says again how far it is.
    package mutating func renumberFailed(now: UInt64) {
        isRenumbering = false
        deadline = now &+ timeout
    }

    /// Something came from the device, or its relay says that it is there.
    package mutating func heard(now: UInt64) -> [Action] {
        switch presence {
        case .present: return []
        case .unheard:
            presence = .present
            return pump()
        case .absent:
            presence = .present
            return goBack(to: acknowledged, again: false)
        }
    }

    /// Every relay over which it is reached has called it absent.
    package mutating func wasCalledAbsent() {
        presence = .absent
        rest()
    }

    /// A connection of ours is up again: what it brought before may be lost.
    package mutating func connected(now: UInt64) -> [Action] {
        isReachable = true
        presence = .unheard
        return goBack(to: acknowledged, again: false)
    }

    /// No connection of ours is up.
    package mutating func disconnected() {
        isReachable = false
        presence = .unheard
        rest()
    }

    /// Nothing was acknowledged in time.
    package mutating func deadlineReached(now: UInt64) -> [Action] {
        guard let deadline, deadline <= now else { return [] }
        self.deadline = nil
        timeouts += 1
        if presence == .present { presence = .unheard }
        return resend()
    }

    // MARK: Deciding

    private var isOpen: Bool { isReachable && presence != .absent && !isRenumbering && sent < edge }

    /// Nothing beyond it may be under way.
    private var edge: Int64 {
        switch presence {
        case .absent: sent
        case .unheard: acknowledged + 1
        case .present where !isPlaced: acknowledged + 1
        case .present: max(acknowledged, skipped) + Self.window - (skipped > acknowledged ? 1 : 0)
        }
    }

    private var timeout: UInt64 { min(Self.longestTimeout, Self.firstTimeout << UInt64(min(timeouts, 8))) }

    private mutating func pump() -> [Action] {
        guard isOpen, !isReading, sent < last else { return [] }
        isReading = true
        return [.read(from: sent + 1, through: last, round: round)]
    }

    /// A gap after `reached`: told when everything before it is acknowledged. Gives whether it was.
    private mutating func skip(through end: Int64, after reached: Int64, _ frames: inout [Frame]) -> Bool {
        guard reached == acknowledged, frames.isEmpty else { return false }
        frames.append(.skip(through: end))
        skipped = end
        return true
    }

    private mutating func send(_ frames: [Frame], now: UInt64) -> [Action] {
        sent = frames.last.map(\.seq) ?? sent
        deadline = deadline ?? now &+ timeout
        return [.send(frames)]
    }

    private mutating func renumber(after seq: Int64) -> [Action] {
        guard !isRenumbering else { return [] }
        isRenumbering = true
        rest()
        return [.renumber(after: seq)]
    }

    private mutating func goBack(to seq: Int64, again: Bool) -> [Action] {
        acknowledged = seq
        hasGoneBack = again
        if !again { timeouts = 0 }
        return resend()
    }

    private mutating func resend() -> [Action] {
        rest()
        return pump()
    }

    /// Nothing is under way, and nothing is waited for.
    private mutating func rest() {
        sent = acknowledged
        skipped = acknowledged
        deadline = nil
        forgetPages()
    }

    private mutating func forgetPages() {
        isReading = false
        round &+= 1
    }
}
