import Alerts
import Hosting
import JSON
import Notifications
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import DeviceAlerts

/// The switchboard, over a database in memory and a host that shows its alerts itself.
@Suite(.timeLimit(.minutes(1)))
struct DeviceAlertsTests {
    @Test("a push is stored with its alert, shown by the host, recorded, told to the host and to the desktop")
    func push() async throws {
        let bench = try await Bench("host")
        await bench.onLoop { bench in
            bench.alerts.hostAnswers(.present, true)
            bench.alerts.begin()
        }
        _ = try await bench.request(.authorize(status: "authorized", until: 0))
        let notification = Notification(
            NotificationEvent(id: "n1", title: "Hello", body: "World"), receivedAt: 1)
        let judged = await bench.onLoop { $0.alerts.judge?.judge(notification, from: desktop) }
        let saved = try await bench.store { (connection) throws(StoreError) in try judged?.saved(connection) }
        await bench.onLoop { bench in if let saved { bench.alerts.entered(saved) } }
        let question = try await bench.next("a question") { bench in bench.questions.first }
        #expect(question.hook == .present)
        let alert = try JSONValue(parsing: question.json).object?["alert"]?.object
        #expect(alert?["title"] == "Hello" && alert?["body"] == "World")
        question.answer(0)
        let receipt = try await bench.next("a receipt") { bench in bench.receipts.first }
        #expect(receipt == "n1 true desk")
        #expect(try await bench.request(.delivered).array?.count == 1)
        // Its person marks it as read.
        _ = try await bench.request(.respond(desktop: "desk", id: "n1", action: "default", text: nil))
        #expect(try await bench.request(.delivered).array?.isEmpty == true)
        #expect(try await bench.request(.state).object?["counters"]?.object?["responses"] == 1)
        await bench.end()
    }

    @Test("a response to a banner that was shown before its desktop moved to another key finds its alert")
    func moved() async throws {
        let bench = try await Bench("host", inbox: SampleInbox(successors: ["old": desktop]))
        try await bench.store { (connection) throws(StoreError) in
            let table = AlertTable(connection)
            for id: AlertID in ["n1", "n2"] {
                let row = try table.add(NewAlert(key(id), AlertContent(title: "Hello"), dueAt: 1)).row
                try connection.execute("UPDATE alert SET state = 3 WHERE row = ?", [.integer(row)])
            }
        }
        try await bench.beginAuthorized()
        _ = try await bench.request(.respond(desktop: "old", id: "n1", action: "default", text: nil))
        #expect(try await bench.request(.state).object?["counters"]?.object?["responses"] == 1)
        _ = try await bench.request(.remove(desktop: "old", id: "n2", thread: nil))
        #expect(try await bench.request(.delivered).array?.isEmpty == true)
        await bench.end()
    }

    @Test("late alerts of an earlier process are shown at the start, without a wait for others", arguments: [1, 2])
    func earlierLate(count: Int) async throws {
        let bench = try await Bench("host", lateAlerts: .summary)
        try await bench.store { (connection) throws(StoreError) in
            let table = AlertTable(connection)
            for number in 1...count {
                let alert = NewAlert(key(AlertID("n\(number)")), AlertContent(title: "Late"), dueAt: 1, isLate: true)
                try table.hold(try table.add(alert).row, .late)
            }
        }
        _ = try await bench.request(.authorize(status: "authorized", until: 0))
        await bench.onLoop { bench in
            bench.alerts.hostAnswers(.present, true)
            bench.alerts.begin()
        }
        // The store works in order: whatever the start asked of it before it returned is done.
        let (held, due) = try await bench.store { (connection) throws(StoreError) in
            let table = AlertTable(connection)
            return (try table.heldCount(.late), try table.due().map(\.content.title))
        }
        let title = count == 1 ? "Late" : "2 notifications while you were away"
        #expect(held == 0 && due == [title])
        let question = try await bench.next("a question") { bench in bench.questions.first }
        #expect(question.hook == .present && question.json.contains(title))
        await bench.end()
    }

    @Test(
        "alerts whose notifications were read meanwhile are not part of the summary at the start; banners of such close",
        arguments: [1, 2, 3])
    func earlierRead(count: Int) async throws {
        let bench = try await Bench("host", lateAlerts: .summary, inbox: SampleInbox(read: ["n1", "shown"]))
        try await bench.holdLate((1...count).map { AlertID("n\($0)") })
        try await bench.store { (connection) throws(StoreError) in
            let table = AlertTable(connection)
            let shown = try table.add(NewAlert(key("shown"), AlertContent(title: "Shown"), dueAt: 1))
            _ = try table.delivered(shown.row, at: 1, handle: key("shown").bannerID)
        }
        try await bench.beginAuthorized()
        let (held, due, delivered) = try await bench.store { (connection) throws(StoreError) in
            let table = AlertTable(connection)
            return (try table.heldCount(.late), try table.due().map(\.content.title), try table.delivered().count)
        }
        let titles = [[], ["Late n2"], ["2 notifications while you were away"]][count - 1]
        #expect(held == 0 && due == titles && delivered == 0)
        // The banner of the last run is withdrawn, and no other was put up before.
        let withdrawn = try await bench.next("a withdrawal") { bench in bench.questions.first }
        #expect(withdrawn.json.contains("\"withdraw\":true") && withdrawn.json.contains("shown"))
        if let title = titles.first {
            let question = try await bench.next("a question") { bench in bench.questions.dropFirst().first }
            #expect(question.json.contains(title))
        }
        await bench.end()
    }

    @Test("late alerts that follow the summary of the start are counted with it, as theirs takes its place")
    func lateAfterStart() async throws {
        let bench = try await Bench("host", lateAlerts: .summary)
        try await bench.holdLate(["n1", "n2", "n3"])
        try await bench.beginAuthorized()
        let question = try await bench.next("a question") { bench in bench.questions.first }
        #expect(question.json.contains("3 notifications while you were away"))
        question.answer(0)
        try await until("the summary is recorded as shown") {
            try await bench.request(.delivered).array?.count == 1
        }
        try await bench.holdLate(["n4", "n5"])
        let digest = try await bench.store { (connection) throws(StoreError) in
            try DigestWork.release(.late).run(
                AlertTransaction(connection: connection, inbox: SampleInbox(), judge: nil))
        }
        #expect(digest?.content.title == "5 notifications while you were away" && digest?.handle != nil)
        await bench.end()
    }

    @Test("if the store refuses writes at the start, what was read counts, and late alerts stay for the next start")
    func refusedWrites() async throws {
        let bench = try await Bench("host", lateAlerts: .summary, inbox: SampleInbox(unread: 7))
        try await bench.holdLate(["n1", "n2"])
        try await bench.store { (connection) throws(StoreError) in
            _ = try connection.execute(
                "CREATE TEMP TRIGGER refused BEFORE INSERT ON main.alert BEGIN SELECT RAISE(ABORT, 'refused'); END")
        }
        try await bench.beginAuthorized()
        let problem = try await bench.next("a problem") { bench in bench.events.first { $0.name == .problem } }
        #expect(problem.data["code"] == "store_failed")
        let held = try await bench.store { (connection) throws(StoreError) in
            try AlertTable(connection).heldCount(.late)
        }
        #expect(held == 2)
        #expect(try await bench.request(.state).object?["badge"] == 7)
        await bench.end()
    }

    @Test("delivered alerts whose notification server has ended are removed, whether or not their banners were closed")
    func lostServer() async throws {
        let bench = try await Bench("host")
        try await bench.store { (connection) throws(StoreError) in
            let table = AlertTable(connection)
            let handles: [(AlertID, String?)] = [
                ("n1", "number/1/old"), ("n2", "number/2/old"), ("n3", "number/1/new"), ("n4", nil),
            ]
            for (id, handle) in handles {
                let added = try table.add(NewAlert(key(id), AlertContent(title: "Title"), dueAt: 1))
                _ = try table.delivered(added.row, at: 1, handle: handle)
            }
        }
        let outcome = try await bench.store { (connection) throws(StoreError) in
            try RecordWork.removeLost { $0.hasSuffix("/old") }.run(
                AlertTransaction(connection: connection, inbox: SampleInbox(), judge: nil))
        }
        guard case .removed(let removed) = outcome else { return #expect(Bool(false), "nothing is removed") }
        #expect(removed.map(\.key) == [key("n2"), key("n1")])
        #expect(try await bench.request(.delivered).array?.count == 2)
        await bench.end()
    }

    @Test("the burst limit is the program's until the user sets one")
    func burstLimit() async throws {
        let bench = try await Bench("host", ["burst_limit": 5])
        #expect(try await bench.request(.settings).object?["burstLimit"] == 5)
        #expect(try await bench.request(.change(["enabled": true])).object?["burstLimit"] == 5)
        #expect(await bench.onLoop { $0.alerts.judge?.settings.burstLimit } == 5)
        #expect(try await bench.request(.change(["burstLimit": 0])).object?["burstLimit"] == 0)
        #expect(await bench.onLoop { $0.alerts.judge?.settings.burstLimit } == 0)
        await bench.end()
    }

    @Test("without alerts it answers what it can, and refuses the rest")
    func none() async throws {
        let bench = try await Bench("none")
        #expect(await bench.onLoop { $0.alerts.judge == nil })
        #expect(try await bench.request(.state).object?["presenter"]?.object?["kind"] == "none")
        for request in [
            AlertRequest.badge(1), .addReminder(["title": "Tea"]), .requestAuthorization(isProvisional: false, 1_000),
            .position(latitude: 0, longitude: 0, accuracy: 1), .respond(desktop: nil, id: "a", action: "b", text: nil),
        ] {
            await #expect(throws: HostError.self) { try await bench.request(request) }
        }
        _ = try await bench.request(.authorize(status: "denied", until: 0))
        _ = try await bench.request(.change(["enabled": false]))
        #expect(try await bench.request(.settings).object?["enabled"] == false)
        await bench.end()
    }
}

/// A device around the alerts: keeps what they ask of it.
@EventLoop
private final class Bench: AlertHost {
    let database: Database
    private let configuration: AlertConfiguration
    private let inbox: SampleInbox
    private(set) lazy var alerts = DeviceAlerts(
        configuration, nil, host: self, inbox: inbox,
        HostChannel(
            post: { [weak self] event in EventLoop.post { self?.events.append(event) } }, waits: { _ in },
            ask: { [weak self] question in EventLoop.post { self?.questions.append(question) } }, log: { _, _ in }),
        database)
    var questions: [HostQuestion] = []
    var receipts: [String] = []
    var events: [HostEvent] = []
    var senders: [PeerID: String] = [:]

    init(
        _ kind: String = "host", _ options: JSONObject = [:], lateAlerts: LateAlerts = .none,
        inbox: SampleInbox = SampleInbox()
    ) throws {
        try EventLoop.start()
        self.inbox = inbox
        configuration = try sampleConfiguration(kind, options, lateAlerts: lateAlerts)
        let migrations = AlertTable.migrations + ReminderTable.migrations + KeptEvents.migrations
        database = try Database.open(path: ":memory:", migrations: migrations).database
    }

    nonisolated func onLoop<T: Sendable>(_ work: @escaping @Sendable @EventLoop (Bench) -> T) async -> T {
        await work(self)
    }

    nonisolated func request(_ request: AlertRequest) async throws -> JSONValue {
        let result = await withCheckedContinuation { continuation in
            EventLoop.post { self.alerts.execute(request) { continuation.resume(returning: $0) } }
        }
        return try result.get().value
    }

    nonisolated func store<T: Sendable>(
        _ work: @escaping @Sendable (Connection) throws(StoreError) -> T
    ) async throws -> T {
        try await withCheckedContinuation { continuation in
            database.submit(work) { continuation.resume(returning: $0) }
        }.get()
    }

    /// Stores alerts as held back because they came late.
    nonisolated func holdLate(_ ids: [AlertID]) async throws {
        try await store { (connection) throws(StoreError) in
            let table = AlertTable(connection)
            for id in ids {
                let alert = NewAlert(key(id), AlertContent(title: "Late \(id.text)"), dueAt: 1, isLate: true)
                try table.hold(try table.add(alert).row, .late)
            }
        }
    }

    /// Starts with the permission to show alerts, and a host that does.
    nonisolated func beginAuthorized() async throws {
        _ = try await request(.authorize(status: "authorized", until: 0))
        await onLoop { bench in
            bench.alerts.hostAnswers(.present, true)
            bench.alerts.begin()
        }
    }

    /// Waits for it, at most 10 s.
    nonisolated func next<T: Sendable>(
        _ what: String, _ find: @escaping @Sendable @EventLoop (Bench) -> T?
    ) async throws -> T {
        var found: T?
        try await until(what) {
            found = await onLoop(find)
            return found != nil
        }
        return try #require(found)
    }

    nonisolated func end() async {
        await onLoop { $0.alerts.end() }
        database.close()
    }

    func markRead(_ notification: NotificationID, of desktop: PeerID) {}

    func sender(_ desktop: PeerID) -> String? { senders[desktop] }

    func sendReceipt(id: NotificationID, presented: Bool, to desktop: PeerID) {
        receipts.append("\(id.text) \(presented) \(desktop.text)")
    }
}

private struct SampleInbox: AlertInbox {
    /// The others are unread.
    var read: Set<NotificationID> = []
    var unread: Int64 = 0
    var successors: [PeerID: PeerID] = [:]

    func notification(
        _ id: NotificationID, of desktop: PeerID, _ connection: Connection
    ) throws(StoreError) -> Notification? { nil }

    func isUnread(_ id: NotificationID, of desktop: PeerID, _ connection: Connection) throws(StoreError) -> Bool {
        !read.contains(id)
    }

    func unreadCount(_ connection: Connection) throws(StoreError) -> Int64 { unread }

    func successor(of desktop: PeerID, _ connection: Connection) throws(StoreError) -> PeerID? { successors[desktop] }
}
