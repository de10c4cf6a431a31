/// A frame on its way from one peer to another: the relay's own words around bytes of the frame that came.
///
/// What a peer wrote is never written anew: its bytes are copied as they came (design.md, "Where it must stand").
struct RoutedFrame {
    let head: [UInt8]
    /// Offsets into the frame that came.
    let body: Range<Int>
    let tail: [UInt8]

    var count: Int { head.count &+ body.count &+ tail.count }

    /// A `message`: `from`, `payload` and `timestamp` are all that stays (protocol.md 1), and `sealed` where it was set.
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
            return RoutedFrame(head: head, body: Int(envelope.open) + 1..<bytes.count, tail: [])
        }
        let from = envelope.from.range
        head.append(contentsOf: bytes[Int(envelope.open)..<from.lowerBound])
        head.append(contentsOf: sender.quoted)
        return RoutedFrame(head: head, body: from.upperBound..<bytes.count, tail: [])
    }

    /// All of it in one, to be kept.
    func bytes(of frame: UnsafeRawBufferPointer) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(head.count + body.count + tail.count)
        bytes.append(contentsOf: head)
        bytes.append(contentsOf: frame[body])
        bytes.append(contentsOf: tail)
        return bytes
    }
}

/// What a routed message ends with, made anew only when the millisecond has changed.
struct TimestampTail {
    private var epoch: Int64?
    private var plain: [UInt8] = []
    private var sealed: [UInt8] = []

    mutating func text(at epoch: Int64, isSealed: Bool) -> [UInt8] {
        if epoch != self.epoch {
            self.epoch = epoch
            plain = Array(#","timestamp":\#(epoch)}"#.utf8)
            sealed = Array(#","sealed":true,"timestamp":\#(epoch)}"#.utf8)
        }
        return isSealed ? sealed : plain
    }
}
