import Synchronization

/// Whether an alert that a presenter was given is still to be shown. For any thread.
package final class ShowPermit: Sendable {
    /// `nil` = not of the pipeline.
    let ticket: AlertRun.Ticket?
    private let isGiven = Atomic(true)

    init(_ ticket: AlertRun.Ticket?) { self.ticket = ticket }

    package init() { ticket = nil }

    package var holds: Bool { isGiven.load(ordering: .relaxed) }

    package func withdraw() { isGiven.store(false, ordering: .relaxed) }
}
