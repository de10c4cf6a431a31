import Synchronization

/// Whether an alert that a presenter was given is still to be shown. For any thread.
final class ShowPermit: Sendable {
    /// `nil` = not of the pipeline.
    let ticket: AlertRun.Ticket?
    private let isGiven = Atomic(true)

    init(_ ticket: AlertRun.Ticket? = nil) { self.ticket = ticket }

    var holds: Bool { isGiven.load(ordering: .relaxed) }

    func withdraw() { isGiven.store(false, ordering: .relaxed) }
}
