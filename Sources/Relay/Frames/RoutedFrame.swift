/// A frame on its way from one peer to another: members written by the relay around bytes of the frame that came.
///
/// What a peer wrote is never serialized again: its bytes are copied as they came (Wire, "Routing").
struct RoutedFrame {
    let head: FrameBytes
    /// Offsets into the frame that came.
    let body: Range<Int>
    let tail: FrameBytes

    var count: Int { head.bytes.count &+ body.count &+ tail.bytes.count }

    /// A `message`: only `from`, `payload` and `timestamp` remain, and `sealed` if it was set (Wire, "Routing").
    static func message(
        from sender: Registration, payload: Range<Int>, isSealed: Bool, timestamp: inout TimestampTail,
        at moment: Moment
    ) -> RoutedFrame {
        RoutedFrame(
            head: sender.messageHead, body: payload, tail: timestamp.text(at: moment.epoch, isSealed: isSealed))
    }

    /// Any other frame: whole, with every top-level field, but for `from`, which is the sender's registered id.
    static func whole(
        _ bytes: UnsafeRawBufferPointer, _ envelope: Envelope, from sender: Registration
    ) -> RoutedFrame {
        var head: [UInt8] = []
        if envelope.from.isAbsent {
            head.append(contentsOf: #"{"from":"#.utf8)
            head.append(contentsOf: sender.quoted)
            head.append(UInt8(ascii: ","))
            // It has a type, so it is not empty.
            return RoutedFrame(head: FrameBytes(head), body: Int(envelope.open) + 1..<bytes.count, tail: .empty)
        }
        let from = envelope.from.range
        head.append(contentsOf: bytes[Int(envelope.open)..<from.lowerBound])
        head.append(contentsOf: sender.quoted)
        return RoutedFrame(head: FrameBytes(head), body: from.upperBound..<bytes.count, tail: .empty)
    }

    /// All of it in one, to be kept.
    func bytes(of frame: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        bytes.append(contentsOf: head.bytes)
        bytes.append(contentsOf: frame[body])
        bytes.append(contentsOf: tail.bytes)
        return bytes
    }
}

/// The end of a routed message, created again only when the millisecond has changed.
struct TimestampTail {
    private var epoch = Int64.min
    private var plain: FrameBytes?
    private var sealed: FrameBytes?

    @inline(__always)
    mutating func text(at epoch: Int64, isSealed: Bool) -> FrameBytes {
        if epoch != self.epoch {
            self.epoch = epoch
            plain = nil
            sealed = nil
        }
        if let text = isSealed ? sealed : plain { return text }
        return make(isSealed: isSealed)
    }

    private mutating func make(isSealed: Bool) -> FrameBytes {
        if isSealed {
            let text = FrameBytes(#","sealed":true,"timestamp":"#, number: epoch)
            sealed = text
            return text
        }
        let text = FrameBytes(#","timestamp":"#, number: epoch)
        plain = text
        return text
    }
}
