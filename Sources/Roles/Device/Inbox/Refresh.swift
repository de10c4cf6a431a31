import Hosting
import Inbox
import Wire

/// A refresh of one desktop's history, in progress.
struct Refresh: Sendable {
    /// Tells this refresh's answers from those of earlier ones.
    let round: UInt64
    /// The library started it, so it continues without waiters.
    let isOwn: Bool
    var machine: InboxRefresh
    var run = Inbox.Run(number: 0, through: 0)
    /// The newest row at the time of the current page's request.
    var through: Int64 = 0
    /// Something was marked or deleted since it began, so its pages may be outdated.
    var isOvertaken = false
    /// Nothing was read yet: whoever comes now gets what they want to know.
    var isFresh = true
    /// The settings are asked for after it.
    var wantsSettings: Bool
    var waiters = Waiters()
    /// A further refresh to run after this one, because it was requested too late to join.
    var again = Again()
    var added = 0
    var updated = 0
    /// In the loop's milliseconds.
    private var deadline: UInt64
    private var restarts = 0

    struct Again: Sendable {
        var waiters: [(deadline: UInt64, then: Then)] = []
        var isWanted = false
        var wantsSettings = false

        var nextDeadline: UInt64? { waiters.lazy.map(\.deadline).min() }

        /// Removes expired waiters, in order of arrival.
        mutating func takeExpired(now: UInt64) -> [Then] {
            defer { waiters.removeAll { $0.deadline <= now } }
            return waiters.filter { $0.deadline <= now }.map(\.then)
        }
    }

    /// At each connect at most so many rows are read: older ones stay as they were until the host asks.
    private static let ownLimit: Int64 = 2_000
    /// On a desktop on which something changes all the time, a refresh ends all the same.
    private static let restartLimit = 3

    init(round: UInt64, isOwn: Bool, wantsSettings: Bool, deadline: UInt64) {
        (self.round, self.isOwn, self.wantsSettings, self.deadline) = (round, isOwn, wantsSettings, deadline)
        machine = Self.machine(isOwn: isOwn)
    }

    private static func machine(isOwn: Bool) -> InboxRefresh {
        InboxRefresh(rowLimit: isOwn ? ownLimit : InboxRefresh.rowLimit)
    }

    /// The program started it, and no call waits for it any more.
    var isUnwanted: Bool { waiters.isEmpty && !isOwn && !wantsSettings }

    func timeLeft(_ now: UInt64) -> UInt64 {
        isOwn ? InboxSync.timeout : max(1, deadline > now ? deadline - now : 1)
    }

    mutating func wait(until deadline: UInt64, _ then: @escaping Then) {
        self.deadline = max(self.deadline, deadline)
        waiters.add(until: deadline, then)
    }

    /// Whether it must start again before its results count.
    mutating func beginsAnew() -> Bool {
        guard isOvertaken, restarts < Self.restartLimit else { return false }
        isOvertaken = false
        restarts += 1
        machine = Self.machine(isOwn: isOwn)
        return true
    }
}
