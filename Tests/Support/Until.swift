#if DEBUG
    package import Testing
    import Transport

    /// Waits until a condition holds: looks every few milliseconds.
    ///
    /// For conditions that nothing reports. Fails the test when `limit` milliseconds pass first.
    ///
    /// - Parameter what: what is waited for, for the message of a failure.
    package func until(
        _ what: String, within limit: UInt64 = 10_000, sourceLocation: SourceLocation = #_sourceLocation,
        _ isSo: () async throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .milliseconds(limit)
        while try await !isSo() {
            guard ContinuousClock.now < deadline else {
                Issue.record("\(what): not within \(limit) ms", sourceLocation: sourceLocation)
                throw NothingCame(what: what)
            }
            await pause()
        }
    }

    /// The loop goes on meanwhile; nothing spins.
    @EventLoop
    private func pause() async {
        var timer: LoopTimer?
        await withCheckedContinuation { continuation in
            timer = LoopTimer { continuation.resume() }
            timer?.start(after: 2)
        }
        timer?.stop()
    }
#endif
