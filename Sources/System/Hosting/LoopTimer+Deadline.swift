package import Transport

extension LoopTimer {
    /// Fires at that moment of the loop's time, at once if it is over; replaces the moment before. `nil` = never.
    package func start(at deadline: UInt64?) {
        guard let deadline else { return stop() }
        let now = EventLoop.now
        start(after: deadline > now ? deadline - now : 0)
    }
}
