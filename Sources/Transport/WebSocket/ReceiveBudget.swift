/// What unfinished messages hold in memory: in all, of one network, and for how long.
///
/// At a limit the one that loses is a connection of the network that would hold the most, and of that network the one whose
/// message began first: whoever holds little, for a short time, is never the one. Times are monotonic milliseconds.
struct ReceiveBudget {

    private struct Message {
        let holder: AnyObject
        let number: UInt32
        let since: UInt64
        var bytes: Int
    }

    /// What one network holds. Never nothing.
    private struct Share {
        /// In the order in which they began.
        var messages: [Message] = []
        var bytes = 0
    }

    private let limits: ReceiveLimits
    private var shares: [String: Share] = [:]
    private(set) var byteCount = 0

    init(_ limits: ReceiveLimits) { self.limits = limits }

    var isEmpty: Bool { shares.isEmpty }

    /// The holder's unfinished message has this number, and takes so many bytes now; 0 = it is finished. Returns who must
    /// be closed, and counts these no more.
    mutating func hold(
        _ holder: AnyObject, of network: String, isLimited: Bool, message number: UInt32, bytes: Int, at now: UInt64
    ) -> [AnyObject] {
        var share = shares.removeValue(forKey: network) ?? Share()
        byteCount -= share.bytes
        if let place = share.messages.firstIndex(where: { $0.holder === holder }) {
            share.bytes += bytes - share.messages[place].bytes
            if share.messages[place].number == number, bytes > 0 {
                share.messages[place].bytes = bytes
            } else {
                share.messages.remove(at: place)
                if bytes > 0 {
                    share.messages.append(Message(holder: holder, number: number, since: now, bytes: bytes))
                }
            }
        } else if bytes > 0 {
            share.bytes += bytes
            share.messages.append(Message(holder: holder, number: number, since: now, bytes: bytes))
        }
        var losers: [AnyObject] = []
        while isLimited, share.bytes > limits.bytesPerNetwork, let loser = share.messages.first {
            share.messages.removeFirst()
            share.bytes -= loser.bytes
            losers.append(loser.holder)
        }
        byteCount += share.bytes
        if !share.messages.isEmpty { shares[network] = share }
        while byteCount > limits.bytes, let loser = removeOldestOfLargest() { losers.append(loser) }
        return losers
    }

    /// Whose message has been unfinished for too long. Counts them no more.
    mutating func removeOverdue(at now: UInt64) -> [AnyObject] {
        var overdue: [AnyObject] = []
        for (network, share) in shares {
            var share = share
            // They stand in the order in which they began.
            let late = share.messages.prefix { now &- $0.since >= limits.time }
            guard !late.isEmpty else { continue }
            overdue += late.map(\.holder)
            let bytes = late.reduce(0) { $0 + $1.bytes }
            share.messages.removeFirst(late.count)
            share.bytes -= bytes
            byteCount -= bytes
            shares[network] = share.messages.isEmpty ? nil : share
        }
        return overdue
    }

    private mutating func removeOldestOfLargest() -> AnyObject? {
        guard let network = shares.max(by: { $0.value.bytes < $1.value.bytes })?.key,
            var share = shares.removeValue(forKey: network), let loser = share.messages.first
        else { return nil }
        share.messages.removeFirst()
        share.bytes -= loser.bytes
        byteCount -= loser.bytes
        if !share.messages.isEmpty { shares[network] = share }
        return loser.holder
    }
}
