import JSON
import Testing
import Wire

@testable import Commands

/// Calls whose frames may have been lost: they go out again, under their ids.
@Suite struct RepeatedCallsTests {
    private func addRepeatable(_ calls: inout PendingCalls<Int>, _ id: RequestID, to desktop: PeerID = "d", now: UInt64)
    {
        guard
            case .send = calls.add(
                id, to: desktop, method: "m", deadline: now + 600_000, waiter: 0, isRepeatable: true, now: now)
        else { Issue.record("refused"); return }
    }

    @Test(
        "a connection that ends fails what cannot be sent again; the rest goes out again in order, each time the same")
    func reconnected() {
        var calls = PendingCalls<Int>()
        for id in ["1", "2", "3"] { addRepeatable(&calls, RequestID(id), now: 0) }
        addRepeatable(&calls, "other", to: "e", now: 0)
        _ = calls.add("plain", to: "d", method: "m", deadline: 900_000, waiter: 0)
        #expect(calls.disconnected("d").map(\.id) == ["plain"])
        #expect(calls.count == 4)
        #expect(calls.toRepeat(to: "d", now: 10).map(\.id) == ["1", "2", "3"])
        #expect(calls.toRepeat(to: "d", now: 20).map(\.id) == ["1", "2", "3"])
        #expect(calls.call("1", to: "d")?.sends == 3 && calls.call("1", to: "e") == nil)
        _ = calls.resolve(CommandResponse(id: "2", outcome: .result([:])), from: "d")
        #expect(calls.toRepeat(to: "d", now: 30).map(\.id) == ["1", "3"])
    }

    @Test("an absent desktop fails what was sent once; what was sent again may have been carried out, and waits")
    func absent() {
        var calls = PendingCalls<Int>()
        addRepeatable(&calls, "1", now: 0)
        _ = calls.toRepeat(to: "d", now: 10)
        addRepeatable(&calls, "2", now: 20)
        #expect(calls.peerOffline("d").map(\.id) == ["2"])
        #expect(calls.count == 1)
        #expect(calls.forget("d").map(\.id) == ["1"])
    }

    @Test("what nobody answers is sent again after 5 s, then after 10, 20 and 40, then each minute")
    func silence() {
        var calls = PendingCalls<Int>()
        addRepeatable(&calls, "1", now: 1_000)
        var moments: [UInt64] = []
        while let next = calls.nextDeadline, next < 300_000 {
            if !calls.dueToRepeat(now: next, heard: { _ in nil }).isEmpty { moments.append(next) }
        }
        #expect(moments == [6_000, 16_000, 36_000, 76_000, 136_000, 196_000, 256_000])
        #expect(calls.dueToRepeat(now: 300_000, heard: { _ in nil }).isEmpty)
    }

    @Test("a desktop that answers others is given three times as long")
    func busy() {
        var calls = PendingCalls<Int>()
        addRepeatable(&calls, "1", now: 0)
        #expect(calls.dueToRepeat(now: 5_000, heard: { _ in 4_000 }).isEmpty)
        #expect(calls.nextDeadline == 9_000)
        #expect(calls.dueToRepeat(now: 9_000, heard: { _ in 8_999 }).isEmpty)
        #expect(calls.dueToRepeat(now: 15_000, heard: { _ in 14_999 }).map(\.id) == ["1"])
    }
}
