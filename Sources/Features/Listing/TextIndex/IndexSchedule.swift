/// Decides when a text index takes its next step: while nothing else is written, or slowly beside what is.
///
/// Pure; `now` is monotonic milliseconds. Its carrier has one timer for ``deadline``: when it fires, it calls
/// ``begin()`` and gives the store one ``TextIndexer/step()``, and tells what came of it with ``stepped(_:now:)``.
package struct IndexSchedule: Sendable, Equatable {
    /// Nothing written for so long: the index has its turn.
    package static let quietTime: UInt64 = 250
    /// Beside writes that never end, the first step waits no longer than this, and each further one this long.
    package static let longestWait: UInt64 = 5_000
    package static let busyPause: UInt64 = 50
    /// Between two steps while nothing is written: others have the store four fifths of the time.
    package static let quietPause: UInt64 = 8
    package static let retryPause: UInt64 = 60_000

    private enum State: Sendable, Equatable {
        /// The index has everything.
        case idle
        /// The next step.
        case due(at: UInt64)
        /// A step is on the store.
        case stepping(since: UInt64)
    }

    private var state = State.idle
    private var lastWrite: UInt64?
    private var waitsSince: UInt64?

    package init() {}

    /// When ``begin()`` is to be called; `nil` while a step is under way, or there is nothing to do.
    package var deadline: UInt64? {
        guard case .due(let moment) = state else { return nil }
        return moment
    }

    /// The file was opened: what it lacks is not known yet.
    package mutating func opened(now: UInt64) { wrote(now: now) }

    /// Rows were stored, changed or taken out.
    package mutating func wrote(now: UInt64) {
        lastWrite = now
        switch state {
        case .stepping: break
        case .idle:
            waitsSince = now
            state = .due(at: now &+ Self.quietTime)
        case .due(let moment):
            // Between the steps of a long run the next one stays where it is.
            guard let waitsSince else { return }
            state = .due(at: max(moment, min(now &+ Self.quietTime, waitsSince &+ Self.longestWait)))
        }
    }

    /// The deadline has come. False when there is nothing to do yet.
    package mutating func begin(now: UInt64) -> Bool {
        guard case .due(let moment) = state, moment <= now else { return false }
        state = .stepping(since: now)
        waitsSince = nil
        return true
    }

    /// The step is over; `nil` = it has failed.
    package mutating func stepped(_ progress: TextIndexer.Progress?, now: UInt64) {
        guard case .stepping(let began) = state else { return }
        let isBusy = lastWrite.map { now < $0 &+ Self.quietTime } ?? false
        switch progress {
        case .more?: state = .due(at: now &+ (isBusy ? Self.busyPause : Self.quietPause))
        case .done? where lastWrite.map({ $0 >= began }) ?? false:
            // Something came while it was under way.
            waitsSince = now
            state = .due(at: now &+ Self.quietTime)
        case .done?: state = .idle
        case nil: state = .due(at: now &+ Self.retryPause)
        }
    }
}
