/// The start of this desktop that a device's acknowledgements refer to (WireSealing, "Delivery of pushes").
///
/// After a backup of the desktop was restored, old acknowledgements can be played back: their numbers are those of other
/// pushes by now. A device that has named an epoch once has to name it always.
struct AcknowledgedEpoch: Sendable, Equatable {
    enum Verdict: Sendable, Equatable {
        /// About pushes of this start; or of a device that names no epochs.
        case current
        /// A hello about pushes of an earlier start, or anything about them in a session, where nothing can be played back:
        /// it tells where to continue, and settles nothing.
        case earlier
        /// An acknowledgement of pushes of an earlier start.
        case stale
    }

    /// The device has named an epoch.
    private(set) var isNamed: Bool

    init(isNamed: Bool = false) { self.isNamed = isNamed }

    /// - Parameters:
    ///   - epoch: as the device names it; 0 = it doesn't know.
    ///   - isOfSession: it came in a session, which is of the present start. The push that it is about may be older.
    ///   - current: of this start.
    mutating func judge(
        _ epoch: Int64?, isHello: Bool, isOfSession: Bool = false, current: Int64
    ) -> Verdict {
        if epoch != nil { isNamed = true }
        guard isNamed, epoch != current else { return .current }
        return isHello || isOfSession ? .earlier : .stale
    }
}
