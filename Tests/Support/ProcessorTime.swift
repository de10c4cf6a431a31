#if DEBUG
    import Glibc

    /// The processor time that this thread spends on `work`: what else the machine does meanwhile does not count.
    package func processorTime(of work: () throws -> Void) rethrows -> Duration {
        let begin = threadTime()
        try work()
        return threadTime() - begin
    }

    private func threadTime() -> Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }
#endif
