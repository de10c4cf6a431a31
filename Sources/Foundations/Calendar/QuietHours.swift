/// A range of the day, from the start's minute up to, and without, the end's.
package struct QuietHours: Sendable, Equatable {
    /// Minutes since midnight.
    package let start: Int
    package let end: Int

    package init(start: Int, end: Int) { (self.start, self.end) = (start, end) }

    /// An empty range if it starts when it ends; a deployed desktop takes that as the whole day (WireDeployedPeers,
    /// "The desktop app").
    package func contains(minute: Int) -> Bool {
        start <= end ? start <= minute && minute < end : start <= minute || minute < end
    }
}
