import Notifications

/// Decides what of a deployed phone's outbox is sent, and when it is dropped (WireSealing, "Delivery to deployed
/// phones").
///
/// A pure state machine; `now` is monotonic milliseconds. Such a phone acknowledges nothing: a push that was written,
/// and not returned as `peer-offline` for 2 s, counts as delivered. A returned push waits until the phone is heard of,
/// or until it expires; a new push checks once more whether the phone is there. A relay never says which frame it
/// returns, so everything of the last 2 s is returned.
package struct PlainOutboxStateMachine: Sendable {
    package enum Action: Sendable, Equatable {
        /// Read a page, and give it back with its `round`.
        case read(from: Int64, through: Int64, round: UInt64)
        /// Send these, in order. What a connection does not take, ``unsent(from:now:)`` is told of.
        case send([Outbox.Entry])
        /// It has everything through this one.
        case drop(through: Int64)
    }

    /// What we know of the phone's presence.
    package enum Presence: Sendable, Equatable {
        /// Nothing speaks against it.
        case assumed
        /// It was called absent, and something new is there for it: one push finds out.
        case doubted
        /// The relay has called it absent. Nothing is sent until it is heard of, or something new is put in.
        case absent
    }

    private struct Written: Sendable, Equatable {
        let seq: Int64
        let verdictAt: UInt64
    }

    /// How long a relay has to call a frame back.
    package static let verdictTime: UInt64 = 2_000
    /// So many may wait for their verdict.
    package static let window = 1_024

    package private(set) var last: Int64
    /// Everything through this one is there, or gone.
    package private(set) var dropped: Int64
    package private(set) var sent: Int64
    package private(set) var presence = Presence.assumed

    private var isReachable = false
    private var isReading = false
    private var round: UInt64 = 0
    private var written: [Written] = []
    /// When something that a connection did not take is tried again.
    private var retryAt: UInt64?

    package init(_ position: Outbox.Position) {
        last = position.last
        dropped = position.acknowledged
        sent = position.acknowledged
    }

    /// When ``deadlineReached(now:)`` is to be called.
    package var deadline: UInt64? { [written.first?.verdictAt, retryAt].compactMap(\.self).min() }

    // MARK: Events

    package mutating func enqueued(_ entry: Outbox.Entry, now: UInt64) -> [Action] {
        guard entry.seq > last else { return [] }
        let isNext = sent == last && entry.seq == last + 1
        last = entry.seq
        if presence == .absent { presence = .doubted }
        guard isNext, !isReading, isOpen else { return pump() }
        return send([entry], now: now)
    }

    package mutating func read(_ page: Outbox.Page, round: UInt64, now: UInt64) -> [Action] {
        guard round == self.round else { return [] }
        isReading = false
        guard page.from == sent + 1, isOpen else { return pump() }
        let entries = Array(page.entries.prefix(room))
        // Gaps mean nothing to a phone.
        let isWhole = entries.count == page.entries.count
        let end = isWhole ? page.through : entries.last?.seq ?? sent
        let actions = entries.isEmpty ? [] : send(entries, now: now)
        sent = max(sent, end)
        return actions + pump()
    }

    package mutating func readFailed(round: UInt64, now: UInt64) {
        guard round == self.round else { return }
        isReading = false
        retryAt = now &+ Self.verdictTime
    }

    /// These were not taken: from this number on nothing has left.
    package mutating func unsent(from seq: Int64, now: UInt64) {
        written.removeAll { $0.seq >= seq }
        sent = max(dropped, min(sent, seq - 1))
        forgetPages()
        retryAt = now &+ Self.verdictTime
    }

    /// Every relay over which it is reached has called it absent.
    package mutating func wasCalledAbsent() {
        presence = .absent
        rest()
    }

    /// Something came from it, or its relay says that it is there.
    package mutating func heard(now: UInt64) -> [Action] {
        guard presence != .assumed else { return [] }
        presence = .assumed
        return pump()
    }

    package mutating func connected(now: UInt64) -> [Action] {
        isReachable = true
        if presence == .absent { presence = .doubted }
        rest()
        return pump()
    }

    /// What was written moments ago may be lost: it waits again.
    package mutating func disconnected() {
        isReachable = false
        rest()
    }

    /// The desktop is stopped in order: what was written, and not called back, counts as there.
    package mutating func ended() -> [Action] {
        guard let newest = written.last else { return [] }
        written = []
        dropped = newest.seq
        return [.drop(through: newest.seq)]
    }

    package mutating func deadlineReached(now: UInt64) -> [Action] {
        var actions: [Action] = []
        if let retryAt, retryAt <= now { self.retryAt = nil }
        let settled = written.prefix { $0.verdictAt <= now }
        if let newest = settled.last {
            written.removeFirst(settled.count)
            dropped = newest.seq
            // Nobody called it back: it is there.
            presence = .assumed
            actions = [.drop(through: newest.seq)]
        }
        return actions + pump()
    }

    // MARK: Deciding

    /// How many more may be written now.
    private var room: Int {
        switch presence {
        case .absent: 0
        case .doubted: max(0, 1 - written.count)
        case .assumed: max(0, Self.window - written.count)
        }
    }

    private var isOpen: Bool { isReachable && room > 0 }

    private mutating func pump() -> [Action] {
        guard isOpen, !isReading, sent < last, retryAt == nil else { return [] }
        isReading = true
        return [.read(from: sent + 1, through: last, round: round)]
    }

    private mutating func send(_ entries: [Outbox.Entry], now: UInt64) -> [Action] {
        for entry in entries { written.append(Written(seq: entry.seq, verdictAt: now &+ Self.verdictTime)) }
        sent = entries.last?.seq ?? sent
        return [.send(entries)]
    }

    private mutating func rest() {
        written = []
        sent = dropped
        retryAt = nil
        forgetPages()
    }

    private mutating func forgetPages() {
        isReading = false
        round &+= 1
    }
}
