import Hosting
import Inbox
import Listing
import Store
import Transport

/// Updates the inbox's text index in the background. ``IndexSchedule`` decides when; each step is a separate job of the
/// store.
@EventLoop
final class InboxIndexing {
    private let database: Database
    private var schedule = IndexSchedule()
    private var isEnded = false
    private lazy var timer = LoopTimer { [weak self] in self?.step() }

    nonisolated init(_ database: Database) { self.database = database }

    /// Rows were stored, changed or taken out; at opening, they may have been.
    func wrote() {
        guard !isEnded else { return }
        schedule.wrote(now: EventLoop.now)
        timer.start(at: schedule.deadline)
    }

    func shutDown() {
        isEnded = true
        timer.stop()
    }

    private func step() {
        guard !isEnded else { return }
        guard schedule.begin(now: EventLoop.now) else { return timer.start(at: schedule.deadline) }
        database.submit { (connection) throws(StoreError) in
            try Inbox(connection).pages.indexText()
        } then: { [weak self] result in
            EventLoop.post { self?.stepped(try? result.get()) }
        }
    }

    private func stepped(_ progress: TextIndexer.Progress?) {
        schedule.stepped(progress, now: EventLoop.now)
        if !isEnded { timer.start(at: schedule.deadline) }
    }
}
