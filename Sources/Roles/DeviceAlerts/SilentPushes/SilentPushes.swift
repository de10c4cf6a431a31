package import Transport
package import Wire

/// Silent pushes that the host is working on, with the timer that ends them.
@EventLoop
package final class SilentPushes {
    private var deadlines = SilentPushDeadlines()
    private lazy var timer = LoopTimer { [weak self] in self?.expire() }

    package nonisolated init() {}

    package var total: Int64 { deadlines.total }
    package var failed: Int64 { deadlines.failed }

    package func begin(_ id: NotificationID) -> SilentPushDeadlines.Start {
        defer { arm() }
        return deadlines.begin(id, now: EventLoop.now)
    }

    /// `false` = no such push is in progress.
    package func complete(_ id: NotificationID, _ result: SilentPushDeadlines.Result) -> Bool {
        defer { arm() }
        return deadlines.complete(id, result)
    }

    /// For good: nothing expires any more.
    package func end() {
        guard deadlines.next != nil else { return }
        deadlines.end()
        timer.stop()
    }

    private func expire() {
        deadlines.expire(now: EventLoop.now)
        arm()
    }

    private func arm() {
        guard let next = deadlines.next else { return timer.stop() }
        let now = EventLoop.now
        timer.start(after: next > now ? next - now : 0)
    }
}
