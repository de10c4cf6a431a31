/// Follows the transactions that change some columns. Called on the store's thread, but for ``opened(_:damage:)``.
package protocol CommitObserver: AnyObject, Sendable {
    /// Whether a change of this column matters to it; `nil` = a row that comes or goes. Asked once for each statement
    /// that is prepared.
    func follows(_ table: String, column: String?) -> Bool
    /// It has something to do at the next commit, whatever that changes.
    var isBehind: Bool { get }
    /// The file is open, at the newest schema, and no work has been done on it. In no transaction; on the opener's
    /// thread.
    func opened(_ connection: Connection, damage: DatabaseDamage?) throws(StoreError)
    /// A transaction that has changed what it follows is about to be committed. It may still write; an error rolls
    /// the transaction back.
    func willCommit(_ connection: Connection) throws(StoreError)
    /// That transaction has ended; its callers have not been told yet.
    func ended(committed: Bool)
}

/// The outcome of opening a damaged database.
package struct DatabaseDamage: Sendable, Equatable {
    /// Path of the damaged file; a new one was created.
    package var movedAside: String
    /// Rows that could still be read; they are in the new file.
    package var salvaged = 0
    /// Tables of which not everything could be read.
    package var incomplete: [String] = []

    package init(movedAside: String) { self.movedAside = movedAside }
}
