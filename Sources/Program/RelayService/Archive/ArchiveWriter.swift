internal import Glibc
internal import Relay
internal import Transport

/// Writes stored frames to disk in groups. Nothing on the wire waits for it.
///
/// A frame is on its way to the disk within 5 ms. While one group is being written the next one collects. A write that
/// fails is repeated each second; meanwhile the frames are in memory only.
@EventLoop
final class ArchiveWriter: FrameArchive {
    /// Milliseconds that a group collects: with a frame in it, and with deletions alone, which only prevent repeats.
    private static let (groupDelay, deletionDelay, retryDelay): (UInt64, UInt64, UInt64) = (5, 200, 1_000)

    private let database: FrameDatabase
    private let report: @EventLoop (ArchiveReport) -> Void
    private var journal = ArchiveJournal()
    private var timer: ShortTimer?
    private var isUrgent = false
    private var startedAt: UInt64 = 0
    private var onIdle: (@EventLoop () -> Void)?
    private(set) var latency = Histogram(Histogram.commitSeconds)
    private(set) var committed: UInt64 = 0
    private(set) var failures: UInt64 = 0
    private(set) var isFailing = false

    enum ArchiveReport {
        case failing(String)
        case recovered
    }

    init(_ database: FrameDatabase, report: @escaping @EventLoop (ArchiveReport) -> Void) {
        self.database = database
        self.report = report
        timer = ShortTimer { [weak self] in self?.timePassed() }
    }

    var pending: Int { journal.count }

    func keep(_ changes: [ArchiveChange]) {
        journal.note(changes)
        schedule()
    }

    /// Writes what is left, and calls `then` when it is written or can't be.
    func finish(then: @escaping @EventLoop () -> Void) {
        onIdle = then
        timer?.stop()
        write()
        finishIfIdle()
    }

    private func schedule() {
        guard !journal.isWriting, !journal.isEmpty, !isFailing, let timer else { return }
        let urgent = journal.hasFrames
        guard !timer.isRunning || (urgent && !isUrgent) else { return }
        isUrgent = urgent
        timer.start(after: urgent ? Self.groupDelay : Self.deletionDelay)
    }

    private func timePassed() {
        // What could not be written may have left in the meantime: then the disk has all that there is.
        if isFailing, !journal.isWriting, journal.isEmpty {
            isFailing = false
            report(.recovered)
        }
        write()
    }

    private func write() {
        guard let batch = journal.next() else { return }
        startedAt = Self.nanoseconds
        database.write(batch) { outcome in
            EventLoop.post { self.wrote(outcome) }
        }
    }

    private func wrote(_ outcome: FrameDatabase.Outcome) {
        committed &+= UInt64(journal.ended(keptOnDisk: outcome.kept == nil, goneOnDisk: outcome.gone == nil))
        if let failure = outcome.kept ?? outcome.gone {
            failures &+= 1
            if !isFailing { report(.failing(failure)) }
            isFailing = true
            if onIdle == nil { timer?.start(after: Self.retryDelay) }
        } else {
            latency.observe(Double(Self.nanoseconds &- startedAt) / 1e9)
            if isFailing { report(.recovered) }
            isFailing = false
            schedule()
            if onIdle != nil { write() }
        }
        finishIfIdle()
    }

    private func finishIfIdle() {
        guard let then = onIdle, !journal.isWriting, journal.isEmpty || isFailing else { return }
        onIdle = nil
        then()
    }

    private static var nanoseconds: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) &* 1_000_000_000 &+ UInt64(time.tv_nsec)
    }
}
