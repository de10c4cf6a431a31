import Transport
import Wire

/// The pushes whose askers wait to hear who got them (protocol.md 4.4).
///
/// A device that acknowledges has got one when it says so. A deployed phone has got one that was written and that no
/// relay has called back for 2 s. Whatever is open when these are over was not delivered, and stays in the outbox.
/// Moments are the loop's milliseconds.
struct PushRuns {
    static let verdictTime: UInt64 = 2_000

    struct Run {
        /// The devices that have not got it yet, and its number there.
        var open: [PeerID: Int64]
        var delivered: Set<PeerID> = []
        let deadline: UInt64
        let then: @EventLoop (Set<PeerID>) -> Void
    }

    private var runs: [Run] = []

    var nextDeadline: UInt64? { runs.first?.deadline }

    /// Begins one. `open` has those who may get it now; it is over at once when there is nobody.
    mutating func add(
        _ open: [PeerID: Int64], now: UInt64, then: @escaping @EventLoop (Set<PeerID>) -> Void
    ) -> [Run] {
        let run = Run(open: open, deadline: now &+ Self.verdictTime, then: then)
        guard !open.isEmpty else { return [run] }
        runs.append(run)
        return []
    }

    /// A device has got everything through this number.
    mutating func settled(_ peer: PeerID, through seq: Int64) -> [Run] {
        for index in runs.indices {
            guard let open = runs[index].open[peer], open <= seq else { continue }
            runs[index].open[peer] = nil
            runs[index].delivered.insert(peer)
        }
        return take { $0.open.isEmpty }
    }

    /// What waits for a device has got other numbers.
    mutating func shifted(_ peer: PeerID, by shift: Int64) {
        for index in runs.indices { runs[index].open[peer]? += shift }
    }

    /// A device is not there.
    mutating func absent(_ peer: PeerID) -> [Run] {
        for index in runs.indices { runs[index].open[peer] = nil }
        return take { $0.open.isEmpty }
    }

    /// - Parameter written: how far each deployed phone has been written to, and not called back.
    mutating func due(now: UInt64, written: [PeerID: Int64]) -> [Run] {
        for index in runs.indices where runs[index].deadline <= now {
            for (peer, seq) in runs[index].open where seq <= written[peer] ?? 0 { runs[index].delivered.insert(peer) }
        }
        return take { $0.deadline <= now }
    }

    /// All of them, for an end.
    mutating func end() -> [Run] { take { _ in true } }

    private mutating func take(_ isOver: (Run) -> Bool) -> [Run] {
        let over = runs.filter(isOver)
        runs.removeAll(where: isOver)
        return over
    }
}
