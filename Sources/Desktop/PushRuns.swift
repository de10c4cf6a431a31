import Transport
import Wire

/// The pushes whose fate is still open: written, and perhaps about to come back.
///
/// A relay that cannot deliver says so within moments (`peer-offline`), and never which message it means. What was
/// written and not called back for 2 s counts as delivered. Moments are the loop's milliseconds.
struct PushRuns {
    static let verdictTime: UInt64 = 2_000

    struct Run {
        /// The device and the connection it was written to.
        var open: [PeerID: Set<String>]
        let deadline: UInt64
        let then: @EventLoop (Set<PeerID>) -> Void

        var delivered: Set<PeerID> { Set(open.keys) }
    }

    private var runs: [Run] = []

    var nextDeadline: UInt64? { runs.first?.deadline }

    /// Begins one; `written` names the connections that took it, for each device that had any.
    mutating func add(
        _ written: [PeerID: Set<String>], now: UInt64, then: @escaping @EventLoop (Set<PeerID>) -> Void
    ) -> [Run] {
        let run = Run(open: written, deadline: now &+ Self.verdictTime, then: then)
        guard !written.isEmpty else { return [run] }
        runs.append(run)
        return []
    }

    /// The relay calls a device absent: everything that is open for it over that connection has failed there.
    mutating func absent(_ peer: PeerID, over url: String) -> [Run] {
        for index in runs.indices where runs[index].open[peer] != nil {
            runs[index].open[peer]?.remove(url)
            if runs[index].open[peer]?.isEmpty == true { runs[index].open[peer] = nil }
        }
        return take { $0.open.isEmpty }
    }

    mutating func due(now: UInt64) -> [Run] { take { $0.deadline <= now } }

    /// All of them, for an end: what was not called back counts.
    mutating func end(now: UInt64) -> [Run] { take { _ in true } }

    private mutating func take(_ isOver: (Run) -> Bool) -> [Run] {
        let over = runs.filter(isOver)
        runs.removeAll(where: isOver)
        return over
    }
}
