import Inbox
import Store
import Testing
import Wire

@Suite struct ReceivedPushesTests {
    @Test("the next one is taken; what came is a duplicate, and what comes too early is a gap")
    func order() throws {
        let database = try Database.open(path: ":memory:", migrations: Inbox.migrations).database
        let verdicts = try database.run { connection throws(StoreError) -> [ReceivedPushes.Verdict] in
            let pushes = ReceivedPushes(connection)
            var verdicts = [try pushes.verdict(on: 2, of: "d"), try pushes.verdict(on: 1, of: "d")]
            try pushes.set(1, of: "d")
            verdicts.append(try pushes.verdict(on: 1, of: "d"))
            _ = try pushes.skip(through: 7, of: "d")
            _ = try pushes.skip(through: 3, of: "d")
            verdicts += [
                try pushes.verdict(on: 3, of: "d"), try pushes.verdict(on: 8, of: "d"),
                try pushes.verdict(on: 8, of: "e"),
            ]
            try pushes.forget("d")
            verdicts.append(try pushes.verdict(on: 1, of: "d"))
            return verdicts
        }
        #expect(
            verdicts == [
                .gap(last: 0), .next, .duplicate(last: 1), .duplicate(last: 7), .next, .gap(last: 0), .next,
            ])
    }
}
