/// The frames stored for one offline peer, in the order of their sequences, with their senders.
struct AbsentQueue {
    /// The sender that a frame counts for.
    enum Source: Hashable {
        /// By number, all its registrations that have proved nothing: whoever has one of them can have hundreds.
        case network(Int)
        /// A peer whose id was proved.
        case proved(Int)
    }

    /// What one source has here. Never nothing.
    struct Holding {
        let source: Source
        fileprivate(set) var frames: Int
        fileprivate(set) var bytes: Int
    }

    struct Frame {
        /// As it would have been routed: for a `message`, with `from` and `timestamp`.
        let bytes: [UInt8]
        let source: Source
        let storedAt: Moment
        /// Only for a proved registration (Wire, "Absent peers").
        let isSealed: Bool
        /// Rising over the whole store.
        let sequence: Int64
        /// The delivery that is sending it; 0 = none.
        fileprivate(set) var delivery: UInt64 = 0

        init(_ bytes: [UInt8], _ sequence: Int64, from source: Source, isSealed: Bool, at moment: Moment) {
            self.bytes = bytes
            self.sequence = sequence
            self.source = source
            self.isSealed = isSealed
            storedAt = moment
        }

        var cost: Int { AbsentStore.cost(of: bytes.count) }
    }

    private(set) var frames: [Frame] = []
    /// Who was first here stands first.
    private(set) var holdings: [Holding] = []
    private(set) var bytes = 0

    func holding(of source: Source) -> Holding? { holdings.first { $0.source == source } }

    /// Puts a frame behind those that were sent before it: most often at the end.
    mutating func insert(_ frame: Frame) {
        let place = frames.lastIndex { $0.sequence < frame.sequence }.map { $0 + 1 } ?? 0
        frames.insert(frame, at: place)
        bytes += frame.cost
        if let place = holdings.firstIndex(where: { $0.source == frame.source }) {
            holdings[place].frames += 1
            holdings[place].bytes += frame.cost
        } else {
            holdings.append(Holding(source: frame.source, frames: 1, bytes: frame.cost))
        }
    }

    /// Whether there was one.
    mutating func removeOldest(of source: Source) -> Bool {
        guard let place = frames.firstIndex(where: { $0.source == source }) else { return false }
        note(goneFrom: source, frames.remove(at: place).cost)
        return true
    }

    /// Returns how many went.
    mutating func removeAll(where isDone: (Frame) -> Bool) -> Int {
        var gone: [(source: Source, cost: Int)] = []
        frames.removeAll { frame in
            guard isDone(frame) else { return false }
            gone.append((frame.source, frame.cost))
            return true
        }
        for frame in gone { note(goneFrom: frame.source, frame.cost) }
        return gone.count
    }

    /// Assigns all frames without a delivery to this one, and returns them. Sealed frames wait for a peer that
    /// `isProved`.
    mutating func take(for delivery: UInt64, isProved: Bool) -> [Frame] {
        var fresh: [Frame] = []
        for index in frames.indices where frames[index].delivery == 0 && (isProved || !frames[index].isSealed) {
            frames[index].delivery = delivery
            fresh.append(frames[index])
        }
        return fresh
    }

    mutating func deliveryEnded() {
        for index in frames.indices { frames[index].delivery = 0 }
    }

    /// What is still here of one delivery is sent again.
    mutating func deliveryEnded(_ number: UInt64) {
        for index in frames.indices where frames[index].delivery == number { frames[index].delivery = 0 }
    }

    /// The sender whose oldest frame is dropped for a new one: the one that would then have the most here, by
    /// `measure`; the new frame measures `size`. So a sender with few frames loses none to a sender with many. `nil` =
    /// the new frame is dropped, because its sender would have the most.
    func loser(for source: Source, _ size: Int, by measure: (Holding) -> Int) -> Source? {
        var most = size
        var loser: Source?
        for holding in holdings {
            let isOwn = holding.source == source
            let share = measure(holding) + (isOwn ? size : 0)
            guard share > most || share == most && (loser == nil || isOwn) else { continue }
            most = share
            loser = holding.source
        }
        return loser
    }

    private mutating func note(goneFrom source: Source, _ cost: Int) {
        bytes -= cost
        guard let place = holdings.firstIndex(where: { $0.source == source }) else { return }
        holdings[place].frames -= 1
        holdings[place].bytes -= cost
        if holdings[place].frames == 0 { holdings.remove(at: place) }
    }
}
