package import Identity

/// The prekeys that a device offers one desktop, and when it creates new ones (WirePrekeys, "Publication").
///
/// A pure state machine; `now` is monotonic milliseconds. It only ever offers keys that were made since the process
/// started: a device whose state was put back from a backup offers none that it has offered before.
package struct PrekeyPublication: Sendable {
    package enum Action: Sendable, Equatable {
        /// Make and store that many single-use prekeys, and a last resort if so, then call ``made(_:lastResort:now:)`` or
        /// ``failed()``.
        case make(Int, lastResort: Bool)
        /// Tell the desktop, in a session.
        case state(PrekeyStatement)
    }

    private let limits: PrekeyLimits
    /// The oldest first.
    private var offered: [AgreementPublicKey] = []
    private var lastResort: (key: AgreementPublicKey, madeAt: UInt64)?
    private var isMaking = false
    /// Tells what was made for an earlier pairing.
    package private(set) var round: UInt64 = 0
    /// When the desktop may next cause new ones.
    private var nextAt: UInt64 = 0

    package init(limits: PrekeyLimits = PrekeyLimits()) { self.limits = limits }

    /// A session with the desktop has begun.
    package mutating func sessionBegan(now: UInt64) -> [Action] {
        guard !isMaking else { return [] }
        let isStale = isLastResortStale(now)
        guard offered.count < limits.low || isStale else { return statement }
        isMaking = true
        return [.make(limits.offered - offered.count, lastResort: isStale)]
    }

    /// They are stored.
    package mutating func made(
        _ keys: [AgreementPublicKey], lastResort key: AgreementPublicKey?, now: UInt64
    ) -> [Action] {
        isMaking = false
        offered = (offered + keys).suffix(limits.offered)
        if let key { lastResort = (key, now) }
        return statement
    }

    /// They could not be stored: the next session, or the desktop, causes another try.
    package mutating func failed() { isMaking = false }

    /// The desktop has only so many of the offered ones left: the others are replaced. What it has of an earlier start is
    /// not offered any more.
    package mutating func ranLow(left: Int, now: UInt64) -> [Action] {
        guard !isMaking, left < limits.low, nextAt <= now else { return [] }
        isMaking = true
        nextAt = now + limits.interval
        return [
            .make(limits.offered - min(max(0, left), offered.count), lastResort: isLastResortStale(now))
        ]
    }

    /// A push came that was sealed to it.
    package mutating func used(_ prekey: PrekeyID) { offered.removeAll { PrekeyID($0) == prekey } }

    /// The desktop was paired anew: nothing that was offered before counts.
    package mutating func begin() {
        let round = round
        self = PrekeyPublication(limits: limits)
        self.round = round &+ 1
    }

    private func isLastResortStale(_ now: UInt64) -> Bool {
        lastResort.map { $0.madeAt + limits.day <= now } ?? true
    }

    private var statement: [Action] {
        guard let lastResort else { return [] }
        return [.state(PrekeyStatement(keys: offered, lastResort: lastResort.key))]
    }
}
