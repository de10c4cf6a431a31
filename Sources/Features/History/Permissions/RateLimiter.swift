import JSON
import Notifications
package import Wire

/// Limits how many commands a device may send: a token bucket that refills over time.
///
/// Pure; `now` is monotonic milliseconds. Each command takes a token from the device's ``Bucket``, which its session
/// holds. With an empty bucket it is refused and told when to retry.
package struct RateLimiter: Sendable {
    /// The tokens of one device. A new one is full.
    package struct Bucket: Sendable {
        fileprivate struct Level: Sendable {
            /// In thousandths of a token, so that every millisecond counts.
            var tokens: UInt64
            var filledAt: UInt64
        }

        /// `nil` = never used.
        fileprivate var level: Level?

        package init() {}
    }

    private let perSecond: UInt64
    private let capacity: UInt64

    /// - Parameters:
    ///   - perSecond: tokens added per second.
    ///   - burst: the most tokens a bucket can hold, and so the most commands that may come at once.
    package init(perSecond: UInt32 = 50, burst: UInt32 = 200) {
        precondition(perSecond > 0 && burst > 0)
        self.perSecond = UInt64(perSecond)
        capacity = UInt64(burst) * 1_000
    }

    package enum Verdict: Sendable, Hashable {
        case allowed
        /// Try again after this many milliseconds.
        case refused(retryAfter: UInt64)

        /// The error for the device.
        package var refusal: RemoteError? {
            switch self {
            case .allowed: nil
            case .refused(let wait):
                RemoteError(
                    .denied, "too many commands in a short time; try again later",
                    data: ["retryAfterMs": .integer(Int64(clamping: wait))])
            }
        }
    }

    package func take(from bucket: inout Bucket, now: UInt64) -> Verdict {
        var level = bucket.level ?? Bucket.Level(tokens: capacity, filledAt: now)
        defer { bucket.level = level }
        // A clock that goes back adds nothing.
        let elapsed = now > level.filledAt ? now - level.filledAt : 0
        // A pause this long fills any bucket. Without the bound the product could overflow.
        let gained = min(elapsed, capacity / perSecond + 1) * perSecond
        level.tokens = min(capacity, level.tokens + gained)
        level.filledAt = max(now, level.filledAt)
        guard level.tokens >= 1_000 else {
            return .refused(retryAfter: (1_000 - level.tokens + perSecond - 1) / perSecond)
        }
        level.tokens -= 1_000
        return .allowed
    }
}
