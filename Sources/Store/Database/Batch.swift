/// Group commit: several pieces of work in one transaction, and so in one sync of the disk.
///
/// Each runs in a savepoint of its own; one that fails is rolled back alone. SQLite itself ends the whole transaction on
/// some errors (a full disk, a failed write): then each piece is run again in a transaction of its own, so that nobody
/// loses work to a neighbour.
struct Batch {
    let connection: Connection

    /// Runs `jobs` and then hands over their outcomes, in order. An outcome is a success only once it is on the disk.
    /// Gives an error that says that the file is damaged, if there was one.
    func run(_ jobs: [any Job]) -> StoreError? {
        var failures: [StoreError?]
        switch together(jobs) {
        case .done(let each): failures = each
        case .transactionLost:
            failures = []
            for job in jobs {
                switch together([job]) {
                case .done(let each): failures += each
                case .transactionLost(let error): failures.append(error)
                }
            }
        }
        for (job, failure) in zip(jobs, failures) { job.finish(failed: failure) }
        return failures.lazy.compactMap { $0 }.first { $0.isDamage }
    }

    private enum Outcome {
        /// An error for each piece of work that failed.
        case done([StoreError?])
        /// SQLite has rolled everything back.
        case transactionLost(StoreError)
    }

    private func together(_ jobs: [any Job]) -> Outcome {
        do throws(StoreError) { try connection.execute("BEGIN IMMEDIATE") } catch {
            return .done(jobs.map { _ in error })
        }
        var failures: [StoreError?] = []
        for job in jobs {
            do throws(StoreError) {
                failures.append(try inSavepoint(job))
            } catch {
                rollBack()
                return .transactionLost(error)
            }
        }
        do throws(StoreError) {
            FailPoint.beforeCommit.reach()
            try connection.execute("COMMIT")
            FailPoint.afterCommit.reach()
            return .done(failures)
        } catch {
            rollBack()
            return .done(failures.map { $0 ?? error })
        }
    }

    /// SQLite rolls back by itself what it cannot; then there is nothing left to do.
    private func rollBack() {
        if connection.isInTransaction { _ = try? connection.execute("ROLLBACK") }
    }

    /// Gives the work's own error; throws when the transaction can not go on.
    private func inSavepoint(_ job: any Job) throws(StoreError) -> StoreError? {
        try connection.execute("SAVEPOINT job")
        do throws(StoreError) {
            connection.isWorking = true
            defer { connection.isWorking = false }
            try job.run(connection)
        } catch {
            guard connection.isInTransaction else { throw error }
            try connection.execute("ROLLBACK TO job")
            try connection.execute("RELEASE job")
            return error
        }
        try connection.execute("RELEASE job")
        return nil
    }
}
