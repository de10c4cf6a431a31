import CLinux

/// Bytes that are wiped in the end.
package final class SecretBytes: Sendable {
    /// Never written after `init`.
    private nonisolated(unsafe) let memory: UnsafeMutableRawBufferPointer

    /// Takes a copy. The caller wipes what it copied from.
    package init(copying bytes: UnsafeRawBufferPointer) {
        memory = .allocate(byteCount: bytes.count, alignment: 16)
        memory.copyMemory(from: bytes)
    }

    deinit {
        linux_wipe(memory.baseAddress, memory.count)
        memory.deallocate()
    }

    package var count: Int { memory.count }

    /// The bytes, for the time of the call.
    package func withBytes<T, E: Error>(_ body: (UnsafeRawBufferPointer) throws(E) -> T) throws(E) -> T {
        try body(UnsafeRawBufferPointer(memory))
    }
}
