import Store
import Transport

/// Runs the units' jobs on the store, and reports failures that no call waits for.
@EventLoop
final class AlertStore {
    private let database: Database
    private let inbox: any AlertInbox
    private let rules: AlertRules
    private var isEnded = false
    /// Hears of failures that nobody waits for, with what could not be done.
    var failed: (@EventLoop (StoreError, String) -> Void)?

    init(_ database: Database, _ inbox: any AlertInbox, _ rules: AlertRules) {
        (self.database, self.inbox, self.rules) = (database, inbox, rules)
    }

    /// `then` is not called after the end, unless somebody waits for the work.
    func run<Work: StoreWork>(
        _ work: Work, then: @escaping @Sendable @EventLoop (Result<Work.Outcome, StoreError>) -> Void
    ) {
        let (inbox, judge) = (inbox, rules.configuration.isOn ? rules.judge : nil)
        let language = rules.configuration.language
        database.submit { (connection) throws(StoreError) in
            try work.run(AlertTransaction(connection: connection, inbox: inbox, judge: judge, language: language))
        } then: { result in
            EventLoop.post {
                guard work.isAwaited || !self.isEnded else { return }
                if case .failure(let error) = result, let report = work.failureReport { self.report(error, report) }
                then(result)
            }
        }
    }

    func report(_ error: StoreError, _ what: String) {
        if error.code != .closed { failed?(error, what) }
    }

    func end() { isEnded = true }
}
