/// The networks that connections come from, each with a number, so that nothing has to look at addresses again.
///
/// A number stays its network's own while a connection comes from there, or something is counted for it.
struct Networks {
    private struct Network {
        let name: String
        var connections: Int
    }

    private var numbers: [String: Int] = [:]
    private var networks: [Network?] = []
    private var free: [Int] = []

    var count: Int { numbers.count }

    /// One more connection from there.
    mutating func came(from address: String) -> Int {
        let name = AliasHolders.network(of: address)
        if let number = numbers[name] {
            networks[number]?.connections += 1
            return number
        }
        let network = Network(name: name, connections: 1)
        let number: Int
        if let reused = free.popLast() {
            number = reused
            networks[number] = network
        } else {
            number = networks.count
            networks.append(network)
        }
        numbers[name] = number
        return number
    }

    /// One connection less. `isCounted`: something is still counted for the network.
    mutating func left(_ number: Int, isCounted: Bool) {
        networks[number]?.connections -= 1
        if !isCounted { forgetIfUnused(number) }
    }

    /// Forgets networks without connections and without counted items.
    mutating func sweep(isCounted: (Int) -> Bool) {
        for number in networks.indices where !isCounted(number) { forgetIfUnused(number) }
    }

    private mutating func forgetIfUnused(_ number: Int) {
        guard let network = networks[number], network.connections == 0 else { return }
        numbers[network.name] = nil
        networks[number] = nil
        free.append(number)
    }
}
