package import JSON

/// The peers about which the host was warned, because anyone can send in their name over one of their relays.
package struct ForgeryWarnings: Sendable {
    private var warned: Set<String> = []

    package init() {}

    /// - Parameter peers: a list of paired peers, as hosts get it. A peer that leaves it is warned of again.
    /// - Returns: whether there is a new one.
    package mutating func isDue(for peers: JSONValue) -> Bool {
        let forgeable = (peers.array ?? []).filter { $0["forgeable"] == true }.compactMap { $0["id"]?.string }
        defer { warned = Set(forgeable) }
        return forgeable.contains { !warned.contains($0) }
    }
}

extension HostChannel {
    /// - Parameter kind: the role of the peers: `desktop` or `device`.
    package func warnOfForgery(of kind: String) {
        problem(
            "forgeable_relay",
            "a relay lets anyone send in the name of an unencrypted \(kind); see \"forgeable\" in the state")
    }
}
