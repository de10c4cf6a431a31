package import Identity

/// The exchanges of random bytes under one offer.
///
/// Each commitment gets bytes of its own: if two had the same, the second could be chosen to fit them. Each exchange is
/// one more try at the digits for somebody who has the code's secret, so there are only a few.
struct OfferExchanges: Sendable, Equatable {
    /// How many exchanges an offer begins. A device begins a new one when its scan starts anew.
    static let limit = 5

    private var unused: [PairingRandom]
    private var begun: [CommittedExchange] = []

    /// - Parameter randoms: new random bytes for each exchange; at most ``limit`` are used.
    init(_ randoms: [PairingRandom]) { unused = Array(randoms.prefix(Self.limit)) }

    /// The exchange for this commitment, which may have been begun before; `nil` = there were too many.
    mutating func begin(_ bond: PairingBond, _ commitment: String) -> CommittedExchange? {
        if let known = find(bond, commitment) { return known }
        guard let random = unused.popLast() else { return nil }
        let exchange = CommittedExchange(bond: bond, commitment: commitment, desktopRandom: random)
        begun.append(exchange)
        return exchange
    }

    /// An exchange that has begun.
    func find(_ bond: PairingBond, _ commitment: String) -> CommittedExchange? {
        begun.first { $0.bond == bond && $0.commitment == commitment }
    }
}

extension DesktopOfferStateMachine {
    /// Random bytes for one offer's exchanges.
    package static func newRandoms() -> [PairingRandom] { (0..<OfferExchanges.limit).map { _ in .random() } }
}
