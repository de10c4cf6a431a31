import Commands
import History
import Store
import Transport
import Wire
import Signalling

/// Deletes expired data at the start and once a day: the settings limit the history's rows and days, and answers are
/// kept for two days. Indexes the history's texts in the background.
@EventLoop
final class HistoryUpkeep {
    enum Output {
        case unread(Int64)
        case problem(String)
    }

    private static let day: UInt64 = 24 * 60 * 60 * 1_000

    private let database: Database
    private let output: @EventLoop (Output) -> Void
    private let indexing: HistoryIndexing
    private lazy var timer = LoopTimer { [weak self] in self?.prune() }

    nonisolated init(database: Database, output: @escaping @EventLoop (Output) -> Void) {
        (self.database, self.output) = (database, output)
        indexing = HistoryIndexing(database)
    }

    /// Idempotent.
    func start() {
        guard !timer.isRunning else { return }
        indexing.start()
        prune()
        // The first time the clock may be in doubt.
        timer.start(after: UInt64(ExpiryClock.settlingTime), every: Self.day)
    }

    /// Rows of the history were stored, marked or taken out.
    func wrote() { indexing.wrote() }

    func stop() {
        timer.stop()
        indexing.stop()
    }

    private func prune() {
        let moment = ExpiryMoment.current
        database.perform { (connection) throws(StoreError) in
            try AnswerTable(connection).prune(now: moment.pruning)
            try HistoryCounts(connection).sweep()
            let history = History(connection)
            try history.prune(try SettingsTable(connection).current().settings, now: moment.now)
            return try history.unreadCount()
        } then: { [weak self] result in
            switch result {
            case .success(let unread): self?.output(.unread(unread))
            case .failure(let error) where error.code != .closed:
                self?.output(.problem("could not remove old notifications: \(error.message)"))
            case .failure: break
            }
        }
    }
}
