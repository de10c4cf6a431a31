/// Decides when to try which address of a host (happy eyeballs, RFC 8305): families take turns, the next attempt starts
/// when the last one failed or 250 ms went by, and the first that connects wins.
struct DialStateMachine {
    enum Action: Equatable {
        /// Start an attempt at this address, and tell when the delay is over.
        case attempt(index: Int)
        case wait
        /// No address is left.
        case giveUp
    }

    /// Milliseconds from one attempt to the next.
    static let attemptDelay: UInt64 = 250

    /// In the order of trying.
    let order: [Int]
    private var started = 0
    private var underWay = 0

    /// `families` tells of each address whether it is IPv6, in the order of preference.
    init(families: [Bool]) {
        guard let first = families.first else {
            order = []
            return
        }
        let preferred = families.indices.filter { families[$0] == first }
        let others = families.indices.filter { families[$0] != first }
        var order: [Int] = []
        for turn in 0..<max(preferred.count, others.count) {
            if turn < preferred.count { order.append(preferred[turn]) }
            if turn < others.count { order.append(others[turn]) }
        }
        self.order = order
    }

    mutating func begin() -> Action { next() }

    mutating func delayPassed() -> Action { next() }

    mutating func attemptFailed() -> Action {
        underWay -= 1
        return next()
    }

    private mutating func next() -> Action {
        guard started < order.count else { return underWay > 0 ? .wait : .giveUp }
        defer {
            started += 1
            underWay += 1
        }
        return .attempt(index: order[started])
    }
}
