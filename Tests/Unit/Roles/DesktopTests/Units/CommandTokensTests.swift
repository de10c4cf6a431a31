import Delivery
import History
import Pairing
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop

/// Each paired device's command tokens are in its session.
@Suite(.timeLimit(.minutes(1))) @EventLoop
struct CommandTokensTests {
    private let limiter = RateLimiter(perSecond: 1, burst: 1)
    private let a = UnitBench.device(1)
    private let b = UnitBench.device(2)
    private let c = UnitBench.device(3)

    private func take(_ device: PairedDevice, _ book: DeviceBook, now: UInt64) -> RateLimiter.Verdict? {
        book.update(device.did) { limiter.take(from: &$0.commandTokens, now: now) }
    }

    @Test("a device's limit affects no other device, and a device that was unpaired begins anew")
    func devices() {
        let book = DeviceBook([a, b], outboxes: [:], reminders: UnpairReminders([]))
        #expect(take(a, book, now: 0) == .allowed)
        #expect(take(b, book, now: 0) == .allowed)
        #expect(take(a, book, now: 0) != .allowed)
        _ = book.forget(a.did)
        book.put(a)
        #expect(take(a, book, now: 0) == .allowed)
    }

    @Test("only paired devices have tokens: there are never more buckets than devices")
    func bound() {
        let book = DeviceBook([a, b], outboxes: [:], reminders: UnpairReminders([]))
        #expect(take(a, book, now: 0) == .allowed)
        #expect(take(b, book, now: 1) == .allowed)
        _ = book.forget(a.did)
        #expect(take(a, book, now: 1) == nil)
        book.put(c)
        #expect(take(c, book, now: 2) == .allowed)
        #expect(take(b, book, now: 3) != .allowed)
        #expect(take(c, book, now: 3) != .allowed)
        _ = book.forget(c.did)
        book.put(a)
        #expect(take(a, book, now: 3) == .allowed)
        #expect(book.count == 2)
    }
}
