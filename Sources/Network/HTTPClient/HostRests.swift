/// Hosts that did not answer in time, and are not asked again for a while.
///
/// `now` is the loop's monotonic milliseconds.
struct HostRests {
    /// Hosts that are known; the one that was heard of longest ago is forgotten for another.
    static let capacity = 64

    private struct Host {
        let name: String
        var restsUntil: UInt64 = 0
        var lastAnswerAt: UInt64 = 0
    }

    /// How long a host rests, in milliseconds; 0 = it doesn't.
    private let rest: UInt64
    /// The one that was heard of last at the end.
    private var hosts: [Host] = []

    init(rest: UInt64) { self.rest = rest }

    func isResting(_ host: String, now: UInt64) -> Bool { hosts.contains { $0.name == host && $0.restsUntil > now } }

    mutating func answered(_ host: String, now: UInt64) {
        if let host = take(host) { hosts.append(Host(name: host.name, lastAnswerAt: now)) }
    }

    /// A fetch that began then had no answer in its time. If another one had, the host lives.
    mutating func timedOut(_ host: String, begunAt: UInt64, now: UInt64) {
        guard var host = take(host) else { return }
        if host.lastAnswerAt < begunAt { host.restsUntil = now &+ rest }
        hosts.append(host)
    }

    private mutating func take(_ name: String) -> Host? {
        guard rest > 0 else { return nil }
        if let index = hosts.firstIndex(where: { $0.name == name }) { return hosts.remove(at: index) }
        if hosts.count >= Self.capacity { hosts.removeFirst() }
        return Host(name: name)
    }
}
