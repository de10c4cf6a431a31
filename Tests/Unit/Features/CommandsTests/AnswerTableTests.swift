import JSON
import Store
import Testing
import Wire

@testable import Commands

@Suite struct AnswerTableTests {
    private func key(_ id: RequestID, of device: PeerID = "did:a", _ method: String = "m") -> AnswerTable.Key {
        AnswerTable.Key(device: device, id: id, method: method)
    }

    private func run<T: Sendable>(_ work: @escaping @Sendable (Connection) throws(StoreError) -> T) throws -> T {
        let database = try Database.open(path: ":memory:", migrations: AnswerTable.migrations).database
        defer { database.close() }
        return try database.run(work)
    }

    @Test("an answer is there for its device and its id alone, with its method")
    func keep() throws {
        let (own, other, unknown) = try run { (connection) throws(StoreError) in
            let answers = AnswerTable(connection)
            try answers.keep(["n": 1], isOpen: false, to: key("1"), now: 5)
            return (
                try answers.answer(to: key("1")), try answers.answer(to: key("1", of: "did:b")),
                try answers.answer(to: key("2"))
            )
        }
        #expect(own == AnswerTable.Answer(method: "m", result: ["n": 1], isOpen: false))
        #expect(other == nil && unknown == nil)
    }

    @Test("what is open is completed, or after a start known no better")
    func open() throws {
        let (completed, closed) = try run { (connection) throws(StoreError) in
            let answers = AnswerTable(connection)
            try answers.keep(["delivered": false], isOpen: true, to: key("1"), now: 5)
            try answers.keep(["delivered": false], isOpen: true, to: key("2"), now: 5)
            try answers.complete(["delivered": true], to: key("1"))
            let completed = try answers.answer(to: key("1"))
            try answers.closeAll()
            return (completed, try answers.answer(to: key("2")))
        }
        #expect(completed == AnswerTable.Answer(method: "m", result: ["delivered": true], isOpen: false))
        #expect(closed == AnswerTable.Answer(method: "m", result: ["delivered": false], isOpen: false))
    }

    @Test("answers are kept for two days, and so many for each device; the oldest go")
    func bounds() throws {
        let (aged, young, counts) = try run { (connection) throws(StoreError) in
            let answers = AnswerTable(connection, limit: 10)
            try answers.keep([:], isOpen: false, to: key("old"), now: 0)
            try answers.keep([:], isOpen: false, to: key("quiet", of: "did:b"), now: 1)
            try answers.prune(now: AnswerTable.lifetime)
            let young = try answers.answer(to: key("old"))
            try answers.prune(now: AnswerTable.lifetime + 1)
            let aged = try answers.answer(to: key("old"))
            for number in 0..<1_000 {
                try answers.keep([:], isOpen: false, to: key(RequestID("\(number)")), now: 2)
            }
            let counts = try connection.query(
                "SELECT device, count(*) FROM command_answer GROUP BY device ORDER BY device"
            ) { (row) throws(StoreError) in try row.integer(1) }
            return (aged, young, counts)
        }
        #expect(young != nil && aged == nil)
        #expect(counts[0] >= 10 && counts[0] < 10 + 128 && counts[1] == 1)
    }

    @Test("the difference of two clocks is believed up to five minutes; what came late is no difference")
    func clocks() {
        var lead = ClockLead()
        #expect(lead.moment(now: 1_000_000) == 1_000_000)
        lead.note(sealedAt: 940_000, now: 1_000_000)
        #expect(lead.moment(now: 1_000_000) == 940_000)
        // Held up for a minute.
        lead.note(sealedAt: 880_000, now: 1_000_000)
        #expect(lead.moment(now: 1_000_000) == 939_063)
        lead.note(sealedAt: 940_000, now: 1_000_000)
        #expect(lead.moment(now: 1_000_000) == 940_000)
        var far = ClockLead()
        far.note(sealedAt: 0, now: 10_000_000)
        #expect(far.moment(now: 10_000_000) == 10_000_000 - ClockLead.limit)
        // A device that is ahead gets no more time, and none less.
        var ahead = ClockLead()
        ahead.note(sealedAt: 2_000_000, now: 1_000_000)
        #expect(ahead.moment(now: 1_000_000) == 1_000_000)
        var extreme = ClockLead()
        extreme.note(sealedAt: .min, now: .max)
        #expect(extreme.moment(now: .min) == .min)
        // One that was forgotten begins anew.
        #expect(ClockLead().moment(now: 7) == 7)
    }
}
