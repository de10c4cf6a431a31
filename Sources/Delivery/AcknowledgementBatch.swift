package import Wire

/// What devices have acknowledged and the store does not know yet: of each device the furthest, with the marks of the
/// frames that said so.
///
/// Pure. One piece of work is under way at most; what comes meanwhile goes into the next. Its carrier gives the store each
/// ``Work`` with `submitLater(within: 50)` (``Outbox/settle(through:by:)`` for each device, and the marks), and calls
/// ``finished()``.
package struct AcknowledgementBatch<Mark: Sendable & Equatable>: Sendable {
    package struct Work: Sendable, Equatable {
        package fileprivate(set) var settled: [PeerID: Int64] = [:]
        /// In the order in which they came. Those of a device that was forgotten stay: the frames have come.
        package fileprivate(set) var marks: [Mark] = []

        package var isEmpty: Bool { settled.isEmpty && marks.isEmpty }
    }

    private var waiting = Work()
    private var isUnderWay = false

    package init() {}

    /// A device has everything through `seq`; what it says last counts, also when that is less.
    package mutating func settle(through seq: Int64, by device: PeerID) -> Work? {
        waiting.settled[device] = seq
        return next()
    }

    /// A frame is about to have its effect; its mark goes with what follows from it, or with the next ``due()``.
    package mutating func add(_ mark: Mark) { waiting.marks.append(mark) }

    /// What waits, unless a piece of work is under way.
    package mutating func due() -> Work? { waiting.isEmpty ? nil : next() }

    /// For a device that was unpaired.
    package mutating func forget(_ device: PeerID) { waiting.settled[device] = nil }

    /// The store has done it, or could not.
    package mutating func finished() -> Work? {
        isUnderWay = false
        return waiting.isEmpty ? nil : next()
    }

    /// The role is being stopped: all that waits, also while a piece of work is under way.
    package mutating func flush() -> Work? {
        defer { waiting = Work() }
        return waiting.isEmpty ? nil : waiting
    }

    private mutating func next() -> Work? {
        guard !isUnderWay else { return nil }
        isUnderWay = true
        defer { waiting = Work() }
        return waiting
    }
}
