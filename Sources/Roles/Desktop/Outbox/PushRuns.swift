import Transport
import Wire

/// Identifies a push with a caller that waits for the list of receivers.
typealias PushTicket = UInt64

/// The pushes with callers that wait for the list of receivers (WireSealing, "Delivery of pushes"). A Bellwire device
/// has received a push when it acknowledges it. A ChainlessChain phone counts as having received it if it was sent and
/// no relay returned it within 2 s. A device that has not answered by the deadline has not received it; the push stays
/// in its outbox. Times are the loop's milliseconds.
struct PushRuns: Sendable {
    static let verdictTime: UInt64 = 2_000

    /// A push whose recipients are known.
    struct Finished: Sendable, Equatable {
        let ticket: PushTicket
        var delivered: Set<PeerID>
    }

    /// A push that timed out before all devices answered.
    struct Overdue: Sendable, Equatable {
        var finished: Finished
        let open: Set<PeerID>
    }

    private struct Run: Sendable {
        var open: Set<PeerID>
        var delivered: Set<PeerID> = []
    }

    private struct Deadline: Sendable {
        let ticket: PushTicket
        let at: UInt64
    }

    private var runs: [PushTicket: Run] = [:]
    /// In order of time; those of finished runs are skipped.
    private var deadlines = FIFO<Deadline>()

    /// Begins a run. `open` are the devices that may receive the push now; without any it is over at once.
    mutating func begin(_ ticket: PushTicket, open: Set<PeerID>, now: UInt64) -> Finished? {
        guard !open.isEmpty else { return Finished(ticket: ticket, delivered: []) }
        runs[ticket] = Run(open: open)
        deadlines.append(Deadline(ticket: ticket, at: now &+ Self.verdictTime))
        return nil
    }

    mutating func delivered(_ ticket: PushTicket, to peer: PeerID) -> Finished? {
        runs[ticket]?.delivered.insert(peer)
        return close(ticket, peer)
    }

    /// The device is not there.
    mutating func missed(_ ticket: PushTicket, by peer: PeerID) -> Finished? { close(ticket, peer) }

    /// When to call ``overdue(now:)``; `nil` = nothing is in progress.
    mutating func nextDeadline() -> UInt64? {
        while let first = deadlines.first {
            if runs[first.ticket] != nil { return first.at }
            _ = deadlines.removeFirst()
        }
        return nil
    }

    /// Ends expired runs.
    mutating func overdue(now: UInt64) -> [Overdue] {
        var overdue: [Overdue] = []
        while let at = nextDeadline(), at <= now, let run = takeFirst() { overdue.append(run) }
        return overdue
    }

    /// Ends all of them.
    mutating func end() -> [Overdue] { overdue(now: .max) }

    private mutating func takeFirst() -> Overdue? {
        guard let deadline = deadlines.removeFirst(), let run = runs.removeValue(forKey: deadline.ticket) else {
            return nil
        }
        return Overdue(
            finished: Finished(ticket: deadline.ticket, delivered: run.delivered), open: run.open)
    }

    private mutating func close(_ ticket: PushTicket, _ peer: PeerID) -> Finished? {
        guard runs[ticket]?.open.remove(peer) != nil, runs[ticket]?.open.isEmpty == true,
            let run = runs.removeValue(forKey: ticket)
        else { return nil }
        return Finished(ticket: ticket, delivered: run.delivered)
    }
}
