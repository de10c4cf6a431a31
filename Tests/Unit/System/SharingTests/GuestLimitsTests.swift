import Testing

@testable import Sharing

@Suite struct GuestLimitsTests {
    private static let mebibyte = 1 << 20

    /// With these guests, which have introduced themselves.
    private func limits(_ guests: ClosedRange<Int>, at now: UInt64 = 0) -> GuestLimits {
        var limits = GuestLimits()
        for guest in guests {
            #expect(limits.connected(guest, now: now) == true)
            limits.greeted(guest, now: now)
        }
        return limits
    }

    @Test("A connection has five seconds for its hello, whatever else it sends")
    func hello() {
        var limits = limits(1...1)
        #expect(!limits.isWatching)
        #expect(limits.connected(2, now: 1_000) == true)
        #expect(limits.isWatching)
        #expect(limits.holds(2, bytes: 10, hasProgress: true, now: 5_000).isEmpty)
        #expect(limits.overdue(now: 5_999).isEmpty)
        #expect(limits.overdue(now: 6_000) == [.init(session: 2, reason: .noHello)])
        limits.greeted(2, now: 5_999)
        #expect(limits.holds(2, bytes: 0, hasProgress: true, now: 5_999).isEmpty)
        #expect(limits.overdue(now: 1_000_000).isEmpty && !limits.isWatching)
    }

    @Test("More connections than 512 are refused, and each that ends makes room for one")
    func full() {
        var limits = GuestLimits()
        for guest in 1...GuestLimits.guests { #expect(limits.connected(guest, now: 0) == true) }
        #expect(limits.connected(1_000, now: 0) == false)
        #expect(limits.overdue(now: GuestLimits.helloTime).count == GuestLimits.guests)
        limits.ended(7)
        #expect(limits.connected(1_000, now: 0) == true)
        #expect(limits.connected(1_001, now: 0) == false)
    }

    @Test("Bytes that do not move are overdue; any progress gives them their time again")
    func stalled() {
        var limits = limits(1...2)
        #expect(limits.holds(1, bytes: 100, hasProgress: false, now: 1_000).isEmpty)
        #expect(limits.isWatching)
        // More to write is no progress.
        #expect(limits.holds(1, bytes: 200, hasProgress: false, now: 9_000).isEmpty)
        #expect(limits.overdue(now: 1_000 + GuestLimits.stallTime - 1).isEmpty)
        #expect(
            limits.overdue(now: 1_000 + GuestLimits.stallTime) == [.init(session: 1, reason: .stalled(bytes: 200))])
        #expect(limits.holds(1, bytes: 150, hasProgress: true, now: 12_000).isEmpty)
        #expect(limits.overdue(now: 12_000 + GuestLimits.stallTime - 1).isEmpty)
        #expect(limits.holds(1, bytes: 0, hasProgress: true, now: 13_000).isEmpty)
        #expect(!limits.isWatching && limits.overdue(now: .max).isEmpty)
        // An idle guest is not overdue the moment that something waits for it.
        #expect(limits.holds(1, bytes: 5, hasProgress: false, now: 500_000).isEmpty)
        #expect(limits.overdue(now: 500_001).isEmpty)
    }

    @Test("Beyond the total, the guests that read nothing are closed, the largest first, and no more than needed")
    func total() {
        var limits = limits(1...40)
        // Two read slowly, and have the most.
        for guest in 1...2 {
            #expect(limits.holds(guest, bytes: 8 * Self.mebibyte, hasProgress: false, now: 0).isEmpty)
        }
        for guest in 3...12 {
            #expect(limits.holds(guest, bytes: guest * Self.mebibyte / 2, hasProgress: false, now: 0).isEmpty)
        }
        for guest in 1...2 {
            #expect(limits.holds(guest, bytes: 8 * Self.mebibyte, hasProgress: true, now: 4_000).isEmpty)
        }
        let before = limits.heldBytes
        #expect(before == 16 * Self.mebibyte + (3...12).reduce(0) { $0 + $1 * Self.mebibyte / 2 })
        let closings = limits.holds(13, bytes: 16 * Self.mebibyte, hasProgress: true, now: 4_500)
        #expect(closings.map(\.session) == [12])
        for closing in closings { limits.ended(closing.session) }
        #expect(limits.heldBytes <= GuestLimits.totalBytes)
        for guest in 1...40 { limits.ended(guest) }
        #expect(limits.heldBytes == 0 && !limits.isWatching)
    }

    @Test("Calls in progress have a total size; what a guest had goes with it")
    func calls() {
        var limits = limits(1...2)
        #expect(limits.callBegins(1, bytes: GuestLimits.totalBytes - 10) == true)
        #expect(limits.callBegins(2, bytes: 11) == false)
        #expect(limits.callBegins(2, bytes: 10) == true)
        limits.callEnded(2, bytes: 10)
        #expect(limits.callBegins(2, bytes: 11) == false)
        limits.ended(1)
        limits.callEnded(1, bytes: GuestLimits.totalBytes - 10)
        #expect(limits.callBegins(2, bytes: GuestLimits.totalBytes) == true)
        #expect(limits.callBegins(1, bytes: 1) == false)
        #expect(limits.callBegins(2, bytes: 1) == false)
    }

    @Test("What it counts agrees with its connections after any sequence of events")
    func model() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            var limits = GuestLimits()
            var held: [Int: Int] = [:]
            var last = 0
            for step in 0..<300 {
                // Now and then one that has ended, or never was.
                let guest = Int.random(in: max(0, last - 20)...last + 1, using: &random)
                switch Int.random(in: 0..<5, using: &random) {
                case 0:
                    last += 1
                    #expect(limits.connected(last, now: UInt64(step)) == true)
                    held[last] = 0
                case 1: limits.greeted(guest, now: UInt64(step))
                case 2:
                    limits.ended(guest)
                    held[guest] = nil
                default:
                    let bytes = Int.random(in: 0...(8 * Self.mebibyte), using: &random)
                    let closings = limits.holds(guest, bytes: bytes, hasProgress: true, now: UInt64(step))
                    if held[guest] != nil { held[guest] = bytes }
                    for closing in closings {
                        limits.ended(closing.session)
                        held[closing.session] = nil
                    }
                }
                #expect(limits.heldBytes == held.values.reduce(0, +) && limits.heldBytes <= GuestLimits.totalBytes)
            }
        }
    }
}
