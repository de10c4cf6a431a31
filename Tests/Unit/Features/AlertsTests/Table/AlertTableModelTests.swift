import Alerts
import JSON
import Store
import TestSupport
import Testing
import Wire

/// The table against a list in memory, over random sequences.
@Suite struct AlertTableModelTests {
    private struct Entry: Equatable {
        var row: Int64
        var key: AlertKey
        var thread: String?
        var state: AlertRow.State
        var handle: String?
        var shownAt: Int64?
        var count: Int64
    }

    /// What is promised, said in the plainest way.
    private struct Model {
        var entries: [Entry] = []
        /// Held and not kept.
        var beyond: [AlertDecision.Hold: Int64] = [:]
        /// Banners on the screen.
        var banners: Set<String> = []

        mutating func remove(_ condition: (Entry) -> Bool) -> [Entry] {
            let gone = entries.filter(condition)
            entries.removeAll(where: condition)
            return gone
        }

        mutating func close(_ handles: [String?]) {
            for case let handle? in handles {
                #expect(banners.remove(handle) != nil, "\(handle) is not on the screen")
            }
        }

        func held(_ hold: AlertDecision.Hold) -> Int64 {
            Int64(entries.count { $0.state == AlertRow.State(hold) }) + (beyond[hold] ?? 0)
        }
    }

    @Test(
        "random sequences: rows, banners and counts are what the model says, and no banner is ever orphaned",
        arguments: 0..<8 as Range<UInt64>)
    func sequences(seed: UInt64) throws {
        let database = try Database.open(path: ":memory:", migrations: AlertTable.migrations).database
        defer { database.close() }
        try database.expect { connection in
            var random = SeededGenerator(seed: seed)
            var model = Model()
            let table = AlertTable(connection)
            for moment in 1...800 {
                try step(table, &model, Int64(moment), &random)
                if moment % 40 == 0 { try compare(connection, table, model) }
            }
        }
    }

    private func step(
        _ table: AlertTable, _ model: inout Model, _ now: Int64, _ random: inout SeededGenerator
    ) throws {
        let desktops: [PeerID?] = [nil, "d", "e"]
        let desktop = desktops.randomElement(using: &random) ?? nil
        let id = AlertID("n\(Int.random(in: 0..<400, using: &random))")
        let due = model.entries.filter { $0.state == .due }.randomElement(using: &random)
        let hold: AlertDecision.Hold = Bool.random(using: &random) ? .quietHours : .late
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<45:
            let thread = Bool.random(using: &random) ? "t\(Int.random(in: 0..<8, using: &random))" : nil
            let replaced = Int.random(in: 0..<4, using: &random) == 0 ? AlertID("n\(now % 400)") : nil
            let key = AlertKey(desktop: desktop, id: id)
            let content = AlertContent(title: "title \(now)", thread: thread)
            let added = try table.add(NewAlert(key, content, dueAt: now), replacing: replaced)
            let old = [
                model.remove { $0.key == key }, model.remove { $0.key.desktop == desktop && $0.key.id == replaced },
            ]
            let handles = old.joined().compactMap(\.handle)
            #expect(added.handle == handles.first && added.obsolete == Array(handles.dropFirst()))
            model.close(added.obsolete)
            model.entries.append(
                Entry(row: added.row, key: key, thread: thread, state: .due, handle: added.handle, count: 1))
        case 45..<65:
            guard let due else { return }
            let handle = due.handle ?? "h\(now)"
            model.banners.insert(handle)
            let delivered = try table.delivered(due.row, at: now, handle: handle)
            #expect(delivered.isThere)
            change(&model, due.row) { ($0.state, $0.handle, $0.shownAt) = (.delivered, handle, now) }
            let all = model.entries.filter { $0.state == .delivered }
            let limit = Int(AlertTable.deliveredLimit)
            let forgotten = all.sorted { ($0.shownAt ?? 0, $0.row) > ($1.shownAt ?? 0, $1.row) }.dropFirst(limit)
            #expect(delivered.close.sorted() == forgotten.compactMap(\.handle).sorted())
            let gone = model.remove { entry in forgotten.contains { $0.row == entry.row } }
            model.close(gone.map(\.handle))
        case 65..<80:
            guard let due else { return }
            model.close([try table.hold(due.row, hold)])
            if due.count > 1 || due.key.id.text.hasPrefix("bellwire.") {
                _ = model.remove { $0.row == due.row }
                model.beyond[hold, default: 0] += due.count
            } else {
                change(&model, due.row) { ($0.state, $0.handle) = (AlertRow.State(hold), nil) }
                let held = model.entries.filter { $0.state == AlertRow.State(hold) }.sorted { $0.row > $1.row }
                let dropped = held.dropFirst(Int(AlertTable.heldLimit))
                _ = model.remove { entry in dropped.contains { $0.row == entry.row } }
                model.beyond[hold, default: 0] += Int64(dropped.count)
            }
        case 80..<84:
            guard let due else { return }
            model.close([try table.drop(due.row)])
            _ = model.remove { $0.row == due.row }
        case 84..<87:
            // Somebody who speaks of what is long gone.
            let gone = Int64.random(in: 0...now, using: &random)
            guard !model.entries.contains(where: { $0.row == gone }) else { return }
            #expect(try table.delivered(gone, at: now, handle: "gone\(now)").close == ["gone\(now)"])
            #expect(try table.hold(gone, hold) == nil && table.drop(gone) == nil)
        case 87..<89 where Int.random(in: 0..<6, using: &random) == 0: try release(table, &model, hold, now)
        case 89 where Int.random(in: 0..<4, using: &random) == 0:
            try table.moveLateToQuiet()
            for entry in model.entries where entry.state == .heldLate {
                change(&model, entry.row) { $0.state = .heldQuiet }
            }
            model.beyond[.quietHours, default: 0] += model.beyond[.late] ?? 0
            model.beyond[.late] = 0
        case 90: try remove(table, &model, .thread("t\(now % 8)")) { $0.thread == "t\(now % 8)" }
        case 91..<95: try remove(table, &model, .id(id)) { $0.key.id == id }
        case 95..<99:
            let key = AlertKey(desktop: desktop, id: id)
            try remove(table, &model, .keys([key, key])) { $0.key == key }
        case 99 where Int.random(in: 0..<8, using: &random) == 0:
            try remove(table, &model, .desktop("e")) { $0.key.desktop == "e" }
        default: break
        }
    }

    private func release(
        _ table: AlertTable, _ model: inout Model, _ hold: AlertDecision.Hold, _ now: Int64
    ) throws {
        let count = model.held(hold)
        let digest = try table.release(hold, at: now)
        guard count > 0 else {
            #expect(digest == nil)
            return
        }
        guard let digest else {
            Issue.record("a digest is missing")
            return
        }
        _ = model.remove { $0.state == AlertRow.State(hold) }
        model.beyond[hold] = 0
        let old = model.remove { $0.key == digest.key }.first
        let unseen = old?.state == .due ? old?.count ?? 0 : 0
        #expect(digest.content.userInfo["count"]?.integer == count + unseen && digest.handle == old?.handle)
        model.entries.append(
            Entry(row: digest.row, key: digest.key, state: .due, handle: digest.handle, count: count + unseen))
    }

    private func remove(
        _ table: AlertTable, _ model: inout Model, _ which: AlertTable.Which, _ condition: (Entry) -> Bool
    ) throws {
        let removed = try table.remove(which)
        let gone = model.remove(condition)
        #expect(removed.map(\.row).sorted() == gone.map(\.row).sorted())
        #expect(removed.compactMap(\.handle).sorted() == gone.compactMap(\.handle).sorted())
        model.close(removed.map(\.handle))
    }

    private func change(_ model: inout Model, _ row: Int64, _ body: (inout Entry) -> Void) {
        if let index = model.entries.firstIndex(where: { $0.row == row }) { body(&model.entries[index]) }
    }

    private func compare(_ connection: Connection, _ table: AlertTable, _ model: Model) throws {
        let rows = try connection.query("SELECT row FROM alert ORDER BY row") { (row) throws(StoreError) in
            try row.integer(0)
        }
        #expect(rows == model.entries.map(\.row).sorted())
        for entry in model.entries {
            let row = try table.find(entry.row)
            #expect(row?.key == entry.key && row?.state == entry.state && row?.handle == entry.handle)
            #expect(row?.content.thread == entry.thread && row?.shownAt == entry.shownAt)
        }
        for hold in AlertDecision.Hold.allCases {
            #expect(try table.heldCount(hold) == model.held(hold))
        }
        let delivered = try table.delivered()
        #expect(delivered.count == model.entries.count { $0.state == .delivered })
        // Every banner on the screen is somebody's.
        #expect(Set(model.entries.compactMap(\.handle)) == model.banners)
    }
}
