internal import Transport

/// Counts the connections that have not registered, in all and for each network (``PeerAddress/network(of:)``).
struct Doorkeeper {
    struct Limits {
        var unregistered: Int
        var unregisteredPerAddress: Int
        var limitsLoopback: Bool
    }

    enum Admission: Equatable {
        case welcome
        /// Too many connections have not registered.
        case full
        /// Too many of them from this address.
        case addressFull
    }

    var limits: Limits
    private var perNetwork: [String: Int] = [:]
    private(set) var unregistered = 0

    init(limits: Limits) { self.limits = limits }

    func admission(of address: String, isLoopback: Bool) -> Admission {
        if unregistered >= limits.unregistered { return .full }
        if isLoopback, !limits.limitsLoopback { return .welcome }
        return perNetwork[PeerAddress.network(of: address), default: 0] >= limits.unregisteredPerAddress
            ? .addressFull : .welcome
    }

    mutating func came(from address: String) {
        unregistered += 1
        perNetwork[PeerAddress.network(of: address), default: 0] += 1
    }

    /// It has registered, or it has gone.
    mutating func left(_ address: String) {
        unregistered -= 1
        let network = PeerAddress.network(of: address)
        guard let count = perNetwork[network] else { return }
        perNetwork[network] = count > 1 ? count - 1 : nil
    }
}
