import Notifications
package import Wire

/// Decides what of a deployed phone's outbox is sent, and when it is dropped (WireSealing, "Delivery to deployed
/// phones").
///
/// A pure state machine; `now` is monotonic milliseconds. Such a phone acknowledges nothing. What follows depends on the
/// relay (``AbsenceReporting``):
///
/// - If the relay reports absent peers, a push counts as delivered when it was written and not returned as
///   `peer-offline` for 2 s. A returned push waits until the phone is heard of, or until it expires; a new push checks
///   once more whether the phone is there. A relay never says which frame it returns, but returns them in order: so many
///   returns are the newest so many frames, and the others are delivered.
/// - If the relay is silent about absent peers, a push counts as delivered if the phone was heard just before it was sent,
///   or soon after. Any other one is sent at once as well, stays in the outbox, and is sent again when the phone is heard:
///   phones drop what they have by its id. At most ``outstandingLimit`` of these are on their way.
/// - Until it is known which, nothing is sent.
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
        /// The relay has called it absent: nothing is sent until it is heard of, or something new is put in. Or the relay
        /// is silent and the phone was not heard lately.
        case absent
    }

    private struct Written: Sendable, Equatable {
        let seq: Int64
        /// `never`: the phone was not heard in time, and it is sent again when the phone is heard.
        var verdictAt: UInt64
        /// Whether it counts as delivered at that time.
        let isDelivered: Bool

        static let never = UInt64.max
        var isUnknown: Bool { verdictAt == Self.never }
    }

    private struct Hearing: Sendable, Equatable {
        let route: RouteID
        let at: UInt64
    }

    /// How long a relay has to call a frame back.
    package static let verdictTime: UInt64 = 2_000
    /// Over a silent relay a phone counts as present for this long after it was heard: one and a half of the heartbeats
    /// that deployed phones send.
    package static let presenceTime: UInt64 = 45_000
    /// Over a silent relay a push counts as delivered if the phone was heard within this time before.
    package static let freshTime: UInt64 = 5_000
    /// So many may wait for their verdict.
    package static let window = 1_024
    /// How many pushes may be on their way over a silent relay while it is unknown whether the phone is connected. The
    /// public relay stores 50 (WireDeployedRelays, "Compared").
    package static let outstandingLimit = 40

    package private(set) var last: Int64
    /// Everything through this one is there, or gone.
    package private(set) var dropped: Int64
    package private(set) var sent: Int64
    package private(set) var presence = Presence.assumed

    private var isReachable = false
    private var isReading = false
    private var round: UInt64 = 0
    private var written: [Written] = []
    /// How many of those were called back. The rest is known at the verdict of the newest.
    private var returned = 0
    /// Whether it was written over another relay than what comes next, which waits until all verdicts are known.
    private var isSettling = false
    /// When something that a connection did not take is tried again.
    private var retryAt: UInt64?
    /// The route over which it is reached; `nil` = none yet.
    private var route: RouteID?
    private var reporting = AbsenceReporting.reports
    private var lastHeard: Hearing?

    package init(_ position: Outbox.Position) {
        last = position.last
        dropped = position.acknowledged
        sent = position.acknowledged
    }

    /// When ``deadlineReached(now:)`` is to be called.
    package var deadline: UInt64? {
        let verdict = returned > 0 ? written.last : written.first { !$0.isUnknown }
        return [verdict?.verdictAt, retryAt].compactMap(\.self).min()
    }

    /// What was sent, and counts as delivered unless it is called back.
    package var presumed: Int64 { written.first { !$0.isDelivered }.map { $0.seq - 1 } ?? sent }

    /// Whether something waits for its verdict.
    package var isWaiting: Bool { !written.isEmpty }

    // MARK: Events

    package mutating func enqueued(_ entry: Outbox.Entry, now: UInt64) -> [Action] {
        guard entry.seq > last else { return [] }
        let isNext = sent == last && entry.seq == last + 1
        last = entry.seq
        doubt(now)
        guard isNext, !isReading, isOpen(now) else { return pump(now) }
        return send([entry], now: now)
    }

    package mutating func read(_ page: Outbox.Page, round: UInt64, now: UInt64) -> [Action] {
        guard round == self.round else { return [] }
        isReading = false
        guard page.from == sent + 1, isOpen(now) else { return pump(now) }
        let entries = Array(page.entries.prefix(room(now)))
        // Gaps mean nothing to a phone.
        let isWhole = entries.count == page.entries.count
        let end = isWhole ? page.through : entries.last?.seq ?? sent
        let actions = entries.isEmpty ? [] : send(entries, now: now)
        sent = max(sent, end)
        return actions + pump(now)
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
        if written.isEmpty { isSettling = false }
        forgetPages()
        retryAt = now &+ Self.verdictTime
    }

    /// Every relay over which it is reached has called it absent, for one frame that was sent to it.
    package mutating func wasCalledAbsent() {
        presence = .absent
        wasReturned()
    }

    /// The relay that carried what was written has called one frame back. It may be reached over another one.
    package mutating func wasReturned(now: UInt64) -> [Action] {
        wasReturned()
        return pump(now)
    }

    private mutating func wasReturned() {
        returned += 1
        guard returned < written.count else { return rest() }
        forgetPages()
    }

    /// It has left its relay. What was written before may be there: a relay that reports absent peers calls the rest
    /// back.
    package mutating func wentOffline() {
        presence = .absent
        forgetPages()
    }

    /// Something came from it, or its relay says that it is there.
    package mutating func heard(over route: RouteID? = nil, now: UInt64) -> [Action] {
        // What comes right after a registration may have been stored.
        if let route, self.route != route || reporting != .unknown { lastHeard = Hearing(route: route, at: now) }
        if isSilent, isFresh(now) { confirm(now) }
        if isSilent { presence = isHeardLately(now) ? .assumed : presence }
        guard presence != .assumed else { return isSilent ? pump(now) : [] }
        presence = .assumed
        return pump(now)
    }

    /// The phone is reached over this route now, or the route has shown whether it reports absent peers.
    package mutating func routed(over route: RouteID, _ reporting: AbsenceReporting, now: UInt64) -> [Action] {
        (self.route, self.reporting) = (route, reporting)
        switch reporting {
        case .unknown: lastHeard = nil
        case .reports: confirm(now)
        case .silent: break
        }
        return pump(now)
    }

    /// It is reached, over a new connection, another relay, or again over the same one.
    ///
    /// - Parameter isCarrierUp: whether the relay that carried what was written is still connected. Then it says itself
    ///   what it could not deliver; otherwise everything written waits again.
    package mutating func connected(isCarrierUp: Bool = false, now: UInt64) -> [Action] {
        isReachable = true
        doubt(now)
        if isCarrierUp, !written.isEmpty, written.allSatisfy(\.isDelivered) {
            isSettling = true
            forgetPages()
        } else {
            rest()
        }
        return pump(now)
    }

    /// What was written moments ago may be lost: it waits again.
    package mutating func disconnected() {
        isReachable = false
        rest()
    }

    /// The desktop is stopped in order: what was written, and not called back, counts as there.
    package mutating func ended() -> [Action] {
        let delivered = written.prefix(while: \.isDelivered).dropLast(returned)
        written = []
        returned = 0
        guard let newest = delivered.last else { return [] }
        dropped = newest.seq
        return [.drop(through: newest.seq)]
    }

    package mutating func deadlineReached(now: UInt64) -> [Action] {
        if let retryAt, retryAt <= now { self.retryAt = nil }
        if returned > 0 { return concludeReturns(now) }
        guard let first = written.first, first.verdictAt <= now else {
            giveUp(now)
            return pump(now)
        }
        guard first.isDelivered else {
            giveUp(now)
            return pump(now)
        }
        let settled = written.prefix { $0.isDelivered && $0.verdictAt <= now }
        written.removeFirst(settled.count)
        if written.isEmpty { isSettling = false }
        dropped = settled.last?.seq ?? first.seq
        // Nobody called it back: it was there. Whether it has left since is known.
        if presence == .doubted { presence = .assumed }
        return [.drop(through: dropped)] + pump(now)
    }

    /// The newest frames were called back, as many as the relay has said.
    private mutating func concludeReturns(_ now: UInt64) -> [Action] {
        guard let newest = written.last, newest.verdictAt <= now else { return [] }
        let delivered = written.dropLast(returned).last?.seq
        dropped = delivered ?? dropped
        rest()
        return (delivered.map { [.drop(through: $0)] } ?? []) + pump(now)
    }

    // MARK: Deciding

    /// How many more may be written now.
    private func room(_ now: UInt64) -> Int {
        switch reporting {
        case .unknown: return 0
        case .silent:
            let unsure = written.count { !$0.isDelivered }
            return max(0, isFresh(now) ? Self.window - written.count : Self.outstandingLimit - unsure)
        case .reports: break
        }
        return switch presence {
        case .absent: 0
        case .doubted: max(0, 1 - written.count)
        case .assumed: max(0, Self.window - written.count)
        }
    }

    private func isOpen(_ now: UInt64) -> Bool { isReachable && returned == 0 && !isSettling && room(now) > 0 }

    private var isSilent: Bool { reporting == .silent }

    private func isFresh(_ now: UInt64) -> Bool { isHeard(within: Self.freshTime, now) }

    private func isHeardLately(_ now: UInt64) -> Bool { isHeard(within: Self.presenceTime, now) }

    private func isHeard(within time: UInt64, _ now: UInt64) -> Bool {
        guard let lastHeard, lastHeard.route == route else { return false }
        return now < lastHeard.at &+ time
    }

    /// One push may find out whether an absent phone is there, unless the relay wouldn't tell.
    private mutating func doubt(_ now: UInt64) {
        if isSilent {
            presence = isHeardLately(now) ? .assumed : .absent
        } else if presence == .absent {
            presence = .doubted
        }
    }

    /// The phone was not heard in time: it may have been there or not.
    private mutating func giveUp(_ now: UInt64) {
        for (index, entry) in written.enumerated() where !entry.isDelivered && entry.verdictAt <= now {
            written[index].verdictAt = Written.never
            presence = .absent
        }
    }

    /// What was written counts as delivered unless it is called back. The first push whose fate is unknown waits again, and
    /// so do all after it.
    private mutating func confirm(_ now: UInt64) {
        if let unknown = written.firstIndex(where: { $0.isUnknown }) {
            sent = max(dropped, written[unknown].seq - 1)
            written.removeSubrange(unknown...)
            returned = 0
            forgetPages()
        }
        for (index, entry) in written.enumerated() where !entry.isDelivered {
            written[index] = Written(seq: entry.seq, verdictAt: now &+ Self.verdictTime, isDelivered: true)
        }
    }

    private mutating func pump(_ now: UInt64) -> [Action] {
        guard isOpen(now), !isReading, sent < last, retryAt == nil else { return [] }
        isReading = true
        return [.read(from: sent + 1, through: last, round: round)]
    }

    private mutating func send(_ entries: [Outbox.Entry], now: UInt64) -> [Action] {
        let isDelivered = !isSilent || isFresh(now)
        let verdictAt =
            isDelivered
            ? now &+ Self.verdictTime : isHeardLately(now) ? (lastHeard?.at ?? now) &+ Self.presenceTime : Written.never
        for entry in entries {
            written.append(Written(seq: entry.seq, verdictAt: verdictAt, isDelivered: isDelivered))
        }
        sent = entries.last?.seq ?? sent
        return [.send(entries)]
    }

    private mutating func rest() {
        written = []
        returned = 0
        isSettling = false
        sent = dropped
        retryAt = nil
        forgetPages()
    }

    private mutating func forgetPages() {
        isReading = false
        round &+= 1
    }
}
