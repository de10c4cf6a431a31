import Hosting
import Transport

/// The timers of a switchboard's units, by name; each is made when it is first needed.
@EventLoop
final class AlertTimers<Name: Hashable> {
    private let fired: @EventLoop (Name) -> Void
    private var timers: [Name: LoopTimer] = [:]

    init(_ fired: @escaping @EventLoop (Name) -> Void) { self.fired = fired }

    /// Milliseconds from now; replaces the moment before.
    func start(_ name: Name, after delay: UInt64) { timer(name).start(after: delay) }

    /// At that moment of the loop's time; `nil` = never.
    func start(_ name: Name, at deadline: UInt64?) {
        guard deadline != nil || timers[name] != nil else { return }
        timer(name).start(at: deadline)
    }

    func isRunning(_ name: Name) -> Bool { timers[name]?.isRunning ?? false }

    func stopAll() { for timer in timers.values { timer.stop() } }

    private func timer(_ name: Name) -> LoopTimer {
        if let timer = timers[name] { return timer }
        let timer = LoopTimer { [weak self] in self?.fired(name) }
        timers[name] = timer
        return timer
    }
}
