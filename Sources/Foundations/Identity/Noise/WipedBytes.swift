import CSodium

/// Secret bytes that change while a handshake runs: in locked, guarded memory, wiped with the last reference.
///
/// Needs about four pages for each, so one holds all the secrets of a handshake, or both keys of a session.
final class WipedBytes {
    let count: Int
    private let memory: UnsafeMutableRawPointer

    /// Zeros.
    init(count: Int) {
        precondition(Identity.canStart && count > 0, "cannot start libsodium: no source of randomness")
        guard let memory = sodium_malloc(count) else {
            preconditionFailure("cannot allocate protected memory for a key")
        }
        sodium_memzero(memory, count)
        self.memory = memory
        self.count = count
    }

    convenience init(copying other: WipedBytes) {
        self.init(count: other.count)
        other.withBytes(at: 0) { source in withBytes(at: 0) { $0.update(from: source, count: count) } }
    }

    deinit { sodium_free(memory) }  // wipes

    /// The bytes from there on, for the call. `offset` is one of our own constants.
    @inline(__always)
    func withBytes<T, E: Error>(
        at offset: Int, _ body: (UnsafeMutablePointer<UInt8>) throws(E) -> T
    ) throws(E) -> T {
        precondition(offset >= 0 && offset < count)
        defer { withExtendedLifetime(self) {} }
        return try body(memory.assumingMemoryBound(to: UInt8.self) + offset)
    }
}
