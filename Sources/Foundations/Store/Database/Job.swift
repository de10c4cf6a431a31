/// A piece of work with its outcome, both of a type that the queue does not know.
///
/// Made by any thread, then touched by the store's alone.
protocol Job: AnyObject {
    /// Whether its outcome must survive a power cut.
    var isDurable: Bool { get }
    /// Does the work and keeps what comes out. May be called again: only the last run counts.
    func run(_ connection: Connection) throws(StoreError)
    /// Hands the outcome over, exactly once. An `error` wins over what the work gave.
    func finish(failed error: StoreError?)
}

final class WorkJob<T: Sendable>: Job, @unchecked Sendable {
    let isDurable: Bool
    private let work: @Sendable (Connection) throws(StoreError) -> T
    private let then: @Sendable (Result<T, StoreError>) -> Void
    private var outcome: Result<T, StoreError>?

    init(
        _ work: @escaping @Sendable (Connection) throws(StoreError) -> T, isDurable: Bool = true,
        then: @escaping @Sendable (Result<T, StoreError>) -> Void
    ) {
        self.isDurable = isDurable
        self.work = work
        self.then = then
    }

    func run(_ connection: Connection) throws(StoreError) {
        do throws(StoreError) {
            outcome = .success(try work(connection))
        } catch {
            outcome = .failure(error)
            throw error
        }
    }

    func finish(failed error: StoreError?) {
        if let error {
            then(.failure(error))
        } else {
            then(outcome ?? .failure(StoreError(.closed, "the database was closed before the work was done")))
        }
    }
}
