/// The ids that were ever proved at this relay: none is registered unproved again (Wire, "Who owns an id").
///
/// Bounded, and nothing is ever dropped: at the bound a new id is registered as proved, but not remembered. So nobody
/// can remove others' protection by proving many ids of their own.
struct ProvedIDs: Sendable {
    enum Insertion: Equatable {
        case known, new
        /// There is no place for it.
        case full
    }

    private let limit: Int
    private var names: Set<[UInt8]> = []

    init(limit: Int) { self.limit = limit }

    init(limit: Int, names: [[UInt8]]) {
        self.limit = limit
        self.names = Set(names.prefix(limit))
    }

    var count: Int { names.count }

    func contains(_ name: [UInt8]) -> Bool { names.contains(name) }

    mutating func insert(_ name: [UInt8]) -> Insertion {
        if names.contains(name) { return .known }
        guard names.count < limit else { return .full }
        names.insert(name)
        return .new
    }
}
