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
    private static let day: UInt64 = 24 * 60 * 60 * 1_000

    private let database: Database
    private let host: HostReports
    private let indexing: HistoryIndexing
    private lazy var timer = LoopTimer { [weak self] in self?.prune() }

    nonisolated init(database: Database, _ host: HostReports) {
        (self.database, self.host) = (database, host)
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
        } then: { [host] result in
            switch result {
            case .success(let unread): host.unread(unread)
            case .failure(let error): host.storeFailed("could not remove old notifications", error)
            }
        }
    }
}
