/// Limits the memory of unfinished messages: in all, of one network, and for how long.
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
        let network: String
        /// In the order in which they began.
        var messages: [Message] = []
        var bytes = 0
    }

    private let limits: ReceiveLimits
    private var shares: [Share] = []
    private(set) var byteCount = 0

    init(_ limits: ReceiveLimits) { self.limits = limits }

    var isEmpty: Bool { shares.isEmpty }

    /// The holder's unfinished message has this number, and takes so many bytes now; 0 = it is finished. Returns who must
    /// be closed, and counts these no more.
    mutating func hold(
        _ holder: AnyObject, of network: String, isLimited: Bool, message number: UInt32, bytes: Int, at now: UInt64
    ) -> [AnyObject] {
        var share = Share(network: network)
        if let place = shares.firstIndex(where: { $0.network == network }) { share = take(place) }
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
        if !share.messages.isEmpty { shares.append(share) }
        while byteCount > limits.bytes, let loser = removeOldestOfLargest() { losers.append(loser) }
        return losers
    }

    /// Whose message has been unfinished for too long. Counts them no more.
    mutating func removeOverdue(at now: UInt64) -> [AnyObject] {
        var overdue: [AnyObject] = []
        for place in shares.indices.reversed() {
            // They stand in the order in which they began.
            while let first = shares[place].messages.first, now &- first.since >= limits.time {
                overdue.append(first.holder)
                shares[place].messages.removeFirst()
                shares[place].bytes -= first.bytes
                byteCount -= first.bytes
            }
            if shares[place].messages.isEmpty { _ = take(place) }
        }
        return overdue
    }

    private mutating func removeOldestOfLargest() -> AnyObject? {
        guard let place = shares.indices.max(by: { shares[$0].bytes < shares[$1].bytes }) else { return nil }
        var share = take(place)
        guard let loser = share.messages.first else { return nil }
        share.messages.removeFirst()
        share.bytes -= loser.bytes
        byteCount -= loser.bytes
        if !share.messages.isEmpty { shares.append(share) }
        return loser.holder
    }

    /// Their order means nothing.
    private mutating func take(_ place: Int) -> Share {
        shares.swapAt(place, shares.count - 1)
        return shares.removeLast()
    }
}
