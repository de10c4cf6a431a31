import Hosting
import Inbox
import Notifications
import Pairing
import Transport
import Wire

/// What the loop knows of the inbox that is not in the store.
struct InboxDesk {
    /// What the host was told last.
    var toldUnread: Int64?
    /// Refreshes under way.
    var runs: [PeerID: InboxRun] = [:]
    /// What went wrong last with each desktop, until something goes well.
    var errors: [PeerID: HostError] = [:]
    /// Desktops that were asked what is new since they can be reached.
    var synced: Set<PeerID> = []
}

/// A refresh under way.
@EventLoop
final class InboxRun {
    let desktop: PairedDesktop
    /// It was not the host who asked for it: it goes on without waiters.
    let isOwn: Bool
    var machine: InboxRefresh
    var run = Inbox.Run(number: 0, through: 0)
    /// The youngest row when the page was asked for that is under way.
    var through: Int64 = 0
    /// Something was marked or deleted since it began: what it was told may be older than that.
    var isOvertaken = false
    /// How often it has begun anew because of that.
    var restarts = 0
    /// Nothing was read yet: whoever comes now gets what they want to know.
    var isFresh = true
    var waiters = Waiters()
    /// Those who came too late for this one.
    var again: [(deadline: UInt64, then: Then)] = []
    /// In the loop's time.
    var deadline: UInt64
    var summary = Summary()
    lazy var timer = LoopTimer { [weak self] in self?.waitersExpired() }
    /// Ends it, when nobody waits any more.
    var giveUp: (@EventLoop (InboxRun, HostError) -> Void)?

    /// At each connect at most so many rows are read: what is older is as it was, until the host asks.
    private static let ownLimit: Int64 = 2_000
    /// On a desktop on which something changes all the time, it ends all the same.
    private static let restartLimit = 3

    struct Summary: Sendable {
        var added = 0
        var updated = 0
        var dropped = 0
    }

    init(of desktop: PairedDesktop, isOwn: Bool, deadline: UInt64) {
        (self.desktop, self.isOwn, self.deadline) = (desktop, isOwn, deadline)
        machine = Self.machine(isOwn: isOwn)
    }

    private static func machine(isOwn: Bool) -> InboxRefresh {
        InboxRefresh(rowLimit: isOwn ? ownLimit : InboxRefresh.rowLimit)
    }

    /// Whether it has to begin anew, before what it was told counts.
    func beginsAnew() -> Bool {
        guard isOvertaken, restarts < Self.restartLimit else { return false }
        isOvertaken = false
        restarts += 1
        machine = Self.machine(isOwn: isOwn)
        return true
    }

    func wait(until deadline: UInt64, _ then: @escaping Then) {
        self.deadline = max(self.deadline, deadline)
        waiters.add(until: deadline, then)
        timer.start(at: waiters.nextDeadline)
    }

    private func waitersExpired() {
        let error = HostError(.timeout, "the desktop did not answer in time")
        let expired = waiters.takeExpired(now: EventLoop.now)
        timer.start(at: waiters.nextDeadline)
        // Before they hear of it: nobody may join a run that ends by this.
        if waiters.isEmpty, !isOwn { giveUp?(self, error) }
        for waiter in expired { waiter(.failure(error)) }
    }
}
