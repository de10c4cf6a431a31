/// Group commit: several jobs in one transaction, and so in one disk sync.
///
/// The jobs first run together without savepoints, which would copy every page that a job touches. If one of several
/// fails, the transaction is rolled back and they run again, each in its own savepoint, so that only the failed one is
/// rolled back. On some errors (a full disk, a failed write) SQLite ends the whole transaction: then each job runs
/// again in its own transaction, so that no job loses its work because of another one. On a full disk the log is folded
/// into the file before, because the log itself may be what has filled the disk.
struct Batch {
    let connection: Connection

    /// Runs `jobs` and then delivers their outcomes, in order. An outcome is a success only once it is on disk.
    /// Returns an error that reports a damaged file, if there was one.
    func run(_ jobs: [any Job]) -> StoreError? {
        let failures = outcomes(of: jobs)
        for (job, failure) in zip(jobs, failures) { job.finish(failed: failure) }
        return failures.lazy.compactMap { $0 }.first { $0.isDamage }
    }

    /// An error for each job that failed.
    private func outcomes(of jobs: [any Job]) -> [StoreError?] {
        switch together(jobs, plainly) {
        case .done(let each): return each
        case .rolledBack(let error, byItself: false) where jobs.count == 1 && !foldsLog(after: error): return [error]
        case .rolledBack: break
        }
        if jobs.count > 1 {
            switch together(jobs, inSavepoint) {
            case .done(let each): return each
            case .rolledBack(let error, _): _ = foldsLog(after: error)
            }
        }
        return jobs.map { job in
            switch together([job], plainly) {
            case .done(let each): return each.first ?? nil
            case .rolledBack(let error, _):
                guard foldsLog(after: error), case .done(let each) = together([job], plainly) else { return error }
                return each.first ?? nil
            }
        }
    }

    /// On a full disk, makes room by folding the log into the file. Gives whether the log is empty now, and was not.
    private func foldsLog(after error: StoreError) -> Bool { error.code == .full && connection.foldLog() }

    private enum Outcome {
        /// An error for each job that failed.
        case done([StoreError?])
        /// Nothing of it counts: a job failed without a savepoint, or SQLite has rolled everything back by itself.
        case rolledBack(StoreError, byItself: Bool)
    }

    private func together(
        _ jobs: [any Job], _ step: (any Job) throws(StoreError) -> StoreError?
    ) -> Outcome {
        do throws(StoreError) {
            try connection.synchronize(jobs.contains(where: \.isDurable))
            try connection.execute("BEGIN IMMEDIATE")
        } catch {
            return .done(jobs.map { _ in error })
        }
        var failures: [StoreError?] = []
        failures.reserveCapacity(jobs.count)
        for job in jobs {
            do throws(StoreError) {
                failures.append(try step(job))
            } catch {
                let byItself = !connection.isInTransaction
                connection.rollBack()
                return .rolledBack(error, byItself: byItself)
            }
        }
        do throws(StoreError) {
            try connection.commit()
            return .done(failures)
        } catch {
            connection.rollBack()
            if error.code == .full { return .rolledBack(error, byItself: false) }
            return .done(failures.map { $0 ?? error })
        }
    }

    /// Throws the job's error: without a savepoint its work can't be taken back alone.
    private func plainly(_ job: any Job) throws(StoreError) -> StoreError? {
        connection.isWorking = true
        defer { connection.isWorking = false }
        try job.run(connection)
        return nil
    }

    /// Returns the job's own error; throws when the transaction can't go on.
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
