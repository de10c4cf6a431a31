@testable import Inbox
@testable import Notifications
import Store
import TestSupport
import Testing
import Wire

/// The inbox against a model of it that knows no SQL: what a desktop has, what the device was told, and the changes that
/// wait.
@Suite struct InboxModelTests {
    struct Row: Equatable {
        var isRead: Bool
        var isHanded: Bool
        var isGone = false
    }

    struct Change {
        var change: InboxChange
        var rows: Set<String>
    }

    struct Model {
        /// What the desktop itself has: id -> read. Ids count up with time.
        var truth: [String: Bool] = [:]
        var rows: [String: Row] = [:]
        var changes: [Int64: Change] = [:]
        var beyond: Int64 = 0

        func view(_ id: String) -> InboxView? {
            guard let row = rows[id], !row.isGone else { return nil }
            let touching = changes.values.filter { $0.rows.contains(id) }.map(\.change)
            return InboxView(isRead: row.isRead, under: touching)
        }

        var shown: [String: InboxView] {
            rows.keys.reduce(into: [:]) { shown, id in
                if let view = view(id), !view.isHidden { shown[id] = view }
            }
        }

        var unread: Int64 {
            let rows = Int64(shown.values.filter { !$0.isRead }.count)
            let isMarkedWhole = changes.values.contains {
                $0.change.stage == .pending && ($0.change.kind == .allRead || $0.change.kind == .clear)
            }
            return max(0, rows + (isMarkedWhole ? 0 : beyond))
        }

        mutating func take(out id: String) {
            guard let row = rows[id] else { return }
            if row.isHanded {
                rows[id] = nil
                for number in changes.keys { changes[number]?.rows.remove(id) }
            } else {
                rows[id]?.isGone = true
            }
        }

        mutating func step(_ number: Int64, _ event: (inout InboxChange) -> InboxChange.Step) {
            guard var change = changes[number] else { return }
            switch event(&change.change) {
            case .show: changes[number] = change
            case .putBack: changes[number] = nil
            case .apply:
                changes[number] = nil
                for id in change.rows {
                    switch change.change.kind {
                    case .read, .allRead: rows[id]?.isRead = true
                    case .delete, .clear: take(out: id)
                    }
                }
                if change.change.kind == .allRead || change.change.kind == .clear { beyond = 0 }
            }
        }
    }

    @Test("random changes, answers, events and refreshes leave the inbox as a model of it", arguments: 1...60)
    func model(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let database = try Database.open(path: ":memory:", migrations: Inbox.migrations).database
        let desktop: PeerID = "d"
        var model = Model()
        var made = 0
        func run<T: Sendable>(_ work: @escaping @Sendable (Inbox) throws(StoreError) -> T) throws -> T {
            try database.run { connection throws(StoreError) in try work(Inbox(connection)) }
        }
        for _ in 0..<120 {
            let known = model.shown.keys.sorted()
            switch Int.random(in: 0..<12, using: &random) {
            case 0...2:
                made += 1
                let id = "n\(made)"
                let number = Int64(made)
                model.truth[id] = false
                // Some are only on the desktop.
                guard Int.random(in: 0..<5, using: &random) > 0 else { continue }
                model.rows[id] = Row(isRead: false, isHanded: false)
                _ = try run { inbox throws(StoreError) in
                    try inbox.insert(
                        Notification(id: NotificationID(id), title: "T \(id)", createdAt: number, receivedAt: number),
                        from: desktop)
                }
            case 3:
                let handed = try run { inbox throws(StoreError) in
                    let entries = try inbox.handOver(limit: 2)
                    return entries.map(\.notification.id.text)
                }
                for id in handed {
                    model.rows[id]?.isHanded = true
                    if model.rows[id]?.isGone == true {
                        model.rows[id] = nil
                        for number in model.changes.keys { model.changes[number]?.rows.remove(id) }
                    }
                }
            case 4...5:
                let kind: InboxChange.Kind = Bool.random(using: &random) ? .read : .delete
                guard let id = known.randomElement(using: &random) else { continue }
                let number = try run { inbox throws(StoreError) in
                    try inbox.changes.begin(kind, NotificationID(id), of: desktop, at: 5)
                }
                model.changes[try #require(number)] = Change(change: InboxChange(kind), rows: [id])
            case 6:
                let kind: InboxChange.Kind = Bool.random(using: &random) ? .allRead : .clear
                let number = try run { inbox throws(StoreError) in
                    try inbox.changes.begin(kind, nil, of: desktop, at: 5)
                }
                let rows = model.rows.filter { !$0.value.isGone && (kind == .clear || !$0.value.isRead) }
                model.changes[try #require(number)] = Change(change: InboxChange(kind), rows: Set(rows.keys))
            case 7...8:
                guard let number = model.changes.keys.sorted().randomElement(using: &random) else { continue }
                let endings: [InboxChange.Ending] = [
                    .done, .refused, .queued, .lost(isKept: false), .lost(isKept: true),
                ]
                let ending = endings[Int.random(in: 0..<endings.count, using: &random)]
                if ending == .done, let change = model.changes[number] {
                    for id in change.rows {
                        if change.change.kind == .read || change.change.kind == .allRead {
                            if model.truth[id] != nil { model.truth[id] = true }
                        } else {
                            model.truth[id] = nil
                        }
                    }
                }
                model.step(number) { $0.ended(ending) }
                try run { inbox throws(StoreError) in
                    try inbox.changes.note(RequestID("r\(number)"), of: number)
                    _ = try inbox.changes.end(number, ending)
                }
            case 9:
                guard let id = model.truth.keys.sorted().randomElement(using: &random) else { continue }
                let isDeletion = Bool.random(using: &random)
                if isDeletion {
                    model.truth[id] = nil
                    model.take(out: id)
                } else {
                    let isNews = model.truth[id] == false
                    model.truth[id] = true
                    guard isNews else { continue }
                    if model.rows[id] != nil {
                        model.rows[id]?.isRead = true
                    } else if model.beyond > 0 {
                        model.beyond -= 1
                    }
                }
                try run { inbox throws(StoreError) in
                    let ids = [NotificationID(id)]
                    try inbox.changes.apply(isDeletion ? .deleted(ids) : .read(ids, at: 7), from: desktop, at: 7)
                }
            case 10:
                let queued = Set(model.changes.filter { $0.value.change.isKept }.keys.map { RequestID("r\($0)") })
                for (number, change) in model.changes {
                    model.step(number) { $0.restarted(isKept: change.change.isKept) }
                }
                try run { inbox throws(StoreError) in try inbox.changes.recover(queued: queued) }
            default:
                // A refresh of the newest rows or of all, of a desktop that counts right.
                let all = model.truth.sorted { Int($0.key.dropFirst()) ?? 0 > Int($1.key.dropFirst()) ?? 0 }
                let isWhole = Bool.random(using: &random)
                let page = isWhole ? all[...] : all.prefix(3)
                let unread = Int64(all.filter { !$0.value }.count)
                let rows: [JSONRow] = page.map { JSONRow(id: $0.key, isRead: $0.value) }
                let total = Int64(all.count)
                let oldest = page.last.flatMap { Int64($0.key.dropFirst()) }
                let coverage = try run { inbox throws(StoreError) -> Inbox.Coverage in
                    let run = try inbox.history.beginRefresh(of: desktop)
                    let historyPage = JSONRow.page(rows, total: total, unread: unread)
                    let merged = try inbox.history.merge(
                        historyPage, from: desktop, run: run, through: run.through, receivedAt: 9)
                    let coverage: Inbox.Coverage =
                        isWhole ? .all : merged.isInSync ? .inSync : oldest.map { .after($0) } ?? .unknown
                    _ = try inbox.history.finishRefresh(
                        run, of: desktop, coverage: coverage, unread: unread, through: run.through, at: 9)
                    return coverage
                }
                for (id, isRead) in page {
                    if model.rows[id] == nil { model.rows[id] = Row(isRead: isRead, isHanded: true) }
                    model.rows[id]?.isRead = isRead
                }
                let isSeen = { (id: String) in page.contains { $0.key == id } }
                let gone = model.rows.keys.filter { id in
                    switch coverage {
                    case .inSync, .unknown: false
                    case .all: !isSeen(id)
                    case .after(let moment): !isSeen(id) && Int64(id.dropFirst()) ?? 0 > moment
                    }
                }
                for id in gone { model.take(out: id) }
                let seen = Set(page.map(\.key))
                let knows = coverage == .all || coverage == .inSync
                if coverage == .inSync {
                    #expect(Set(model.truth.keys) == Set(model.rows.filter { !$0.value.isGone }.keys))
                }
                for (number, change) in model.changes where knows || change.rows.isSubset(of: seen) {
                    model.step(number) { $0.refreshed() }
                }
                model.beyond = unread - Int64(model.rows.values.filter { !$0.isGone && !$0.isRead }.count)
            }
            let (shown, unread) = try run { inbox throws(StoreError) in
                var query = HistoryQuery()
                query.limit = 500
                return (try inbox.pages.page(query, of: desktop), try inbox.counts.unread())
            }
            #expect(try run { inbox throws(StoreError) in try !inbox.counts.repair() }, "the kept counts are true")
            let views = try #require(shown).items.reduce(into: [String: InboxView]()) { views, item in
                views[item.notification.id.text] = InboxView(
                    isRead: item.notification.read,
                    under: item.isUncertain ? [InboxChange(.read, stage: .uncertain)] : [])
            }
            #expect(views == model.shown)
            #expect(unread == model.unread)
            guard views == model.shown, unread == model.unread else { return }
        }
    }

    struct JSONRow: Sendable {
        let id: String
        let isRead: Bool

        static func page(_ rows: [JSONRow], total: Int64, unread: Int64) -> HistoryPage {
            HistoryPage(
                rows: rows.map {
                    HistoryRow(
                        id: NotificationID($0.id), title: "T \($0.id)", read: $0.isRead,
                        createdAt: Int64($0.id.dropFirst()))
                }, total: total, unreadCount: unread, skipped: 0, next: nil)
        }
    }
}
