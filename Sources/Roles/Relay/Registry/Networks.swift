internal import Transport

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
    /// By the same numbers, apart from the rest so that a frame touches nothing else.
    private var frames: [NetworkRate] = []
    private var bytes: [NetworkRate] = []
    private var codes: [NetworkRate] = []
    private var proofs: [NetworkRate] = []
    private var free: [Int] = []

    var count: Int { numbers.count }

    /// One more connection from there.
    mutating func came(from address: String) -> Int {
        let name = PeerAddress.network(of: address)
        if let number = numbers[name] {
            networks[number]?.connections += 1
            return number
        }
        let network = Network(name: name, connections: 1)
        let number: Int
        if let reused = free.popLast() {
            number = reused
            networks[number] = network
            frames[number] = NetworkRate()
            bytes[number] = NetworkRate()
            codes[number] = NetworkRate()
            proofs[number] = NetworkRate()
        } else {
            number = networks.count
            networks.append(network)
            frames.append(NetworkRate())
            bytes.append(NetworkRate())
            codes.append(NetworkRate())
            proofs.append(NetworkRate())
        }
        numbers[name] = number
        return number
    }

    /// So many more frames of this second. Returns whether they are within `limit`; 0 = none.
    @inline(__always)
    mutating func countFrames(_ count: Int, of number: Int, at monotonic: UInt64, limit: Int) -> Bool {
        frames[number].count(count, in: monotonic / 1_000, limit: limit)
    }

    /// So many more bytes of large frames of this second. Returns whether they are within `limit`; 0 = none.
    mutating func countBytes(_ count: Int, of number: Int, at monotonic: UInt64, limit: Int) -> Bool {
        bytes[number].count(count, in: monotonic / 1_000, limit: limit)
    }

    /// One more alias named in this minute. Returns whether it is within `limit`; 0 = none.
    mutating func countCodeLookup(of number: Int, at monotonic: UInt64, limit: Int) -> Bool {
        codes[number].count(1, in: monotonic / 60_000, limit: limit)
    }

    /// One more id proved for the first time on this day. Returns whether it is within `limit`.
    mutating func countProof(of number: Int, on day: UInt64, limit: Int) -> Bool {
        proofs[number].count(1, in: day, limit: limit)
    }

    /// Whether something was counted whose period is not over: who hangs up and comes back would begin anew. Frames don't
    /// matter, since a new connection costs more than the frames of a second.
    func hasCounted(_ number: Int, at monotonic: UInt64, on day: UInt64) -> Bool {
        proofs[number].hasCounted(in: day) || codes[number].hasCounted(in: monotonic / 60_000)
    }

    /// As ``came(from:)`` takes it again.
    func name(of number: Int) -> String? { networks.indices.contains(number) ? networks[number]?.name : nil }

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
