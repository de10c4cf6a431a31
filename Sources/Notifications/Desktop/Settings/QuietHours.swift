/// A range of the day, from the start's minute up to, and without, the end's.
struct QuietHours: Sendable, Equatable {
    /// Minutes since midnight.
    let start: Int
    let end: Int

    /// Start = end is an empty range here; a deployed desktop means the whole day by it (`protocol.md` 3).
    func contains(minute: Int) -> Bool {
        start <= end ? start <= minute && minute < end : start <= minute || minute < end
    }
}
