package import Hosting
import JSON

/// Decides when a guest connects again to a holder whose messages it could not read, and what its calls get until then.
///
/// A pure value. Times are milliseconds of the loop's clock.
package struct UnreadableHolder {
    private static let firstDelay: UInt64 = 1_000
    private static let longestDelay: UInt64 = 60_000
    /// So long after the last failure, the next one begins a new series.
    private static let memory: UInt64 = 120_000

    package struct Action: Equatable {
        package let error: HostError
        /// When to connect again, in milliseconds: later each time, up to a minute.
        package let delay: UInt64
        /// It is the first of a series.
        package let isReported: Bool
    }

    /// What calls get while the guest waits; `nil` = it does not.
    package private(set) var error: HostError?
    private var delay: UInt64 = 0
    private var failedAt: UInt64?

    package init() {}

    /// The connection has ended because of that.
    package mutating func failed(_ cause: HostError, now: UInt64) -> Action {
        let error = HostError(
            cause.code, "cannot read what the program that holds the state directory has sent: \(cause.message)",
            detail: ["reason": "holder_unreadable"])
        let isFirst = failedAt.map { now &- $0 > Self.memory } ?? true
        delay = isFirst ? Self.firstDelay : min(delay * 2, Self.longestDelay)
        (self.error, failedAt) = (error, now)
        return Action(error: error, delay: delay, isReported: isFirst)
    }

    /// The guest connects again.
    package mutating func connects() { error = nil }
}
