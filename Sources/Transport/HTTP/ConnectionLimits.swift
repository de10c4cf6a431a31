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

    private let maximum: Int
    private let maximumPendingPerAddress: Int
    private(set) var count = 0
    private var isFull = false
    private var isSaid = false
    /// Not upgraded yet, for each address that is not this machine.
    private var pending: [String: Int] = [:]

    init(maximum: Int, maximumPendingPerAddress: Int) {
        self.maximum = max(1, maximum)
        self.maximumPendingPerAddress = max(1, maximumPendingPerAddress)
    }

    mutating func arrived(_ remote: PeerAddress) -> Arrival {
        if !remote.isLoopback {
            let waiting = pending[remote.host, default: 0]
            guard waiting < maximumPendingPerAddress else { return .refused }
            pending[remote.host] = waiting + 1
        }
        count += 1
        guard count >= maximum, !isFull else { return .taken }
        isFull = true
        defer { isSaid = true }
        return .takenAsLast(isNews: !isSaid)
    }

    /// It was upgraded, or is no longer with the listener for another reason.
    mutating func settled(_ remote: PeerAddress) {
        guard let waiting = pending[remote.host] else { return }
        pending[remote.host] = waiting > 1 ? waiting - 1 : nil
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
