import NATS
import Relay
import Transport

/// Frames on their way to the holders of ids: those of one wake-up for one id are one message, with one answer.
///
/// An id has one message in flight, and further frames wait for its answer. So none of them arrives before one that the
/// holder did not take or did not answer in time.
@EventLoop
final class FrameBatches {
    /// Of a message with several frames, in bytes and in frames.
    private static let maximumBytes = 64 << 10
    private static let maximumCount = 1_000
    /// Of frames that wait for one id, in bytes. While there are more, nothing is read from those who send them.
    private static let enough = 1 << 20
    /// Of frames that wait behind others, in bytes: for one id, and in all. Of an id with too many none is sent.
    private static let maximumWaitingForOne = 16 << 20
    private static let maximumWaiting = 64 << 20
    /// After so long without an answer, in milliseconds, the holder may be gone.
    private static let patience: UInt64 = 10

    private struct Batch {
        let target: [UInt8]
        var frames: [TransitFrame] = []
        var bytes = 0
    }

    /// The message to an id that is in flight, and the frames that wait for its answer.
    private final class Flow {
        let target: [UInt8]
        var waiting = FIFO<TransitFrame>()
        /// Of those that wait.
        var bytes = 0
        /// From these nothing is read.
        var paused: Set<ConnectionID> = []
        /// Of the message in flight; each has another number.
        var frames: [TransitFrame] = []
        var number = 0
        var sentAt: UInt64 = 0
        /// Whether its holder was looked for since.
        var isDoubted = false

        init(_ target: [UInt8]) { self.target = target }
    }

    private let others: OtherRelays
    private weak var relay: Relay?
    /// `keeps`: whether it can be taken later.
    private let ended: @EventLoop (TransitFrame, _ isTaken: Bool, _ keeps: Bool) -> Void
    private var batches: [Batch] = []
    private var places: [[UInt8]: Int] = [:]
    /// Of the frame before: a connection often sends several to one peer.
    private var last = 0
    private var flows: [[UInt8]: Flow] = [:]
    private var waitingBytes = 0

    init(
        _ others: OtherRelays, _ relay: Relay,
        ended: @escaping @EventLoop (TransitFrame, _ isTaken: Bool, _ keeps: Bool) -> Void
    ) {
        (self.others, self.relay, self.ended) = (others, relay, ended)
    }

    /// `ended` is called once for each frame, later, and in their order for each id.
    func send(_ frame: TransitFrame) {
        let size = Self.size(of: frame)
        let place = place(of: frame.target)
        if batches[place].bytes + size > room(for: frame.target) || batches[place].frames.count >= Self.maximumCount {
            pass(place)
        }
        batches[place].frames.append(frame)
        batches[place].bytes += size
        last = place
    }

    private static func size(of frame: TransitFrame) -> Int {
        ClusterMessage.frameOverhead + frame.sender.count + frame.bytes.count
    }

    private func room(for target: [UInt8]) -> Int {
        min(Self.maximumBytes, others.maximumPayload - ClusterMessage.overhead(target))
    }

    private func place(of target: [UInt8]) -> Int {
        if last < batches.count, batches[last].target == target { return last }
        if let place = places[target] { return place }
        if batches.isEmpty { EventLoop.later { [weak self] in self?.passAll() } }
        places[target] = batches.count
        batches.append(Batch(target: target))
        return batches.count - 1
    }

    private func passAll() {
        for place in batches.indices { pass(place) }
        (batches, places) = ([], [:])
    }

    /// Sends a batch, or lets it wait for the answer to the message in flight.
    private func pass(_ place: Int) {
        let (target, frames) = (batches[place].target, batches[place].frames)
        guard !frames.isEmpty else { return }
        (batches[place].frames, batches[place].bytes) = ([], 0)
        guard let flow = flows[target] else {
            let flow = Flow(target)
            flows[target] = flow
            relay?.setInTransit(target, true)
            return ask(flow, frames)
        }
        if !flow.isDoubted, EventLoop.now &- flow.sentAt >= Self.patience { doubt(flow) }
        for frame in frames {
            flow.waiting.append(frame)
            flow.bytes += Self.size(of: frame)
            waitingBytes += Self.size(of: frame)
            if flow.bytes > Self.enough {
                flow.paused.insert(frame.connection)
                relay?.pauseReading(of: frame.connection)
            }
        }
        if flow.bytes > Self.maximumWaitingForOne || waitingBytes > Self.maximumWaiting {
            EventLoop.later { [weak self] in self?.refuse(flow) }
        }
    }

    private func ask(_ flow: Flow, _ frames: [TransitFrame]) {
        flow.frames = frames
        flow.sentAt = EventLoop.now
        flow.number &+= 1
        flow.isDoubted = false
        let number = flow.number
        let message = ClusterMessage.frames(
            frames.map { ClusterMessage.Frame(sender: $0.sender, isSealed: $0.isSealed, bytes: $0.bytes) })
        others.ask(message, about: flow.target) { [weak self] reply in
            guard flow.number == number else { return }
            let taken = FramesAnswer.read(reply.payload, count: frames.count)
            let keeps = reply.failure != .tooLarge
            self?.ended(flow, taken, isGone: reply.payload == nil && keeps, keeps: keeps)
        }
    }

    /// A relay that was killed answers nothing any more, and the NATS server knows that long before the answer is due.
    private func doubt(_ flow: Flow) {
        flow.isDoubted = true
        let number = flow.number
        others.ask(.ask, about: flow.target) { [weak self] reply in
            guard flow.number == number, reply.failure == .noResponders else { return }
            flow.number &+= 1
            self?.ended(flow, [Bool](repeating: false, count: flow.frames.count), isGone: true, keeps: true)
        }
    }

    /// The message has its answer, or nobody holds the id as far as is known (`isGone`). Sends what waits.
    private func ended(_ flow: Flow, _ taken: [Bool], isGone: Bool, keeps: Bool) {
        for (frame, isTaken) in zip(flow.frames, taken) { ended(frame, isTaken, keeps) }
        flow.frames = []
        // Frames of this wake-up are older than those that come after this.
        if let place = places[flow.target] { pass(place) }
        // What is kept for it already goes first.
        if isGone || relay?.isKeeping(for: flow.target) == true { refuse(flow) }
        let room = room(for: flow.target)
        var (frames, bytes) = ([TransitFrame](), 0)
        while frames.count < Self.maximumCount, let frame = flow.waiting.first {
            let size = Self.size(of: frame)
            guard frames.isEmpty || bytes + size <= room else { break }
            _ = flow.waiting.removeFirst()
            frames.append(frame)
            bytes += size
        }
        waitingBytes -= bytes
        flow.bytes -= bytes
        if flow.bytes <= Self.enough / 2 {
            for connection in flow.paused { relay?.resumeReading(of: connection) }
            flow.paused = []
        }
        guard frames.isEmpty else { return ask(flow, frames) }
        flows[flow.target] = nil
        relay?.setInTransit(flow.target, false)
    }

    /// Nothing that waits is sent.
    private func refuse(_ flow: Flow) {
        while let frame = flow.waiting.removeFirst() {
            waitingBytes -= Self.size(of: frame)
            flow.bytes -= Self.size(of: frame)
            ended(frame, false, true)
        }
    }
}
