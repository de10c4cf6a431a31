import NATS
import Relay
import Transport

/// Frames on their way to the holders of ids: those of one wake-up for one id are one message, with one answer.
@EventLoop
final class FrameBatches {
    /// Of a message with several frames, in bytes and in frames.
    private static let maximumBytes = 64 << 10
    private static let maximumCount = 1_000

    private struct Batch {
        var frames: [TransitFrame] = []
        var bytes = 0
    }

    private let others: OtherRelays
    /// `keeps`: whether it can be taken later.
    private let ended: @EventLoop (TransitFrame, _ isTaken: Bool, _ keeps: Bool) -> Void
    private var batches: [[UInt8]: Batch] = [:]
    private var isPostponed = false

    init(_ others: OtherRelays, ended: @escaping @EventLoop (TransitFrame, _ isTaken: Bool, _ keeps: Bool) -> Void) {
        (self.others, self.ended) = (others, ended)
    }

    /// `ended` is called once for each frame, later, and in their order for each id if its holder answers in time.
    func send(_ frame: TransitFrame) {
        let size = ClusterMessage.frameOverhead + frame.sender.count + frame.bytes.count
        if let batch = batches[frame.target],
            batch.bytes + size > min(Self.maximumBytes, others.maximumPayload - ClusterMessage.overhead(frame.target))
                || batch.frames.count >= Self.maximumCount
        {
            batches[frame.target] = nil
            ask(batch.frames, frame.target)
        }
        batches[frame.target, default: Batch()].frames.append(frame)
        batches[frame.target]?.bytes += size
        guard !isPostponed else { return }
        isPostponed = true
        EventLoop.later { [weak self] in self?.sendAll() }
    }

    private func sendAll() {
        isPostponed = false
        let all = batches
        batches = [:]
        for (target, batch) in all { ask(batch.frames, target) }
    }

    private func ask(_ frames: [TransitFrame], _ target: [UInt8]) {
        let message = ClusterMessage.frames(
            frames.map { ClusterMessage.Frame(sender: $0.sender, isSealed: $0.isSealed, bytes: $0.bytes) })
        others.ask(message, about: target) { [ended] reply in
            let taken = FramesAnswer.read(reply.payload, count: frames.count)
            for (frame, isTaken) in zip(frames, taken) { ended(frame, isTaken, reply.failure != .tooLarge) }
        }
    }
}
