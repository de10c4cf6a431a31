/// Frames that wait to be written to one connection, in order.
///
/// A frame for several connections is stored once: each of them holds a reference to it.
struct OutgoingFrames {
    /// Short frames join the one before them up to this size, so that one system call writes many.
    private static let joinedBytes = 16_384

    private var frames: [[UInt8]] = []
    /// The first frame that is not written yet, and how much of it is.
    private var first = 0
    private var written = 0
    /// How many bytes wait.
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ frame: [UInt8]) {
        count += frame.count
        if let last = frames.indices.last, frames[last].count + frame.count <= Self.joinedBytes {
            frames[last] += frame
        } else {
            frames.append(frame)
        }
    }

    /// Passes on what is to be written next; `body` returns how much it has written.
    mutating func write(_ body: (UnsafeRawBufferPointer) -> Int) -> Int {
        guard frames.indices.contains(first) else { return 0 }
        let result = frames[first].withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[written...])) }
        guard result > 0 else { return result }
        written += result
        count -= result
        if written >= frames[first].count {
            frames[first] = []
            (first, written) = (first + 1, 0)
        }
        if first == frames.count {
            frames.removeAll(keepingCapacity: frames.count <= 64)
            first = 0
        } else if first >= 64, first * 2 > frames.count {
            frames.removeFirst(first)
            first = 0
        }
        return result
    }

    mutating func removeAll() { self = OutgoingFrames() }
}
