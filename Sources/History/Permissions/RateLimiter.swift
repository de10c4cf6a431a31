import JSON
import Notifications
package import Wire

/// How many commands each device may give: a bucket of tokens that fills again with time.
///
/// A pure state machine; `now` is monotonic milliseconds. A command takes a token; a device whose bucket is empty is
/// refused and told when to come again.
package struct RateLimiter: Sendable {
    private struct Bucket: Sendable {
        /// In thousandths of a token, so that every millisecond counts.
        var tokens: UInt64
        var filledAt: UInt64
    }

    private let perSecond: UInt64
    private let capacity: UInt64
    private let deviceLimit: Int
    private var buckets: [PeerID: Bucket] = [:]

    /// - Parameters:
    ///   - perSecond: how many tokens come back in a second.
    ///   - burst: how many a device can have; this many commands may come at once.
    ///   - deviceLimit: beyond this many devices the one that was quiet for longest is forgotten, and begins anew.
    package init(perSecond: UInt32 = 50, burst: UInt32 = 200, deviceLimit: Int = 1_024) {
        precondition(perSecond > 0 && burst > 0 && deviceLimit > 0)
        self.perSecond = UInt64(perSecond)
        capacity = UInt64(burst) * 1_000
        self.deviceLimit = deviceLimit
    }

    package enum Verdict: Sendable, Hashable {
        case allowed
        /// Try again after so many milliseconds.
        case refused(retryAfter: UInt64)

        /// What the device is told.
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

    package mutating func take(_ device: PeerID, now: UInt64) -> Verdict {
        var bucket = buckets[device] ?? Bucket(tokens: capacity, filledAt: now)
        // A clock that goes back fills nothing.
        let elapsed = now > bucket.filledAt ? now - bucket.filledAt : 0
        // So long a pause fills any bucket; without the bound the product could overflow.
        let gained = min(elapsed, capacity / perSecond + 1) * perSecond
        bucket.tokens = min(capacity, bucket.tokens + gained)
        bucket.filledAt = max(now, bucket.filledAt)
        let verdict: Verdict
        if bucket.tokens >= 1_000 {
            bucket.tokens -= 1_000
            verdict = .allowed
        } else {
            verdict = .refused(retryAfter: (1_000 - bucket.tokens + perSecond - 1) / perSecond)
        }
        if buckets[device] == nil, buckets.count >= deviceLimit { forgetQuietest() }
        buckets[device] = bucket
        return verdict
    }

    /// A device was unpaired.
    package mutating func forget(_ device: PeerID) { buckets[device] = nil }

    private mutating func forgetQuietest() {
        guard let quietest = buckets.min(by: { $0.value.filledAt < $1.value.filledAt }) else { return }
        buckets[quietest.key] = nil
    }
}
