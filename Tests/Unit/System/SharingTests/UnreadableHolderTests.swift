import Hosting
import Testing

@testable import Sharing

@Suite struct UnreadableHolderTests {
    private static let cause = HostError(.undecodable, "a frame of 99 bytes")

    @Test("A guest waits longer each time, up to a minute, and reports the first failure of a series")
    func pace() {
        var holder = UnreadableHolder()
        var now: UInt64 = 0
        var delays: [UInt64] = []
        for round in 0..<8 {
            let action = holder.failed(Self.cause, now: now)
            #expect(action.isReported == (round == 0))
            #expect(action.error.code == .undecodable && action.error.message.contains("99"))
            #expect(holder.error == action.error)
            holder.connects()
            #expect(holder.error == nil)
            delays.append(action.delay)
            now += action.delay
        }
        #expect(delays == [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000])
        let later = holder.failed(Self.cause, now: now + 120_001)
        #expect(later.delay == 1_000 && later.isReported)
    }
}
