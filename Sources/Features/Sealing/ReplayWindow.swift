/// The frames of one peer that have come: each counts once (WireSealing, "Replay protection").
///
/// A frame is identified by its sender's `epoch`, which is one start of it, and the `seq` within. The two newest epochs
/// are remembered, each with its last 4,096 numbers; older frames are refused. Epochs may skip: a start that sent us
/// nothing leaves no trace. Any number is accepted; it is authenticated, so a high one harms only its sender.
package struct ReplayWindow: Sendable, Equatable {
    /// Of each epoch.
    package static let width = 4_096

    fileprivate struct Epoch: Sendable, Equatable {
        var number: Int64
        /// The highest seq seen.
        var highest: Int64
        /// One bit a seq, at its remainder by the width.
        var bits = [UInt64](repeating: 0, count: ReplayWindow.width / 64)
    }

    /// Newest first; at most two.
    private var epochs: [Epoch] = []
    /// Epochs that are refused for good: those that are not among the two any more, and those above a new beginning; ascending,
    /// disjoint.
    private var retired: [ClosedRange<Int64>] = []

    /// Nothing has come.
    package init() {}

    package var isEmpty: Bool { epochs.isEmpty }

    /// Would ``record(epoch:seq:)`` take it?
    package func accepts(epoch number: Int64, seq: Int64) -> Bool {
        guard number > 0, seq > 0, !retired.contains(where: { $0.contains(number) }) else { return false }
        if let epoch = epochs.first(where: { $0.number == number }) { return epoch.accepts(seq) }
        // Between the two, or above both, nothing was ever accepted: whatever was dropped lies below both.
        guard epochs.count > 1, let oldest = epochs.last else { return true }
        return number > oldest.number
    }

    /// Takes a frame; `false` if it has come before or is too old to tell. Epochs and seqs begin with 1.
    package mutating func record(epoch number: Int64, seq: Int64) -> Bool {
        guard accepts(epoch: number, seq: seq) else { return false }
        if let index = epochs.firstIndex(where: { $0.number == number }) {
            epochs[index].record(seq)
            return true
        }
        var epoch = Epoch(number: number, highest: seq)
        epoch.record(seq)
        epochs.append(epoch)
        epochs.sort { $0.number > $1.number }
        if epochs.count > 2 {
            let dropped = epochs.removeLast().number
            retire(dropped...dropped)
        }
        return true
    }
}

// MARK: A new beginning

extension ReplayWindow {
    /// Nothing that was sealed before this frame counts any more: a pairing voids what its peer has sealed until then,
    /// whoever has kept it, and whatever became of what we remembered. Whether the frame itself has come stays as it was.
    /// What is voided already stays so.
    package mutating func begin(epoch number: Int64, seq: Int64) {
        guard number > 0, seq > 0 else { return }
        for epoch in epochs where epoch.number < number { retire(epoch.number...epoch.number) }
        epochs.removeAll { $0.number < number }
        if seq > 1 {
            if let index = epochs.firstIndex(where: { $0.number == number }) {
                epochs[index].close(through: seq - 1)
            } else if epochs.count < 2 {
                epochs.append(.closed(number, through: seq - 1))
            }
        }
        // Of two that are remembered all below is too old.
        var below = number - 1
        while epochs.count < 2, below > 0 {
            epochs.append(.closed(below, through: .max))
            below -= 1
        }
    }
}

extension ReplayWindow {
    /// At most so many ranges of epochs are refused for good; beyond that the closest ones are joined.
    private static let retiredLimit = 4

    /// The peer is paired by the frame of this mark.
    package mutating func begin(at mark: SealMark) {
        if mark.isStale {
            restart(epoch: mark.epoch, seq: mark.seq)
        } else {
            begin(epoch: mark.epoch, seq: mark.seq)
        }
    }

    /// As ``begin(epoch:seq:)``, for a frame that the window refuses and a pairing's MAC proves: its sender has lost its
    /// state, after its clock was in the future.
    ///
    /// The epochs of that future stay refused, whoever has kept their frames: all from the first to the last of them, also
    /// those that the window remembers only as refused. What lies between the frame's epoch and them was never used: its
    /// sender may still come to it. An epoch that is remembered keeps what has come of it.
    package mutating func restart(epoch number: Int64, seq: Int64) {
        guard number > 0, seq > 0 else { return }
        retired = retired.flatMap { range in
            guard range.contains(number) else { return [range] }
            return [range.prefix(below: number), range.suffix(above: number)].compactMap(\.self)
        }
        if let newest = epochs.first?.number, let oldest = epochs.last?.number, number < oldest {
            let first = retired.first { $0.lowerBound > number }?.lowerBound ?? oldest
            epochs = []
            retire(min(first, oldest)...newest)
        }
        begin(epoch: number, seq: seq)
        _ = record(epoch: number, seq: seq)
        joinRetired()
    }

    private mutating func retire(_ range: ClosedRange<Int64>) {
        var joined: [ClosedRange<Int64>] = []
        for next in (retired + [range]).sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = joined.last, next.lowerBound <= last.upperBound {
                joined[joined.count - 1] = last.lowerBound...max(last.upperBound, next.upperBound)
            } else {
                joined.append(next)
            }
        }
        retired = joined
        joinRetired()
    }

    /// Joins the closest ranges while there are too many; never across an epoch that counts.
    private mutating func joinRetired() {
        while retired.count > Self.retiredLimit {
            let gaps = retired.indices.dropLast().filter { index in
                let (lower, upper) = (retired[index].upperBound, retired[index + 1].lowerBound)
                return !epochs.contains { lower < $0.number && $0.number < upper }
            }
            let closest = gaps.min { gap(after: $0) < gap(after: $1) }
            guard let closest else { return }
            retired[closest] = retired[closest].lowerBound...retired[closest + 1].upperBound
            retired.remove(at: closest + 1)
        }
    }

    /// All are positive, so nothing overflows.
    private func gap(after index: Int) -> Int64 { retired[index + 1].lowerBound - retired[index].upperBound }
}

extension ClosedRange<Int64> {
    fileprivate func prefix(below bound: Int64) -> ClosedRange<Int64>? {
        lowerBound < bound ? lowerBound...(bound - 1) : nil
    }

    fileprivate func suffix(above bound: Int64) -> ClosedRange<Int64>? {
        upperBound > bound ? (bound + 1)...upperBound : nil
    }
}

extension ReplayWindow.Epoch {
    /// Of which nothing up to that seq counts.
    fileprivate static func closed(_ number: Int64, through seq: Int64) -> ReplayWindow.Epoch {
        ReplayWindow.Epoch(
            number: number, highest: seq, bits: [UInt64](repeating: .max, count: ReplayWindow.width / 64))
    }

    /// From now on all up to that seq has come.
    fileprivate mutating func close(through seq: Int64) {
        guard seq <= highest else {
            self = .closed(number, through: seq)
            return
        }
        let lowest = max(1, highest - Int64(ReplayWindow.width) + 1)
        guard lowest <= seq else { return }
        for closed in lowest...seq { bits[word(closed)] |= mask(closed) }
    }

    /// Both are positive, so nothing overflows.
    fileprivate func accepts(_ seq: Int64) -> Bool {
        if seq > highest { return true }
        return highest - seq < Int64(ReplayWindow.width) && bits[word(seq)] & mask(seq) == 0
    }

    fileprivate mutating func record(_ seq: Int64) {
        if seq > highest {
            if seq - highest >= Int64(ReplayWindow.width) {
                for index in bits.indices { bits[index] = 0 }
            } else {
                // The seqs that lie between take the places of those that fall out.
                for skipped in (highest + 1)...seq { bits[word(skipped)] &= ~mask(skipped) }
            }
            highest = seq
        }
        bits[word(seq)] |= mask(seq)
    }

    private func word(_ seq: Int64) -> Int { Int(seq % Int64(ReplayWindow.width)) / 64 }
    private func mask(_ seq: Int64) -> UInt64 { 1 << UInt64(seq % 64) }
}

extension ReplayWindow {
    private static let form: UInt8 = 1
    /// With epochs that are refused for good: their count, and the two ends of each range.
    private static let retiringForm: UInt8 = 2
    private static let epochByteCount = 16 + width / 8
    private static let rangeByteCount = 16

    /// For the store: at most 1,122 bytes.
    package var bytes: [UInt8] {
        let head = retired.isEmpty ? 1 : 2 + retired.count * Self.rangeByteCount
        let count = head + epochs.count * Self.epochByteCount
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            let target = UnsafeMutableRawBufferPointer(buffer)
            target[0] = retired.isEmpty ? Self.form : Self.retiringForm
            var place = 1
            if !retired.isEmpty {
                target[1] = UInt8(retired.count)
                place = 2
            }
            for range in retired {
                place = Self.store(UInt64(bitPattern: range.lowerBound), into: target, at: place)
                place = Self.store(UInt64(bitPattern: range.upperBound), into: target, at: place)
            }
            for epoch in epochs {
                place = Self.store(UInt64(bitPattern: epoch.number), into: target, at: place)
                place = Self.store(UInt64(bitPattern: epoch.highest), into: target, at: place)
                for word in epoch.bits { place = Self.store(word, into: target, at: place) }
            }
            initialized = place
        }
    }

    private static func store(_ word: UInt64, into target: UnsafeMutableRawBufferPointer, at place: Int) -> Int {
        target.storeBytes(of: word.bigEndian, toByteOffset: place, as: UInt64.self)
        return place + 8
    }

    /// What ``bytes`` gave; `nil` for anything else.
    package init?(bytes: [UInt8]) {
        guard let form = bytes.first else { return nil }
        var head = 1
        switch form {
        case Self.form: break
        case Self.retiringForm:
            guard bytes.count > 1, (1...Self.retiredLimit).contains(Int(bytes[1])) else { return nil }
            head = 2 + Int(bytes[1]) * Self.rangeByteCount
            guard bytes.count >= head else { return nil }
            let ends = Self.words(bytes, from: 2, count: 2 * Int(bytes[1])).map { Int64(bitPattern: $0) }
            for first in stride(from: 0, to: ends.count, by: 2) {
                let (lower, upper) = (ends[first], ends[first + 1])
                guard lower > retired.last?.upperBound ?? 0, lower <= upper else { return nil }
                retired.append(lower...upper)
            }
        default: return nil
        }
        guard (bytes.count - head).isMultiple(of: Self.epochByteCount), bytes.count <= head + 2 * Self.epochByteCount
        else { return nil }
        for first in stride(from: head, to: bytes.count, by: Self.epochByteCount) {
            let words = Self.words(bytes, from: first, count: Self.epochByteCount / 8)
            let epoch = Epoch(
                number: Int64(bitPattern: words[0]), highest: Int64(bitPattern: words[1]), bits: Array(words[2...]))
            guard epoch.number > 0, epoch.highest > 0, !epoch.accepts(epoch.highest),
                epochs.last.map({ $0.number > epoch.number }) ?? true
            else { return nil }
            epochs.append(epoch)
        }
    }

    private static func words(_ bytes: [UInt8], from first: Int, count: Int) -> [UInt64] {
        bytes.withUnsafeBytes { bytes in
            (0..<count).map { UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: first + 8 * $0, as: UInt64.self)) }
        }
    }
}
