import Hosting
import Inbox
import Wire

/// A refresh of one desktop's history that is under way.
struct Refresh: Sendable {
    /// Tells this refresh's answers from those of earlier ones.
    let round: UInt64
    /// It was not the host who asked for it: it goes on without waiters.
    let isOwn: Bool
    var machine: InboxRefresh
    var run = Inbox.Run(number: 0, through: 0)
    /// The youngest row when the page was asked for that is under way.
    var through: Int64 = 0
    /// Something was marked or deleted since it began: what it was told may be older than that.
    var isOvertaken = false
    /// Nothing was read yet: whoever comes now gets what they want to know.
    var isFresh = true
    /// The settings are asked for after it.
    var wantsSettings: Bool
    var waiters = Waiters()
    /// What is wanted after this one: it was asked for too late.
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

    /// It is the host's, and nobody waits for it any more.
    var isUnwanted: Bool { waiters.isEmpty && !isOwn && !wantsSettings }

    func timeLeft(_ now: UInt64) -> UInt64 {
        isOwn ? InboxSync.timeout : max(1, deadline > now ? deadline - now : 1)
    }

    mutating func wait(until deadline: UInt64, _ then: @escaping Then) {
        self.deadline = max(self.deadline, deadline)
        waiters.add(until: deadline, then)
    }

    /// Whether it has to begin anew before what it was told counts.
    mutating func beginsAnew() -> Bool {
        guard isOvertaken, restarts < Self.restartLimit else { return false }
        isOvertaken = false
        restarts += 1
        machine = Self.machine(isOwn: isOwn)
        return true
    }
}
