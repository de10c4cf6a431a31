/// Decides which connections a holder keeps: how many, how long one may stay silent, and how much may wait for all.
///
/// A pure value. Times are milliseconds of the loop's clock. The carrier reports what happens and closes the connections
/// that it is told to; it asks for ``overdue(now:)`` every ``interval`` while ``isWatching``.
package struct GuestLimits {
    package typealias Session = StoredFeed.Session

    /// Connections at a time.
    package static let guests = 512
    /// How long a connection may take for its hello, in milliseconds.
    package static let helloTime: UInt64 = 5_000
    /// How long bytes may wait for a guest that reads nothing, or for the rest of a frame, in milliseconds.
    package static let stallTime: UInt64 = 15_000
    /// Limit of what waits for all guests together, in bytes.
    package static let totalBytes = 64 << 20
    /// Between two looks at the clock, in milliseconds.
    package static let interval: UInt64 = 1_000

    package enum Reason: Sendable, Equatable {
        case noHello
        /// Nothing has moved for ``stallTime``.
        case stalled(bytes: Int)
        /// Too much waits for all guests together, and this one has the most of it, or reads nothing.
        case tooMuch(bytes: Int)
    }

    package struct Closing: Sendable, Equatable {
        package let session: Session
        package let reason: Reason
    }

    private struct Connection {
        let session: Session
        var hasHello = false
        var heldBytes = 0
        var callBytes = 0
        /// When it connected, or bytes moved last.
        var movedAt: UInt64

        func quiet(_ now: UInt64) -> UInt64 { now >= movedAt ? now - movedAt : 0 }
    }

    /// By session, in the order in which they came.
    private var connections: [Connection] = []
    private var silent = 0
    private var holding = 0
    /// What waits for all guests together, in bytes.
    package private(set) var heldBytes = 0
    /// The size of all calls in progress, in bytes.
    private var callBytes = 0

    package init() {}

    /// Whether time can make a connection overdue.
    package var isWatching: Bool { silent > 0 || holding > 0 }

    /// Sessions count up. `false` = there are too many connections.
    package mutating func connected(_ session: Session, now: UInt64) -> Bool {
        guard connections.count < Self.guests else { return false }
        connections.append(Connection(session: session, movedAt: now))
        silent += 1
        return true
    }

    package mutating func greeted(_ session: Session, now: UInt64) {
        guard let index = index(of: session), !connections[index].hasHello else { return }
        connections[index].hasHello = true
        connections[index].movedAt = now
        silent -= 1
    }

    /// So many bytes wait for it now. Returns who is to be closed, because too many wait for all together.
    package mutating func holds(_ session: Session, bytes: Int, hasProgress: Bool, now: UInt64) -> [Closing] {
        guard let index = index(of: session) else { return [] }
        let before = connections[index].heldBytes
        // Until it has introduced itself, its time runs from when it connected.
        if connections[index].hasHello, hasProgress || before == 0 { connections[index].movedAt = now }
        connections[index].heldBytes = bytes
        heldBytes += bytes - before
        holding += (bytes > 0 ? 1 : 0) - (before > 0 ? 1 : 0)
        guard heldBytes > Self.totalBytes else { return [] }
        return excess(now)
    }

    /// Those that read nothing first, and of these the largest. One that reads, though slowly, comes last.
    private func excess(_ now: UInt64) -> [Closing] {
        var closings: [Closing] = []
        var left = connections
        var excess = heldBytes - Self.totalBytes
        while excess > 0 {
            var worst = 0
            for index in left.indices {
                let (one, other) = (left[index], left[worst])
                let (isStuck, wasStuck) = (one.quiet(now) >= Self.interval, other.quiet(now) >= Self.interval)
                let isWorse = isStuck == wasStuck ? one.heldBytes > other.heldBytes : isStuck
                if one.heldBytes > 0, isWorse || other.heldBytes == 0 { worst = index }
            }
            guard left.indices.contains(worst), left[worst].heldBytes > 0 else { break }
            let bytes = left[worst].heldBytes
            closings.append(Closing(session: left[worst].session, reason: .tooMuch(bytes: bytes)))
            excess -= bytes
            left[worst].heldBytes = 0
        }
        return closings
    }

    package mutating func ended(_ session: Session) {
        guard let index = index(of: session) else { return }
        let connection = connections.remove(at: index)
        if !connection.hasHello { silent -= 1 }
        if connection.heldBytes > 0 { holding -= 1 }
        heldBytes -= connection.heldBytes
        callBytes -= connection.callBytes
    }

    /// Whether a call of that size may begin: then ``callEnded(_:bytes:)`` follows, unless the guest ends first.
    package mutating func callBegins(_ session: Session, bytes: Int) -> Bool {
        guard let index = index(of: session), callBytes + bytes <= Self.totalBytes else { return false }
        connections[index].callBytes += bytes
        callBytes += bytes
        return true
    }

    package mutating func callEnded(_ session: Session, bytes: Int) {
        guard let index = index(of: session) else { return }
        connections[index].callBytes -= bytes
        callBytes -= bytes
    }

    /// Whose time is over.
    package func overdue(now: UInt64) -> [Closing] {
        var closings: [Closing] = []
        for connection in connections {
            let quiet = connection.quiet(now)
            if !connection.hasHello {
                if quiet >= Self.helloTime { closings.append(Closing(session: connection.session, reason: .noHello)) }
            } else if connection.heldBytes > 0, quiet >= Self.stallTime {
                let reason = Reason.stalled(bytes: connection.heldBytes)
                closings.append(Closing(session: connection.session, reason: reason))
            }
        }
        return closings
    }

    private func index(of session: Session) -> Int? {
        var (low, high) = (0, connections.count)
        while low < high {
            let middle = (low + high) / 2
            if connections[middle].session < session { low = middle + 1 } else { high = middle }
        }
        return low < connections.count && connections[low].session == session ? low : nil
    }
}
