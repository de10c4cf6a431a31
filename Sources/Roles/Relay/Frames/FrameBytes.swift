/// Bytes that stay as they are, at an address that stays as it is.
///
/// On the way of every message: pieces of a frame are handed to a socket as addresses, with no closure around them.
final class FrameBytes: @unchecked Sendable {
    /// Valid as long as this object is.
    let bytes: UnsafeRawBufferPointer

    init(_ bytes: some Collection<UInt8>) {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        memory.copyBytes(from: bytes)
        self.bytes = UnsafeRawBufferPointer(memory)
    }

    /// `text`, a number and a closing brace: the end of a frame.
    init(_ text: StaticString, number: Int64) {
        let length = text.utf8CodeUnitCount
        // A number has at most 20 characters.
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: length + 21, alignment: 1)
        memory.copyMemory(from: UnsafeRawBufferPointer(start: text.utf8Start, count: length))
        var digits = number.magnitude
        var start = memory.count
        repeat {
            start -= 1
            memory[start] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: digits % 10)
            digits /= 10
        } while digits > 0
        if number < 0 {
            start -= 1
            memory[start] = UInt8(ascii: "-")
        }
        var end = length
        for index in start..<memory.count {
            memory[end] = memory[index]
            end += 1
        }
        memory[end] = UInt8(ascii: "}")
        bytes = UnsafeRawBufferPointer(rebasing: memory[...end])
    }

    deinit { bytes.deallocate() }
}

/// A place to lay out the pieces of one frame for a socket, used again for each.
final class FramePieces: @unchecked Sendable {
    private let pieces: UnsafeMutableBufferPointer<UnsafeRawBufferPointer>

    init() {
        pieces = .allocate(capacity: 3)
        pieces.initialize(repeating: UnsafeRawBufferPointer(start: nil, count: 0))
    }

    deinit { pieces.deallocate() }

    /// Valid until the next call.
    @inline(__always)
    func set(
        _ first: UnsafeRawBufferPointer, _ second: UnsafeRawBufferPointer, _ third: UnsafeRawBufferPointer
    ) -> UnsafeBufferPointer<UnsafeRawBufferPointer> {
        pieces[0] = first
        pieces[1] = second
        pieces[2] = third
        return UnsafeBufferPointer(pieces)
    }
}
