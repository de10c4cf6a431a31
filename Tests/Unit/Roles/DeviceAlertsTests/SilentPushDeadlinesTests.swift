import Testing
import Wire

@testable import DeviceAlerts

/// Silent pushes under way, by any clock.
@Suite struct SilentPushDeadlinesTests {
    @Test("each is completed once, or fails after 30 s")
    func deadlines() {
        var pushes = SilentPushDeadlines()
        #expect(pushes.begin("a", now: 0) == .begun && pushes.begin("a", now: 1) == .underWay)
        #expect(pushes.begin("b", now: 10_000) == .begun && pushes.next == 30_000)
        #expect(pushes.complete("a", .newData) && !pushes.complete("a", .newData))
        pushes.expire(now: 39_999)
        #expect(pushes.failed == 0 && pushes.next == 40_000)
        pushes.expire(now: 40_000)
        #expect(pushes.failed == 1 && pushes.next == nil && !pushes.complete("b", .failed))
        #expect(pushes.begin("c", now: 50_000) == .begun && pushes.complete("c", .failed))
        #expect(pushes.total == 3 && pushes.failed == 2)
    }

    @Test("256 at most are under way")
    func capacity() {
        var pushes = SilentPushDeadlines()
        for index in 0..<SilentPushDeadlines.capacity {
            #expect(pushes.begin(NotificationID("n\(index)"), now: 0) == .begun)
        }
        #expect(pushes.begin("more", now: 0) == .tooMany && pushes.total == 256)
        pushes.end()
        #expect(pushes.next == nil && pushes.begin("more", now: 0) == .begun)
    }
}
