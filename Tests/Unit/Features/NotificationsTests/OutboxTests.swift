@testable import Delivery
@testable import History
import JSON
@testable import Notifications
import Store
import Testing
import Wire

@Suite struct OutboxTests {
    private let database: Database
    private let device: PeerID = "did:key:a"
    private let phone: PeerID = "did:key:b"

    init() throws { database = try Database.open(path: ":memory:", migrations: History.migrations).database }

    private func run<T: Sendable>(_ work: @escaping @Sendable (Outbox) throws(StoreError) -> T) throws -> T {
        try database.run { connection throws(StoreError) in try work(Outbox(connection)) }
    }

    private func enqueue(
        _ id: NotificationID, key: String? = nil, silenced: Bool = false, expiresAt: EpochMilliseconds? = nil,
        now: EpochMilliseconds = 0
    ) throws -> [PeerID: Int64] {
        var richer = RicherFields()
        richer.collapseKey = key
        richer.silenced = silenced ? true : nil
        richer.expiresAt = expiresAt
        let event = NotificationEvent(id: id, title: "T", timestamp: 1, data: ["k": 1], richer: richer)
        let recipients = [
            Outbox.Recipient(device, isSealed: true), Outbox.Recipient(phone, isSealed: false),
        ]
        return try run { outbox throws(StoreError) in try outbox.enqueue(event, to: recipients, now: now) }
    }

    private func page(_ from: Int64 = 1, _ through: Int64 = 100, now: EpochMilliseconds = 0) throws -> Outbox.Page {
        let device = device
        return try run { outbox throws(StoreError) in
            try outbox.page(of: device, from: from, through: through, now: ExpiryMoment(now))
        }
    }

    private func acknowledge(_ seq: Int64, by peer: PeerID? = nil) throws -> Outbox.Position {
        let peer = peer ?? device
        return try run { outbox throws(StoreError) in try outbox.acknowledge(through: seq, by: peer) }
    }

    private func pushes() throws -> Int64 {
        try database.run { connection throws(StoreError) in
            try connection.integer("SELECT count(*) FROM outbox_push")
        }
    }

    @Test("each device counts for itself; a push comes back as it was put in, with its number")
    func numbers() throws {
        #expect(try enqueue("n1") == [device: 1, phone: 1])
        #expect(try enqueue("n2") == [device: 2, phone: 2])
        let page = try page()
        #expect(page.entries.map(\.seq) == [1, 2])
        #expect(page.through == 100)
        let event = try #require(page.entries.last?.event)
        #expect(event.id == "n2" && event.pushSeq == 2 && event.data == ["k": 1] && event.timestamp == 1)
    }

    @Test("a push lies there once, and goes with its last entry")
    func shared() throws {
        _ = try enqueue("n1")
        #expect(try pushes() == 1)
        #expect(try acknowledge(1) == Outbox.Position(last: 1, acknowledged: 1))
        #expect(try pushes() == 1)
        _ = try acknowledge(1, by: phone)
        #expect(try pushes() == 0)
    }

    @Test("what is silenced is for devices that know what that is, and not for deployed phones")
    func silenced() throws {
        #expect(try enqueue("n1", silenced: true) == [device: 1])
        #expect(try enqueue("n2") == [device: 2, phone: 1])
    }

    @Test("a push with the same collapseKey takes the place of the one that waits")
    func collapse() throws {
        for id in ["n1", "n2", "n3"] as [NotificationID] { _ = try enqueue(id, key: id == "n2" ? "other" : "k") }
        #expect(try page().entries.map(\.event.id) == ["n2", "n3"])
    }

    @Test("what expires leaves a gap: by its own time, else after 30 days")
    func expiry() throws {
        _ = try enqueue("n1", expiresAt: 500)
        _ = try enqueue("n2")
        #expect(try page(now: 499).entries.map(\.seq) == [1, 2])
        #expect(try page(now: 500).entries.map(\.seq) == [2])
        #expect(try page(now: Outbox.lifetime).entries.isEmpty)
        #expect(try pushes() == 2, "the phone's entries are still there")
    }

    @Test("a clock that may be wrong lets nothing go; what is let go is reported")
    func doubtedExpiry() throws {
        _ = try enqueue("n1", expiresAt: 500)
        _ = try enqueue("n2", expiresAt: 9_000)
        let device = device
        func page(_ now: ExpiryMoment) throws -> Outbox.Page {
            try run { outbox throws(StoreError) in try outbox.page(of: device, from: 1, through: 2, now: now) }
        }
        let doubted = try page(ExpiryMoment(1_000, doubtedThrough: 900))
        #expect(doubted.entries.map(\.seq) == [1, 2] && doubted.expired.isEmpty)
        let settled = try page(ExpiryMoment(1_000))
        #expect(settled.entries.map(\.seq) == [2] && settled.expired == ["n1"])
        #expect(try page(ExpiryMoment(1_000)).expired.isEmpty, "once")
    }

    @Test("a long gap is one page, and many entries are several")
    func pages() throws {
        for number in 0..<40 { _ = try enqueue(NotificationID("n\(number)")) }
        let first = try page(1, 40)
        #expect(first.entries.count == Outbox.pageLimit && first.through == Int64(Outbox.pageLimit))
        _ = try run { outbox throws(StoreError) in try outbox.withdrawAll() }
        #expect(try page(1, 40) == Outbox.Page(from: 1, through: 40, entries: []))
    }

    @Test("the oldest give way beyond 10,000")
    func limit() throws {
        let device = device
        let count = try database.run { connection throws(StoreError) in
            let outbox = Outbox(connection)
            for number in 0..<(Outbox.limit + 5) {
                _ = try outbox.enqueue(
                    NotificationEvent(id: NotificationID("n\(number)"), title: "T"),
                    to: [.init(device, isSealed: true)], now: 0)
            }
            return try connection.integer("SELECT count(*) FROM outbox")
        }
        #expect(count == Outbox.limit)
        #expect(try page(1, 20).entries.first?.seq == 6)
    }

    @Test("a device that is further than this file: what waits is counted on from there")
    func shift() throws {
        for id in ["n1", "n2", "n3"] as [NotificationID] { _ = try enqueue(id) }
        _ = try acknowledge(1)
        var expected = Outbox.Position(last: 502, acknowledged: 500)
        expected.shift = 499
        #expect(try acknowledge(500) == expected)
        #expect(try page(501, 502).entries.map(\.event.id) == ["n2", "n3"])
        #expect(try enqueue("n4")[device] == 503)
    }

    @Test("a device that has lost what it had is told to skip what is gone")
    func backward() throws {
        for id in ["n1", "n2", "n3"] as [NotificationID] { _ = try enqueue(id) }
        _ = try acknowledge(2)
        #expect(try acknowledge(0) == Outbox.Position(last: 3, acknowledged: 0))
        #expect(try page(1, 3).entries.map(\.seq) == [3])
    }

    @Test("deleting a notification takes it back from whoever has not got it; unpairing forgets a device")
    func withdraw() throws {
        for id in ["n1", "n2"] as [NotificationID] { _ = try enqueue(id) }
        _ = try run { outbox throws(StoreError) in try outbox.withdraw("n1") }
        #expect(try page().entries.map(\.event.id) == ["n2"])
        let phone = phone
        let device = device
        _ = try run { outbox throws(StoreError) in
            try outbox.forget(device)
            try outbox.forget(phone)
        }
        #expect(try pushes() == 0)
        #expect(try run { outbox throws(StoreError) in try outbox.positions() }.isEmpty)
    }

    @Test("the history has one row for each collapseKey and target, its text too")
    func history() throws {
        let fixture = try DesktopFixture()
        for number in 1...3 {
            _ = try fixture.handle(
                .send, ["title": .string("T\(number)"), "collapseKey": "k"], id: NotificationID("n\(number)"))
        }
        _ = try fixture.handle(
            .sendToMobile, ["title": "T4", "collapseKey": "k", "deviceId": "phone-a"], id: "n4")
        let result = try fixture.result(.getHistory)
        #expect(result["total"]?.integer == 2)
        #expect(result["notifications"]?.array?.compactMap { $0["id"]?.string } == ["n4", "n3"])
    }
}
