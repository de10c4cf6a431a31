@testable import History
import JSON
@testable import Notifications
import Store
import TestSupport
import Testing
import Wire

/// The history against a plain list: whatever is done, every question has the list's answer.
@Suite struct HistoryModelTests {
    private struct Entry {
        var note: Notifications.Notification
        let row: Int64
    }

    private static let words = ["alpha", "beta", "gamma", "delta"]

    @Test("every page and every total is the list's", arguments: 1...25)
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let desktop = try DesktopFixture()
        var list: [Entry] = []
        var clock: Int64 = 0
        var inserted: Int64 = 0
        for _ in 0..<160 {
            switch Int.random(in: 0..<20, using: &random) {
            case 0: _ = try markOne(&list, desktop, &random)
            case 1:
                guard let victim = list.randomElement(using: &random)?.note.id else { continue }
                _ = try desktop.handle(.delete, ["notificationId": .string(victim.text)])
                list.removeAll { $0.note.id == victim }
            case 2 where Int.random(in: 0..<6, using: &random) == 0:
                let result = try desktop.result(.clearAll)
                #expect(result["clearedCount"] == .integer(Int64(list.count)))
                list = []
            case 3 where Int.random(in: 0..<6, using: &random) == 0:
                let unread = list.filter { !$0.note.read }.count
                #expect(try desktop.result(.markAllAsRead)["markedCount"] == .integer(Int64(unread)))
                for index in list.indices { list[index].note.read = true }
            case 4 where Int.random(in: 0..<4, using: &random) == 0:
                try prune(&list, desktop, now: clock, &random)
            case 5...8: try ask(list, desktop, &random)
            case _:
                // Now and then a day passes, two come at one moment, or the clock is set back.
                clock += [0, 0, 1, 86_399_999, 86_400_000, -5].randomElement(using: &random) ?? 0
                clock = max(0, clock)
                inserted += 1
                let note = Notification(
                    id: NotificationID("n\(inserted)"),
                    title: HistoryModelTests.words.randomElement(using: &random) ?? "",
                    body: HistoryModelTests.words.randomElement(using: &random) ?? "",
                    priority: Priority.allCases.randomElement(using: &random) ?? .normal,
                    source: NotificationSource.allCases.randomElement(using: &random) ?? .pc, createdAt: clock,
                    receivedAt: clock)
                try desktop.database.run { connection throws(StoreError) in
                    try History(connection).insert(note, icon: nil, target: nil)
                }
                list.append(Entry(note: note, row: inserted))
            }
        }
        for _ in 0..<40 { try ask(list, desktop, &random) }
    }

    private func markOne(
        _ list: inout [Entry], _ desktop: DesktopFixture, _ random: inout SeededGenerator
    ) throws {
        guard let index = list.indices.randomElement(using: &random) else { return }
        let result = try desktop.result(.markAsRead, ["notificationId": .string(list[index].note.id.text)])
        #expect(result["markedCount"] == (list[index].note.read ? 0 : 1))
        list[index].note.read = true
    }

    private func prune(
        _ list: inout [Entry], _ desktop: DesktopFixture, now: Int64, _ random: inout SeededGenerator
    ) throws {
        var settings = DesktopSettings()
        settings.retentionRows = Int64.random(in: 0...60, using: &random)
        settings.retentionDays = Int64.random(in: 0...40, using: &random)
        let (rows, days) = (settings.retentionRows, settings.retentionDays)
        let before = list.count
        if days > 0 { list.removeAll { $0.note.createdAt < now - days * 86_400_000 } }
        if rows > 0, list.count > rows {
            let oldest = list.sorted { ($0.note.createdAt, $0.row) < ($1.note.createdAt, $1.row) }
            let gone = Set(oldest.prefix(list.count - Int(rows)).map(\.row))
            list.removeAll { gone.contains($0.row) }
        }
        let pruned = try desktop.database.run { [settings] connection throws(StoreError) in
            try History(connection).prune(settings, now: now)
        }
        #expect(pruned == before - list.count)
    }

    /// Asks for all pages of one random question, by the places where they end and by offset.
    private func ask(_ list: [Entry], _ desktop: DesktopFixture, _ random: inout SeededGenerator) throws {
        var query = HistoryQuery()
        query.limit = Int64.random(in: 1...12, using: &random)
        query.unreadOnly = Int.random(in: 0..<3, using: &random) == 0
        query.sort = HistoryQuery.Sort.allCases.randomElement(using: &random) ?? .newest
        if Bool.random(using: &random) { query.priority = Priority.allCases.randomElement(using: &random) }
        if Bool.random(using: &random) { query.source = NotificationSource.allCases.randomElement(using: &random) }
        let moments = list.map(\.note.createdAt) + [0, 86_400_000, 172_799_999]
        if Bool.random(using: &random) { query.since = moments.randomElement(using: &random) }
        if Bool.random(using: &random) { query.until = moments.randomElement(using: &random) }
        if Int.random(in: 0..<3, using: &random) == 0 {
            query.query = HistoryModelTests.words.randomElement(using: &random)
        }
        let expected = answer(list, to: query)
        let unread = Int64(list.count { !$0.note.read })
        var seen: [NotificationID] = []
        var before: String?
        repeat {
            query.before = before
            // Some pages end before their rows do.
            let page = try page(query, bytes: [.max, 1, 700].randomElement(using: &random) ?? .max, of: desktop)
            #expect(page.total == Int64(expected.count), "\(query)")
            #expect(page.unreadCount == unread)
            #expect(page.notifications.count <= query.limit)
            seen += page.notifications.map(\.id)
            before = page.next
        } while before != nil && seen.count <= expected.count
        #expect(seen == expected, "\(query)")
        query.before = nil
        query.offset = Int64.random(in: 0...Int64(expected.count + 1), using: &random)
        let page = try page(query, of: desktop)
        #expect(
            page.notifications.map(\.id) == Array(expected.dropFirst(Int(query.offset)).prefix(Int(query.limit))),
            "\(query)")
    }

    private func page(
        _ query: HistoryQuery, bytes: Int = HistoryQuery.pageBytes, of desktop: DesktopFixture
    ) throws -> History.Page {
        let page = try desktop.database.run { connection throws(StoreError) in
            try History(connection).page(query, bytes: bytes)
        }
        return try #require(page)
    }

    private func answer(_ list: [Entry], to query: HistoryQuery) -> [NotificationID] {
        list.filter { entry in
            let note = entry.note
            return (!query.unreadOnly || !note.read) && (query.priority ?? note.priority) == note.priority
                && (query.source ?? note.source) == note.source && note.createdAt >= query.since ?? 0
                && note.createdAt <= query.until ?? .max
                && (query.query.map { note.title == $0 || note.body == $0 } ?? true)
        }.sorted { left, right in
            // A search is in the order of arrival.
            let moment = { (entry: Entry) in query.query == nil ? entry.note.createdAt : 0 }
            let isNewer = (moment(left), left.row) > (moment(right), right.row)
            switch query.sort {
            case .newest: return isNewer
            case .oldest: return !isNewer
            case .priority:
                return left.note.priority == right.note.priority ? isNewer : left.note.priority > right.note.priority
            case .unread: return left.note.read == right.note.read ? isNewer : right.note.read
            }
        }.map(\.note.id)
    }
}
