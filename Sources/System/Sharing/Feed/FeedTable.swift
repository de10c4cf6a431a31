package import Hosting
package import Store

/// The stored events of one source, and how far each program has had them. A value without state: each method works over
/// the connection of its caller's piece of work on the store.
package protocol FeedTable: Sendable {
    /// The program wants the events. The first time it gets what comes from then on; the first program of all also gets
    /// what has waited for one.
    ///
    /// - Returns: whether it was the first time.
    func join(_ application: String, _ connection: Connection) throws(StoreError) -> Bool

    /// The program, which may have had another life, begins to take. Returns how far it was before; `nil` = no such
    /// program.
    func begin(_ application: String, _ connection: Connection) throws(StoreError) -> FeedMarks?

    /// The oldest events that the program has not had, recorded as ones that callbacks may see. At most `limit`, and as
    /// many as `size` has room for.
    func take(
        _ application: String, limit: Int, _ size: inout FeedBatch.Size, _ connection: Connection
    ) throws(StoreError) -> [WaitingEvent]

    /// How many events were dropped before the program got them, since the last call.
    func takeDropped(_ application: String, _ connection: Connection) throws(StoreError) -> Int64

    /// The program has had everything through this row. Never goes back.
    func finish(_ application: String, through row: Int64, _ connection: Connection) throws(StoreError)

    /// The program has ended by itself: its callbacks have seen nothing beyond `seen`.
    func settle(_ application: String, seen: Int64, _ connection: Connection) throws(StoreError)

    /// The program is as one that never was; what was kept for it alone is deleted.
    func forget(_ application: String, _ connection: Connection) throws(StoreError)
}

/// How far a program has had the events of a source.
package struct FeedMarks: Sendable, Equatable {
    /// Its place in the source's file of ``HandoverMark``s.
    package let slot: Int64
    package let handed: Int64
    /// No callback can have seen an event beyond this one.
    package let offered: Int64

    package init(slot: Int64, handed: Int64, offered: Int64) {
        (self.slot, self.handed, self.offered) = (slot, handed, offered)
    }
}
