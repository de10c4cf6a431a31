/// How often a peer may cause a handshake, or a request for one (WireSessions, "Limits").
///
/// A cause that comes too soon is not forgotten: it becomes due later, unless a session begins first. The peer may never
/// repeat it.
struct HandshakePace: Sendable {
    enum Cause: Sendable {
        /// A frame from the peer. After a restart, a desktop gets many frames of its old session at once.
        case frame
        /// Something of ours waits for a session.
        case payload
    }

    private let spacing: UInt64
    private var budget: HandshakeBudget
    /// When the last one was allowed; `nil` = none since the last session began.
    private var lastAt: UInt64?
    /// When to make up for a cause that came too soon.
    private(set) var dueAt: UInt64?

    init(_ limits: SessionLimits) {
        spacing = limits.spacing
        budget = HandshakeBudget(burst: limits.burst, interval: limits.interval)
    }

    /// Whether to begin, or to ask, now.
    mutating func take(_ cause: Cause, now: UInt64) -> Bool {
        if case .frame = cause, let lastAt, now < lastAt + spacing {
            dueAt = min(dueAt ?? .max, lastAt + spacing)
            return false
        }
        guard budget.take(now: now) else {
            dueAt = budget.filled(after: now)
            return false
        }
        (lastAt, dueAt) = (now, nil)
        return true
    }

    /// Whether to make up for a cause now. It is no longer due afterwards.
    mutating func isDue(now: UInt64) -> Bool {
        guard let dueAt, dueAt <= now else { return false }
        self.dueAt = nil
        return true
    }

    /// A handshake starts for another reason.
    mutating func begun() { dueAt = nil }

    /// A session has begun.
    mutating func completed() { (lastAt, dueAt) = (nil, nil) }
}
