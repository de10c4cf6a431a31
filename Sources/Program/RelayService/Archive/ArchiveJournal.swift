package import Relay

/// The changes that must still be written to disk: the difference between the stored frames in memory and those on
/// disk.
///
/// One batch is written at a time. A frame that leaves before it was written is never written.
package struct ArchiveJournal {
    /// Frames to insert, in the order of their sequences, and rows to delete.
    package struct Batch: Sendable, Equatable {
        package var kept: [ArchivedFrame] = []
        package var gone: [Int64] = []
    }

    private var kept: [Int64: ArchivedFrame] = [:]
    private var gone: Set<Int64> = []
    private var writing: Batch?

    package init() {}

    /// Frames and deletions that are not on disk yet, those being written included.
    package var count: Int { kept.count + gone.count + (writing.map { $0.kept.count + $0.gone.count } ?? 0) }

    package var isWriting: Bool { writing != nil }
    package var isEmpty: Bool { kept.isEmpty && gone.isEmpty }
    /// Whether a frame waits: deletions alone have time.
    package var hasFrames: Bool { !kept.isEmpty }

    package mutating func note(_ changes: [ArchiveChange]) {
        for change in changes {
            switch change {
            case .kept(let frame): kept[frame.sequence] = frame
            case .gone(let sequence):
                if kept.removeValue(forKey: sequence) == nil { gone.insert(sequence) }
            }
        }
    }

    /// The next batch; `nil` = there is nothing, or one is being written.
    package mutating func next() -> Batch? {
        guard writing == nil, !isEmpty else { return nil }
        let batch = Batch(kept: kept.values.sorted { $0.sequence < $1.sequence }, gone: gone.sorted())
        (kept, gone, writing) = ([:], [], batch)
        return batch
    }

    /// The writing has ended. What is not on disk waits again, except frames that have left since. Returns how many frames
    /// are new on disk.
    package mutating func ended(keptOnDisk: Bool, goneOnDisk: Bool) -> Int {
        guard let batch = writing else { return 0 }
        writing = nil
        if !keptOnDisk {
            for frame in batch.kept where gone.remove(frame.sequence) == nil { kept[frame.sequence] = frame }
        }
        if !goneOnDisk { gone.formUnion(batch.gone) }
        return keptOnDisk ? batch.kept.count : 0
    }
}
