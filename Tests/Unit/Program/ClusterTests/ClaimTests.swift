import Testing

@testable import Cluster

/// Of two relays exactly one comes to have an id, whichever way their claims meet.
@Suite struct ClaimTests {
    static let claims: [Claim] = [1, 2].flatMap { stamp in
        ["one", "two"].flatMap { node in
            [true, false].map { Claim(stamp: stamp, node: Array(node.utf8), isProved: $0) }
        }
    }

    static func keeps(_ verdict: Claim.Verdict) -> Bool { verdict != .theirs }

    @Test func ofTwoNewcomersOneWins() {
        for one in Self.claims {
            for other in Self.claims where one.node != other.node {
                #expect(Self.keeps(one.asNewcomer(against: other)) != Self.keeps(other.asNewcomer(against: one)))
            }
        }
    }

    @Test func ofTwoHoldersOneStays() {
        for one in Self.claims {
            for other in Self.claims where one.node != other.node {
                #expect(Self.keeps(one.asHolder(against: other)) != Self.keeps(other.asHolder(against: one)))
            }
        }
    }

    @Test func theRulesAreThoseOfOneRelay() {
        func claim(_ stamp: Int64, _ isProved: Bool) -> Claim { Claim(stamp: stamp, node: [1], isProved: isProved) }
        #expect(claim(1, false).asHeld(against: claim(2, true)) == .theirs)
        #expect(claim(1, true).asHeld(against: claim(2, true)) == .theirs, "the newer proof")
        #expect(claim(1, true).asHeld(against: claim(2, false)) == .oursByProof)
        #expect(claim(1, false).asHeld(against: claim(2, false)) == .oursIfAlive)
        #expect(claim(1, false).asNewcomer(against: claim(2, false)) == .ours, "the first without a proof")
        #expect(claim(1, true).asNewcomer(against: claim(2, true)) == .theirs, "the newer proof")
        #expect(claim(9, false).asHolder(against: claim(1, true)) == .theirs)
        #expect(claim(2, false).asHolder(against: claim(1, false)) == .ours, "where the device is now")
    }
}
