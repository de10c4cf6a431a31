import History
import Hosting
import Listing
import Store
import Transport

/// Indexes the history's texts in the background, in small jobs of the store. ``IndexSchedule`` decides when.
@EventLoop
final class HistoryIndexing {
    private let database: Database
    private var schedule = IndexSchedule()
    private var isStarted = false
    private lazy var timer = LoopTimer { [weak self] in self?.deadlineReached() }

    nonisolated init(_ database: Database) { self.database = database }

    func start() {
        isStarted = true
        schedule.opened(now: EventLoop.now)
        arm()
    }

    /// A step that is under way comes to its end.
    func stop() {
        isStarted = false
        timer.stop()
    }

    /// Rows were stored, marked or taken out.
    func wrote() {
        let isFirst = schedule.deadline == nil
        schedule.wrote(now: EventLoop.now)
        // Later writes only move the deadline back: the timer finds that out when it fires.
        if isFirst { arm() }
    }

    private func deadlineReached() {
        guard schedule.begin(now: EventLoop.now) else { return arm() }
        database.submit { (connection) throws(StoreError) in
            try TextIndexer(History.text, connection).step()
        } then: { result in
            EventLoop.post { [weak self] in
                guard let self else { return }
                schedule.stepped(try? result.get(), now: EventLoop.now)
                arm()
            }
        }
    }

    private func arm() {
        guard isStarted, let deadline = schedule.deadline else { return }
        timer.start(at: deadline)
    }
}
