/// Events of one kind that wait in a role's store until the host has taken them.
///
/// The calls block on the store's thread; they are for the host's thread only.
package protocol EventSource: AnyObject, Sendable {
    /// These events wait for subscribers of this event. An event with another name that nothing subscribes to is
    /// delivered under this name.
    var name: HostEvent.Name { get }

    /// The oldest waiting ones, at most `limit`, durably marked as being handed over.
    func take(limit: Int) throws(HostError) -> [WaitingEvent]

    /// A callback is about to see this one, for the first time in this dispatch. On the host's thread.
    func willHandOver(_ row: Int64)

    /// Durably marks `handed` as handed over and lets `untouched` wait again, as if never taken.
    func finish(handed: [Int64], untouched: [Int64]) throws(HostError)

    /// After `finish` has failed: durably lets `untouched` wait again, and all others that were taken and not marked,
    /// which come as redelivered.
    func restore(untouched: [Int64]) throws(HostError)
}

extension EventSource {
    package func willHandOver(_ row: Int64) {}
}

/// One stored event on its way to the host.
package struct WaitingEvent: Sendable {
    /// Its row in the store.
    package let row: Int64
    package let event: HostEvent

    package init(row: Int64, event: HostEvent) {
        self.row = row
        self.event = event
    }
}
