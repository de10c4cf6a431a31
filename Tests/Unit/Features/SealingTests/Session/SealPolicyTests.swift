import JSON
import Testing
import Wire

@testable import Sealing

/// Which versions count, and that they never go down (WireSessions, "Versions").
@Suite struct SealPolicyTests {
    /// What this side offers.
    private let own: SealOffer

    init() throws { own = try SealOffer(decoding: SealVersions.own.json) }

    private func code(_ work: () throws -> Void) -> SealError.Code? {
        do { try work() } catch let error as SealError { return error.code } catch { return nil }
        return nil
    }

    @Test("an offer says 1 and 2; a peer that says nothing means 1; unknown versions are left out")
    func offers() throws {
        #expect(SealVersions.own.json == [1, 2])
        #expect(SealVersions.own.text == "1,2")
        #expect(own.versions == SealVersion.allCases)
        #expect(try SealOffer(decoding: nil) == .unsaid)
        #expect(try SealOffer(decoding: [2, 1]) == own)
        #expect(try SealOffer(decoding: [1, 2, 3]) == own)
        #expect(try SealOffer(decoding: [2]).versions == [.two])
        #expect(SealOffer.unsaid.versions == [.one])
    }

    @Test("an offer that can't be read is an error, never version 1")
    func badOffers() {
        let wrong: [JSONValue] = [
            .null, true, 1, 1.5, "1", "1,2", [], [0], [-1], [1.0], ["1"], [1, 1], [2, 2], [3], [nil], [:], [1, [2]],
            .array((1...17).map { .integer($0) }), .array((1...1_000).map { .integer($0) }), [1, .integer(.min)],
        ]
        for value in wrong { #expect(code { _ = try SealOffer(decoding: value) } == .malformed, "\(value)") }
    }

    @Test("before the first session both versions count, and without a session version 1 seals")
    func before() throws {
        let policy = SealPolicy()
        #expect(policy.stored == 1)
        for version in SealVersion.allCases { #expect(code { try policy.check(version) } == nil) }
        #expect(policy.version(hasSession: false) == .one)
        #expect(policy.version(hasSession: true) == .two)
        #expect(try policy.best(of: .unsaid) == .one)
        #expect(try policy.best(of: own) == .two)
    }

    @Test("the first complete session raises the minimum, once; from then on version 1 is refused at every point")
    func pinned() throws {
        var policy = SealPolicy()
        let (first, second) = (policy.sessionCompleted(), policy.sessionCompleted())
        #expect(first && !second)
        #expect(policy.stored == 2)
        #expect(code { try policy.check(.one) } == .downgraded)
        #expect(code { try policy.check(.two) } == nil)
        // No session: nothing is sealed rather than version 1.
        #expect(policy.version(hasSession: false) == nil)
        // Offers of a hello or a code that leave version 2 out.
        #expect(code { _ = try policy.best(of: .unsaid) } == .downgraded)
        #expect(code { _ = try policy.best(of: SealOffer(decoding: [1])) } == .downgraded)
        #expect(try policy.best(of: SealOffer(decoding: [2])) == .two)
        #expect(try policy.best(of: own) == .two)
    }

    @Test("the minimum survives the store; what is stored otherwise is damage")
    func stored() {
        #expect(SealPolicy(stored: 1) == SealPolicy())
        #expect(SealPolicy(stored: 2)?.minimum == .two)
        for damage: Int64 in [0, -1, 3, .max, .min] { #expect(SealPolicy(stored: damage) == nil) }
    }
}
