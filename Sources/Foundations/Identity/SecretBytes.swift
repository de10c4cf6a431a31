import CSodium

/// Secret bytes: in memory of libsodium's that is locked, guarded, read-only, and wiped in the end.
///
/// Needs about four pages for each, so it is for keys, not for many. Ends the process where there is no memory, as
/// Swift's own allocations do.
final class SecretBytes: Sendable {
    let count: Int
    /// Never written after `init`.
    nonisolated(unsafe) private let memory: UnsafeMutableRawPointer

    /// `fill` writes all of the bytes; where it says `false` they are wiped, and there is no secret.
    init?(count: Int, filling fill: (UnsafeMutablePointer<UInt8>) -> Bool) {
        precondition(Identity.canStart, "cannot start libsodium: no source of randomness")
        guard count > 0 else { return nil }
        guard let memory = sodium_malloc(count) else {
            preconditionFailure("cannot allocate protected memory for a key")
        }
        guard fill(memory.assumingMemoryBound(to: UInt8.self)) else {
            sodium_free(memory)
            return nil
        }
        sodium_mprotect_readonly(memory)
        self.memory = memory
        self.count = count
    }

    /// A copy. The caller wipes what it has.
    convenience init?(_ bytes: [UInt8]) {
        self.init(count: bytes.count) { target in
            bytes.withUnsafeBufferPointer { source in
                guard let base = source.baseAddress else { return false }
                target.update(from: base, count: source.count)
                return true
            }
        }
    }

    deinit { sodium_free(memory) }  // wipes

    /// The bytes, for the call.
    func withBytes<T>(_ body: (UnsafePointer<UInt8>) -> T) -> T {
        withExtendedLifetime(self) { body(UnsafePointer(memory.assumingMemoryBound(to: UInt8.self))) }
    }

    /// In a time that depends on the lengths alone.
    func isEqual(to other: SecretBytes) -> Bool {
        guard count == other.count else { return false }
        return withBytes { left in other.withBytes { right in sodium_memcmp(left, right, count) == 0 } }
    }
}
