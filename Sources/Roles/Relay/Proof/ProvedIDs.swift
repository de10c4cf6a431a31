/// The ids that were ever proved at this relay: none is registered unproved again (Wire, "Who owns an id").
///
/// Bounded, and nothing is ever dropped: at the bound a new id is registered as proved, but not remembered. So nobody
/// can remove others' protection by proving many ids of their own.
struct ProvedIDs: Sendable {
    enum Insertion: Equatable {
        case known, new
        /// It is known, and not on disk yet.
        case unsaved
        /// There is no place for it.
        case full
    }

    var limit: Int
    /// When each was proved first, in epoch milliseconds.
    private var names: [[UInt8]: Int64] = [:]
    private var unsaved: Set<[UInt8]> = []

    init(limit: Int) { self.limit = limit }

    init(limit: Int, names: [(name: [UInt8], since: Int64)]) {
        self.limit = limit
        for (name, since) in names.prefix(limit) { self.names[name] = since }
    }

    var count: Int { names.count }

    func contains(_ name: [UInt8]) -> Bool { names[name] != nil }

    func since(_ name: [UInt8]) -> Int64? { names[name] }

    /// What inserting it would come to.
    func insertion(of name: [UInt8]) -> Insertion {
        guard names[name] == nil else { return unsaved.contains(name) ? .unsaved : .known }
        return names.count < limit ? .new : .full
    }

    mutating func insert(_ name: [UInt8], at epoch: Int64) {
        names[name] = epoch
        unsaved.insert(name)
    }

    mutating func saved(_ name: [UInt8]) { unsaved.remove(name) }
}
