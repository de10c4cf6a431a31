import Glibc

/// Bytes that wait, in one piece: appended at the end, taken as a whole.
///
/// Its memory is freed as soon as it is empty, so that an idle connection holds none.
struct ByteQueue: ~Copyable {
    /// Enough for one message of the usual size: the heap gives so little at once, and does not get holes by it.
    private static let firstCapacity = 512
    /// What a burst of messages usually needs; growing then doubles.
    private static let secondCapacity = 16 << 10

    private var base: UnsafeMutableRawPointer?
    /// Bytes of memory that it holds.
    private(set) var capacity = 0
    private(set) var count = 0

    init() {}

    deinit { free(base) }

    var isEmpty: Bool { count == 0 }

    /// The bytes, valid until the queue is changed.
    var bytes: UnsafeMutableRawBufferPointer { UnsafeMutableRawBufferPointer(start: base, count: count) }

    @inline(__always)
    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let source = bytes.baseAddress, bytes.count > 0 else { return }
        memcpy(reserve(bytes.count), source, bytes.count)
        count &+= bytes.count
    }

    /// Room for `extra` bytes behind the last one; ``commit(_:)`` says how many of them were filled.
    @inline(__always)
    mutating func reserve(_ extra: Int) -> UnsafeMutableRawPointer {
        if let base, capacity &- count >= extra { return base + count }
        return grow(by: extra)
    }

    mutating func commit(_ filled: Int) { count &+= filled }

    /// Empties it and gives its memory back.
    mutating func reset() {
        free(base)
        base = nil
        capacity = 0
        count = 0
    }

    @inline(never)
    private mutating func grow(by extra: Int) -> UnsafeMutableRawPointer {
        let needed = count + extra
        let larger = max(needed, capacity == 0 ? Self.firstCapacity : max(capacity * 2, Self.secondCapacity))
        // Like the language's own collections, it ends the process when there is no memory at all.
        guard let moved = realloc(base, larger) else { fatalError("out of memory") }
        base = moved
        capacity = larger
        return moved + count
    }
}
