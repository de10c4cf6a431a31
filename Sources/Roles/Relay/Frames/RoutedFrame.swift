/// A frame on its way from one peer to another: members written by the relay around bytes of the frame that came.
///
/// What a peer wrote is never serialized again: its bytes are copied as they came (Wire, "Routing"). Valid until the
/// machine that made it is asked again.
struct RoutedFrame {
    let head: UnsafeRawBufferPointer
    /// Offsets into the frame that came.
    let body: Range<Int>
    let tail: UnsafeRawBufferPointer
    /// What was written for this frame alone.
    private let owned: FrameBytes?

    var count: Int { head.count &+ body.count &+ tail.count }

    @inline(__always)
    private init(head: UnsafeRawBufferPointer, body: Range<Int>, tail: UnsafeRawBufferPointer) {
        (self.head, self.body, self.tail) = (head, body, tail)
        owned = nil
    }

    private init(head: [UInt8], body: Range<Int>) {
        let owned = FrameBytes(head)
        (self.head, self.body, self.tail) = (owned.bytes, body, UnsafeRawBufferPointer(start: nil, count: 0))
        self.owned = owned
    }

    /// A `message`: only `from`, `payload` and `timestamp` remain, and `sealed` if it was set (Wire, "Routing").
    static func message(
        from sender: Standing, payload: Range<Int>, isSealed: Bool, timestamp: inout TimestampTail,
        at moment: Moment
    ) -> RoutedFrame {
        RoutedFrame(
            head: sender.messageHead, body: payload, tail: timestamp.text(at: moment.epoch, isSealed: isSealed))
    }

    /// Any other frame: whole, with every top-level field, but for `from`, which is the sender's registered id.
    static func whole(
        _ bytes: UnsafeRawBufferPointer, _ envelope: Envelope, from sender: Standing
    ) -> RoutedFrame {
        var head: [UInt8] = []
        if envelope.from.isAbsent {
            head.append(contentsOf: #"{"from":"#.utf8)
            head.append(contentsOf: sender.quoted)
            head.append(UInt8(ascii: ","))
            // It has a type, so it is not empty.
            return RoutedFrame(head: head, body: Int(envelope.open) + 1..<bytes.count)
        }
        let from = envelope.from.range
        head.append(contentsOf: bytes[Int(envelope.open)..<from.lowerBound])
        head.append(contentsOf: sender.quoted)
        return RoutedFrame(head: head, body: from.upperBound..<bytes.count)
    }

    /// All of it in one, to be kept.
    func bytes(of frame: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        bytes.append(contentsOf: head)
        bytes.append(contentsOf: frame[body])
        bytes.append(contentsOf: tail)
        return bytes
    }
}

/// The end of a routed message, created again only when the millisecond has changed, and valid until then.
struct TimestampTail {
    private var epoch = Int64.min
    private var plain: FrameBytes?
    private var sealed: FrameBytes?

    @inline(__always)
    mutating func text(at epoch: Int64, isSealed: Bool) -> UnsafeRawBufferPointer {
        if epoch != self.epoch {
            self.epoch = epoch
            plain = nil
            sealed = nil
        }
        if let text = isSealed ? sealed?.bytes : plain?.bytes { return text }
        return make(isSealed: isSealed)
    }

    private mutating func make(isSealed: Bool) -> UnsafeRawBufferPointer {
        if isSealed {
            let text = FrameBytes(#","sealed":true,"timestamp":"#, number: epoch)
            sealed = text
            return text.bytes
        }
        let text = FrameBytes(#","timestamp":"#, number: epoch)
        plain = text
        return text.bytes
    }
}
