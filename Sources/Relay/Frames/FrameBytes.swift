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

    deinit { bytes.deallocate() }

    static let empty = FrameBytes([])
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
