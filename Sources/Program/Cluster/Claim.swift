/// One relay's claim on an id, and which of two wins.
struct Claim: Equatable {
    enum Verdict: Equatable {
        case ours
        case theirs
        /// Ours, if its connection still lives.
        case oursIfAlive
        /// Ours: it was proved, and theirs was not.
        case oursByProof
    }

    /// When it was made, in epoch milliseconds of its relay's clock.
    let stamp: Int64
    /// The relay's name, for claims of one moment.
    let node: [UInt8]
    let isProved: Bool

    /// The rules of one relay: a proof takes an id over, and the newer of two proofs; without one a newcomer gets it only
    /// from a connection that no longer lives.
    func asHeld(against newcomer: Claim) -> Verdict {
        if newcomer.isProved { return .theirs }
        return isProved ? .oursByProof : .oursIfAlive
    }

    /// Two newcomers that meet before either has the id.
    func asNewcomer(against other: Claim) -> Verdict {
        if isProved != other.isProved { return isProved ? .oursByProof : .theirs }
        // The newer of two proofs; without proofs, the first one.
        return isNewer(than: other) == isProved ? .ours : .theirs
    }

    /// Two holders that find each other, such as after a partition has healed. A device that changes relays is where its
    /// newest connection is.
    func asHolder(against other: Claim) -> Verdict {
        if isProved != other.isProved { return isProved ? .oursByProof : .theirs }
        return isNewer(than: other) ? .ours : .theirs
    }

    private func isNewer(than other: Claim) -> Bool {
        if stamp != other.stamp { return stamp > other.stamp }
        return other.node.lexicographicallyPrecedes(node)
    }
}
