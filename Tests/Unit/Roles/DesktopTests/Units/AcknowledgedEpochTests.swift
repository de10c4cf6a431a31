import Testing

@testable import Desktop

/// Which acknowledgements are about what this start has sent (WireSealing, "Delivery of pushes").
@Suite struct AcknowledgedEpochTests {
    @Test("a device that never named an epoch counts as before")
    func old() {
        var epochs = AcknowledgedEpoch()
        for isHello in [true, false] { #expect(epochs.judge(nil, isHello: isHello, current: 7) == .current) }
        #expect(!epochs.isNamed)
    }

    @Test("one that named an epoch once has to name this start's, always", arguments: [5, 7, 9] as [Int64])
    func named(first: Int64) {
        var epochs = AcknowledgedEpoch()
        #expect(epochs.judge(first, isHello: false, current: 7) == (first == 7 ? .current : .stale))
        #expect(epochs.isNamed)
        for other in [nil, 1, 6, 8, .max] as [Int64?] {
            #expect(epochs.judge(other, isHello: false, current: 7) == .stale)
            #expect(epochs.judge(other, isHello: true, current: 7) == .earlier)
        }
        for isHello in [true, false] { #expect(epochs.judge(7, isHello: isHello, current: 7) == .current) }
        var again = AcknowledgedEpoch(isNamed: true)
        #expect(again.judge(nil, isHello: false, current: 7) == .stale)
    }

    @Test("0 is the epoch of a device that names epochs and doesn't know this one", arguments: [true, false])
    func unknown(isHello: Bool) {
        var epochs = AcknowledgedEpoch()
        #expect(epochs.judge(0, isHello: isHello, current: 7) == (isHello ? .earlier : .stale))
        #expect(epochs.isNamed)
    }

    @Test("a session is of this start, but a position in it may be of an earlier one: it settles nothing")
    func session() {
        for isHello in [true, false] {
            var epochs = AcknowledgedEpoch()
            #expect(epochs.judge(nil, isHello: isHello, isOfSession: true, current: 7) == .current)
            for other in [0, 5, 9] as [Int64] {
                #expect(epochs.judge(other, isHello: isHello, isOfSession: true, current: 7) == .earlier)
            }
            #expect(epochs.judge(7, isHello: isHello, isOfSession: true, current: 7) == .current)
        }
    }
}
