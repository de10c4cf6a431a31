package import Wire

/// Acknowledgements that the store doesn't have yet: which devices have new ones, and the marks of the frames that
/// carried them.
///
/// Pure. Each device's session holds its number, as ``UnsavedAcknowledgement``. At most one piece of work is under way;
/// what comes meanwhile joins the next. The carrier gives each ``Work`` to the store with `submitWithNext`: the
/// marks, and ``Outbox/settle(through:by:)`` with what each device's ``UnsavedAcknowledgement/take()`` returns. Then
/// it calls ``finished()``.
package struct AcknowledgementBatch<Mark: Sendable & Equatable>: Sendable {
    package struct Work: Sendable, Equatable {
        /// In the order of their first acknowledgement. A device that was unpaired meanwhile has no session any more.
        package fileprivate(set) var devices: [PeerID] = []
        /// In the order in which they came, also those of unpaired devices: their frames did arrive.
        package fileprivate(set) var marks: [Mark] = []

        package var isEmpty: Bool { devices.isEmpty && marks.isEmpty }
    }

    private var waiting = Work()
    private var isUnderWay = false

    package init() {}

    /// A device has everything through `seq`. Its latest word counts, even if it is less than an earlier one.
    package mutating func settle(
        through seq: Int64, by device: PeerID, in unsaved: inout UnsavedAcknowledgement
    ) -> Work? {
        if unsaved.seq == nil { waiting.devices.append(device) }
        unsaved.seq = seq
        return next()
    }

    /// A frame is about to have its effect. Its mark joins what follows from it, or the next ``due()``.
    package mutating func add(_ mark: Mark) { waiting.marks.append(mark) }

    /// What waits, unless a piece of work is under way.
    package mutating func due() -> Work? { waiting.isEmpty ? nil : next() }

    /// The store has finished the work, or failed.
    package mutating func finished() -> Work? {
        isUnderWay = false
        return waiting.isEmpty ? nil : next()
    }

    /// The role is stopping: everything that waits, even if a piece of work is under way.
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

/// How far one device has acknowledged, until the store is told. Kept in the device's session.
package struct UnsavedAcknowledgement: Sendable {
    fileprivate var seq: Int64?

    package init() {}

    /// For the store; `nil` = nothing new.
    package mutating func take() -> Int64? { seq.take() }
}
