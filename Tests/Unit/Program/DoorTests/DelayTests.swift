import Testing

@testable import Door

@Suite("When something is to be pushed")
struct DelayTests {
    private static let now: Int64 = 1_700_000_000_000

    @Test(
        "durations and moments are read as ntfy writes them",
        arguments: [
            ("30", 30_000), ("30s", 30_000), ("20 min", 1_200_000), ("2h", 7_200_000), ("1 day", 86_400_000),
            ("366d", 366 * 86_400_000), ("1700000060", 60_000), ("1600000000", 0), ("0", 0),
        ])
    func readable(_ text: String, _ after: Int64) throws {
        #expect(try Delay.moment(text, now: Self.now) == Self.now + after)
    }

    @Test("what is unclear or too far ahead is refused, whatever the number")
    func refused() {
        for text in ["", "soon", "tomorrow, 10am", "-5", "5 weeks", "1.5h", "١٠"] {
            #expect(throws: DoorError.delayUnreadable) { try Delay.moment(text, now: Self.now) }
        }
        #expect(throws: DoorError.delayUnreadable) { try Delay.moment("99999999999999999999", now: Self.now) }
        for text in ["367d", "9223372036854775807d", "9223372036854775807", "1799999999999"] {
            #expect(throws: DoorError.delayTooLarge) { try Delay.moment(text, now: Self.now) }
        }
    }
}
