/// How many connections a listener has, and what happens at its limits.
struct ConnectionLimits {
    enum Arrival: Equatable {
        case taken
        /// Taken, and the last one for now: stop accepting. `isNews` = say so.
        case takenAsLast(isNews: Bool)
        /// Its address has too many that are not upgraded.
        case refused
    }

    struct Departure: Equatable {
        /// Accept again.
        var resumes = false
        /// Say that it is well again.
        var isNews = false
    }

    private var maximum: Int
    private var maximumPendingPerAddress: Int
    private(set) var count = 0
    private var isFull = false
    private var isSaid = false
    /// Not upgraded yet, for each network (``PeerAddress/network``) that is not this machine.
    private var pending: [String: Int] = [:]

    init(maximum: Int, maximumPendingPerAddress: Int) {
        self.maximum = max(1, maximum)
        self.maximumPendingPerAddress = max(1, maximumPendingPerAddress)
    }

    /// - Parameter remote: `nil` = a proxy's, which doesn't count for an address.
    mutating func arrived(_ remote: PeerAddress?) -> Arrival {
        if let remote, !identified(remote) { return .refused }
        count += 1
        guard count >= maximum, !isFull else { return .taken }
        isFull = true
        defer { isSaid = true }
        return .takenAsLast(isNews: !isSaid)
    }

    /// A connection is of that address: counts it there. Returns whether it may stay.
    mutating func identified(_ remote: PeerAddress) -> Bool {
        guard !remote.isLoopback else { return true }
        let waiting = pending[remote.network, default: 0]
        guard waiting < maximumPendingPerAddress else { return false }
        pending[remote.network] = waiting + 1
        return true
    }

    /// Returns whether to accept again.
    mutating func change(maximum: Int, maximumPendingPerAddress: Int) -> Bool {
        self.maximum = max(1, maximum)
        self.maximumPendingPerAddress = max(1, maximumPendingPerAddress)
        guard isFull, count < self.maximum else { return false }
        isFull = false
        return true
    }

    /// It was upgraded, or is no longer with the listener for another reason.
    mutating func settled(_ remote: PeerAddress) {
        let network = remote.network
        guard let waiting = pending[network] else { return }
        pending[network] = waiting > 1 ? waiting - 1 : nil
    }

    mutating func closed() -> Departure {
        count -= 1
        var departure = Departure()
        if isFull, count < maximum {
            isFull = false
            departure.resumes = true
        }
        // Coming and going at the limit is one event, not many.
        if isSaid, count <= maximum - max(1, maximum / 8) {
            isSaid = false
            departure.isNews = true
        }
        return departure
    }
}
