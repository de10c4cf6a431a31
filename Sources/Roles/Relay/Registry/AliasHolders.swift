/// Counts the registered aliases of typed codes, in total and per address: a peer with thousands of codes could hold
/// one that a user types (WirePairing, "Typed codes").
struct AliasHolders {
    struct Limits {
        var perAddress: Int
        var total: Int
    }

    var limits: Limits
    private var perNetwork: [String: Int] = [:]
    private(set) var count = 0

    init(limits: Limits) { self.limits = limits }

    /// May that network hold one more? `releasing` = it gives one up for it.
    func hasPlace(for network: String, releasing: Bool) -> Bool {
        let own = releasing ? 1 : 0
        return count - own < limits.total && perNetwork[network, default: 0] - own < limits.perAddress
    }

    mutating func came(from network: String) {
        count += 1
        perNetwork[network, default: 0] += 1
    }

    mutating func left(_ network: String) {
        count -= 1
        guard let held = perNetwork[network] else { return }
        perNetwork[network] = held > 1 ? held - 1 : nil
    }
}
