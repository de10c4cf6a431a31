/// Decides whether a guest's holder still answers.
///
/// A pure value: the carrier calls ``tick()`` after each interval, and sends what is asked for. It counts intervals, not
/// time: in a process that was stopped itself, one interval passes, whatever the clock says.
package struct HolderPulse {
    package enum Action: Equatable {
        case wait
        /// Ask the holder for a sign of life.
        case ask
        /// The holder has stopped answering.
        case silent
    }

    /// Intervals without a frame after which a holder counts as silent.
    package static let limit = 4

    /// The holder has not answered, and nothing has come since.
    package private(set) var isSilent = false
    /// An answer is due: nothing has come for an interval at least.
    package var isWaiting: Bool { missed > 0 }
    private var isHeard = true
    private var missed = 0

    package init() {}

    /// A frame has come. Returns whether the holder was silent before.
    package mutating func heard() -> Bool {
        (isHeard, missed) = (true, 0)
        defer { isSilent = false }
        return isSilent
    }

    package mutating func tick() -> Action {
        if isHeard {
            isHeard = false
            return .wait
        }
        missed += 1
        if missed == 1 { return .ask }
        guard missed >= Self.limit else { return .wait }
        isSilent = true
        return .silent
    }
}
