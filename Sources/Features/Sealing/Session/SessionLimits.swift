/// The times of sessions in milliseconds, and their counts (WireSessions, "Limits").
package struct SessionLimits: Sendable {
    /// A new handshake begins after that time, or after so many frames in one direction.
    package var age: UInt64 = 24 * 3_600_000
    package var frames: UInt64 = 65_536
    /// A session ends after that time, or with this counter, if no handshake has replaced it.
    package var lastAge: UInt64 = 25 * 3_600_000
    package var lastCounter: UInt64 = (1 << 20) - 1
    /// A replaced session opens frames for so long.
    package var draining: UInt64 = 60_000
    /// A handshake that isn't confirmed ends after that time.
    package var pending: UInt64 = 120_000
    /// Step 1 is sent again after that time, then after twice as long each time.
    package var repetition: UInt64 = 3_000
    package var repetitions = 5
    /// Between two handshakes, or two requests for one, that a peer can cause, after the first few.
    package var interval: UInt64 = 5_000
    package var burst = 4
    /// Between two that the peer's frames cause, until a session begins.
    package var spacing: UInt64 = 500
    /// After an answer that the device's keys don't open, a peer causes no handshake for twice `interval`, then for twice as
    /// long each time, up to this.
    package var longestPause: UInt64 = 600_000
    /// How many step 1 are read in a minute: each costs two X25519 products.
    package var initiationsPerMinute = 16

    /// A missing session is asked for again after ``repetition``, or ``pending``, then after twice as long each time, up to
    /// this.
    static let longestSearch: UInt64 = 3_600_000
    /// A session that is missing for so long is a problem to tell.
    static let patience: UInt64 = 90_000

    package init() {}
}
