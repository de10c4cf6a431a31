/// Decides which banner is sent to the notification server next, and when.
///
/// A server answers one call after the other, so only as many calls are in progress as it answers quickly: a banner that
/// is sent too early can't be overtaken by a more important one. Critical banners come first, then the order is that of
/// arrival. A full server, which shows as many banners as it can, gets the next one after one was closed; a critical
/// banner takes the place of our own oldest ordinary one. No banner is sent again while its call is in progress.
///
/// A pure state machine; `now` is monotonic milliseconds.
struct BannerQueue: Sendable {
    /// In the order of arrival.
    typealias Ticket = UInt64

    enum Action: Sendable, Equatable {
        /// Send it, then call ``answered(_:isFull:waitsAgain:now:)``.
        case send(Ticket)
        /// Close our oldest ordinary banner; its end comes as ``placeFreed(now:)``.
        case makeRoom
    }

    /// An answer within this time, in milliseconds, lets one more call be in progress.
    static let quickAnswer: UInt64 = 50
    /// An answer after this time halves the number of calls in progress.
    static let slowAnswer: UInt64 = 150
    static let maximumCalls = 8
    /// Calls for critical banners beyond the others.
    static let criticalReserve = 2
    /// A full server is asked again after this time: servers may not report that other programs' banners have ended.
    static let fullPause: UInt64 = 5_000

    private struct Entry: Sendable {
        let ticket: Ticket
        let isCritical: Bool
    }

    private struct Call: Sendable {
        let entry: Entry
        let sentAt: UInt64
    }

    private enum Room: Sendable, Equatable {
        case free
        /// Nothing is sent until a banner ends, or until then.
        case full(until: UInt64)
        /// One banner after the other is sent, so that the first one gets the first place, until none waits.
        case perhaps
    }

    private var waiting: [Entry] = []
    private var calls: [Ticket: Call] = [:]
    private var limit = 2
    private var room = Room.free
    private var isMakingRoom = false

    /// When ``deadlineReached(now:)`` is due.
    var deadline: UInt64? { if case .full(let until) = room, !waiting.isEmpty { until } else { nil } }

    mutating func add(_ ticket: Ticket, isCritical: Bool, now: UInt64) -> [Action] {
        insert(Entry(ticket: ticket, isCritical: isCritical))
        return next(now)
    }

    /// Removes a banner that was not sent.
    mutating func remove(_ ticket: Ticket) { waiting.removeAll { $0.ticket == ticket } }

    /// - Parameters:
    ///   - isFull: the server refused the banner because it shows as many as it can.
    ///   - waitsAgain: the banner is still wanted, and keeps its place in the queue.
    mutating func answered(_ ticket: Ticket, isFull: Bool, waitsAgain: Bool, now: UInt64) -> [Action] {
        guard let call = calls.removeValue(forKey: ticket) else { return [] }
        adapt(to: now &- call.sentAt)
        if waitsAgain { insert(call.entry) }
        if isFull {
            room = .full(until: now &+ Self.fullPause)
        } else if room == .perhaps, waiting.isEmpty {
            room = .free
        }
        return next(now)
    }

    /// A banner of the server has ended, ours or another program's.
    mutating func placeFreed(now: UInt64) -> [Action] {
        isMakingRoom = false
        if room != .free { room = .perhaps }
        return next(now)
    }

    mutating func deadlineReached(now: UInt64) -> [Action] {
        guard case .full(let until) = room, until <= now else { return [] }
        isMakingRoom = false
        room = .perhaps
        return next(now)
    }

    /// Another server, or the same one after a restart.
    mutating func serverChanged() { (limit, room, isMakingRoom) = (2, .free, false) }

    /// Takes out all banners that were not sent, in order.
    mutating func removeAll() -> [Ticket] {
        defer { waiting = [] }
        return waiting.map(\.ticket)
    }

    /// Critical ones first, then by arrival, also if several were refused at the same time.
    private mutating func insert(_ entry: Entry) {
        let place = waiting.firstIndex { other in
            entry.isCritical == other.isCritical ? entry.ticket < other.ticket : entry.isCritical
        }
        waiting.insert(entry, at: place ?? waiting.endIndex)
    }

    private mutating func adapt(to time: UInt64) {
        if time <= Self.quickAnswer {
            limit = min(Self.maximumCalls, limit + 1)
        } else if time >= Self.slowAnswer {
            limit = max(1, limit / 2)
        }
    }

    private mutating func next(_ now: UInt64) -> [Action] {
        var actions: [Action] = []
        while let first = waiting.first {
            switch room {
            case .free:
                guard calls.count < limit + (first.isCritical ? Self.criticalReserve : 0) else { return actions }
            case .perhaps: guard calls.isEmpty else { return actions }
            case .full:
                guard first.isCritical, !isMakingRoom else { return actions }
                isMakingRoom = true
                return actions + [.makeRoom]
            }
            waiting.removeFirst()
            calls[first.ticket] = Call(entry: first, sentAt: now)
            actions.append(.send(first.ticket))
        }
        return actions
    }
}
