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
        let target: [UInt8]
        var frames: [TransitFrame] = []
        var bytes = 0
    }

    private let others: OtherRelays
    /// `keeps`: whether it can be taken later.
    private let ended: @EventLoop (TransitFrame, _ isTaken: Bool, _ keeps: Bool) -> Void
    private var batches: [Batch] = []
    private var places: [[UInt8]: Int] = [:]
    /// Of the frame before: a connection often sends several to one peer.
    private var last = 0

    init(_ others: OtherRelays, ended: @escaping @EventLoop (TransitFrame, _ isTaken: Bool, _ keeps: Bool) -> Void) {
        (self.others, self.ended) = (others, ended)
    }

    /// `ended` is called once for each frame, later, and in their order for each id if its holder answers in time.
    func send(_ frame: TransitFrame) {
        let size = ClusterMessage.frameOverhead + frame.sender.count + frame.bytes.count
        let place = place(of: frame.target)
        let room = min(Self.maximumBytes, others.maximumPayload - ClusterMessage.overhead(frame.target))
        if batches[place].bytes + size > room || batches[place].frames.count >= Self.maximumCount { ask(place) }
        batches[place].frames.append(frame)
        batches[place].bytes += size
        last = place
    }

    private func place(of target: [UInt8]) -> Int {
        if last < batches.count, batches[last].target == target { return last }
        if let place = places[target] { return place }
        if batches.isEmpty { EventLoop.later { [weak self] in self?.askAll() } }
        places[target] = batches.count
        batches.append(Batch(target: target))
        return batches.count - 1
    }

    private func askAll() {
        for place in batches.indices { ask(place) }
        (batches, places) = ([], [:])
    }

    private func ask(_ place: Int) {
        let frames = batches[place].frames
        guard !frames.isEmpty else { return }
        (batches[place].frames, batches[place].bytes) = ([], 0)
        let message = ClusterMessage.frames(
            frames.map { ClusterMessage.Frame(sender: $0.sender, isSealed: $0.isSealed, bytes: $0.bytes) })
        others.ask(message, about: batches[place].target) { [ended] reply in
            let taken = FramesAnswer.read(reply.payload, count: frames.count)
            for (frame, isTaken) in zip(frames, taken) { ended(frame, isTaken, reply.failure != .tooLarge) }
        }
    }
}
