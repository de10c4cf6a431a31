import CSodium

/// The library's cryptography, all of it libsodium's.
package enum Identity {
    fileprivate static let isReady: Bool = sodium_init() >= 0

    /// For what cannot throw.
    static var canStart: Bool { isReady }

    /// Gets libsodium ready; may be called any number of times, from any thread.
    ///
    /// Throws `unavailable` if the machine has no source of randomness.
    package static func start() throws(IdentityError) {
        guard isReady else {
            throw IdentityError(.unavailable, "cannot start libsodium: no source of randomness")
        }
    }

    /// Random bytes. Ends the process if the machine has no source of randomness, as libsodium does.
    package static func randomBytes(_ count: Int) -> [UInt8] {
        precondition(isReady, "cannot start libsodium: no source of randomness")
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            guard let base = buffer.baseAddress else { return }
            randombytes_buf(base, count)
            initialized = count
        }
    }

    /// Compares secrets in a time that depends on their length alone.
    package static func constantTimeEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return left.isEmpty || sodium_memcmp(left, right, left.count) == 0
    }

    /// Overwrites a secret with zeros, for good, and empties the array.
    ///
    /// The array must be the only one that holds these bytes: a copy made before keeps them.
    package static func wipe(_ secret: inout [UInt8]) {
        secret.withUnsafeMutableBytes { buffer in
            if let base = buffer.baseAddress { sodium_memzero(base, buffer.count) }
        }
        secret.removeAll()
    }
}

/// libsodium's randomness as a generator of the standard library.
package struct SecureRandomNumberGenerator: RandomNumberGenerator, Sendable {
    /// ThreadSanitizer follows each access by `&`, and crashes at a value of size 0, which has no valid address.
    private let size: UInt8 = 1

    package init() {
        precondition(Identity.isReady, "cannot start libsodium: no source of randomness")
    }

    package mutating func next() -> UInt64 {
        var value: UInt64 = 0
        randombytes_buf(&value, MemoryLayout<UInt64>.size)
        return value
    }
}
