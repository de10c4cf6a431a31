import TestSupport
import Testing
import Transport

@testable import Cluster

@Suite struct PacedRoundsTests {
    @EventLoop
    final class Visits {
        var all: [[UInt8]] = []
    }

    @Test @EventLoop func eachNameIsVisitedOnceARoundAndThoseInAHurryFirst() async throws {
        let visits = Visits()
        let rounds = PacedRounds(every: 500) { visits.all.append($0) }
        for number in 0..<10 as Range<UInt8> { rounds.add([number]) }
        rounds.add([3])
        for _ in 0..<5 { rounds.hurry([9]) }
        rounds.hurry([77])
        try await until("a round") { visits.all.count >= 11 }
        #expect(visits.all.first == [9] && !visits.all.contains([77]))
        #expect(Set(visits.all.dropFirst().prefix(10)).count == 10)
        for number in 0..<9 as Range<UInt8> { rounds.remove([number]) }
        visits.all = []
        try await until("another round") { visits.all.count >= 2 }
        #expect(Set(visits.all) == [[9]])
        rounds.remove([9])
        rounds.remove([9])
    }
}
