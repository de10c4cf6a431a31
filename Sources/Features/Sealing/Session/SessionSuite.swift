/// The cryptography of a session, by its number on the wire (WireSessions, "Suites").
package struct SessionSuite: Hashable, Sendable {
    package let number: UInt16

    package init(number: UInt16) { self.number = number }

    /// `Noise_KKpsk2_25519_ChaChaPoly_SHA256`.
    package static let x25519 = SessionSuite(number: 1)
    /// Reserved: the same with ML-KEM-768 beside X25519. Never offered and never accepted.
    package static let reservedHybrid = SessionSuite(number: 2)

    /// Those that a device offers and a desktop accepts, best first.
    package static let supported: [SessionSuite] = [.x25519]
    /// Of one offer.
    static let offerLimit = 16
}
