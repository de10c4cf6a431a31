import Alerts
import Foundation
import JSON
import Store
import Testing
import Wire

@Suite struct AlertTableTests {
    private func open(_ path: String = ":memory:") throws -> Database {
        try Database.open(path: path, migrations: AlertTable.migrations).database
    }

    /// Does a piece of work on a new store.
    private func work(_ body: (AlertTable) throws -> Void) throws {
        let database = try open()
        defer { database.close() }
        try database.expect { connection in try body(AlertTable(connection)) }
    }

    private static func alert(_ id: AlertID, of desktop: PeerID? = "d", title: String = "t") -> NewAlert {
        NewAlert(AlertKey(desktop: desktop, id: id), AlertContent(title: title, thread: "T"), dueAt: 5, source: "pc")
    }

    @Test("what is not decided when the process ends is run again after a start, in order")
    func recovery() throws {
        let path = NSTemporaryDirectory() + "bellwire-alerts-\(UUID().uuidString).db"
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        var database = try open(path)
        let content = AlertContent(title: "t\u{0}\u{202e}", userInfo: ["a": [1, nil]], level: .timeSensitive)
        try database.run { (connection) throws(StoreError) in
            let table = AlertTable(connection)
            _ = try table.add(
                NewAlert(
                    AlertKey(desktop: "d", id: "1"), content, dueAt: 7, source: "pc", isSilenced: true, isLate: true))
            for id in 2...600 { _ = try table.add(Self.alert(AlertID("\(id)"))) }
            if let row = try table.find(AlertKey(desktop: "d", id: "2")) { try table.drop(row.row) }
        }
        database.close()
        database = try open(path)
        defer { database.close() }
        let due = try database.run { (connection) throws(StoreError) in
            try AlertTable(connection).due(limit: 1_000)
        }
        #expect(due.map(\.key.id.text) == ["1"] + (3...600).map { "\($0)" })
        let first = try #require(due.first)
        #expect(first.content == content && first.source == "pc" && first.dueAt == 7 && first.state == .due)
        #expect(first.subject == AlertSubject(isSilenced: true, isLate: true, level: .timeSensitive, source: "pc"))
    }

    @Test("urgent ones and reminders are due before others")
    func order() throws {
        try work { table in
            for id in ["1", "2", "3"] as [AlertID] { _ = try table.add(Self.alert(id)) }
            let reminder = AlertKey(desktop: nil, id: "4")
            _ = try table.add(NewAlert(reminder, AlertContent(title: "t"), dueAt: 6, isReminder: true))
            let urgent = AlertContent(title: "t", level: .timeSensitive)
            _ = try table.add(NewAlert(AlertKey(desktop: "d", id: "5"), urgent, dueAt: 6))
            #expect(try table.due().map { $0.key.id } == ["4", "5", "1", "2", "3"])
            #expect(try table.due().map { $0.comesFirst } == [true, true, false, false, false])
        }
    }

    @Test("the same id replaces, a collapse key replaces, and both take over the banner")
    func replacing() throws {
        try work { table in
            let first = try table.add(Self.alert("1"))
            _ = try table.delivered(first.row, at: 10, handle: "h1")
            let other = try table.add(Self.alert("1", of: "e"))
            #expect(other.handle == nil, "of another desktop")
            let again = try table.add(Self.alert("1", title: "new"))
            #expect(again.handle == "h1" && again.row != first.row && again.obsolete == [])
            let row = try table.find(again.row)
            #expect(row?.handle == "h1" && row?.state == .due && row?.content.title == "new")
            _ = try table.delivered(again.row, at: 11, handle: "h1")
            let collapsed = try table.add(Self.alert("2"), replacing: "1")
            #expect(collapsed.handle == "h1")
            #expect(try table.find(AlertKey(desktop: "d", id: "1")) == nil)
            // Both have a banner: one is taken over, one is closed.
            _ = try table.delivered(collapsed.row, at: 12, handle: "h2")
            let third = try table.add(Self.alert("3"))
            _ = try table.delivered(third.row, at: 13, handle: "h3")
            let both = try table.add(Self.alert("3"), replacing: "2")
            #expect(both.handle == "h3" && both.obsolete == ["h2"])
        }
    }

    @Test("what is said of an alert that was replaced meanwhile never touches the newer one")
    func successors() throws {
        try work { table in
            let old = try table.add(Self.alert("1"))
            let new = try table.add(Self.alert("1"))
            #expect(try table.delivered(old.row, at: 1, handle: "h") == .init(isThere: false, close: ["h"]))
            #expect(try table.update(old.row, AlertContent(title: "x")) == false)
            try table.hold(old.row, .late)
            #expect(try table.drop(old.row) == nil)
            #expect(try table.find(new.row)?.state == .due && table.find(new.row)?.content.title == "t")
            // Its banner is the newer one's by now.
            _ = try table.delivered(new.row, at: 2, handle: "h")
            #expect(try table.delivered(old.row, at: 3, handle: "h") == .init(isThere: false, close: []))
            #expect(try table.delivered(old.row, at: 3, handle: nil) == .init(isThere: false, close: []))
            #expect(try table.update(new.row, AlertContent(title: "y", thread: "U")) == true)
            #expect(try table.find(new.row)?.content.title == "y")
            #expect(try table.remove(.thread("U")).map(\.row) == [new.row])
        }
    }

    @Test("delivered ones are listed, the newest first, at most 500; a banner finds its alert")
    func delivered() throws {
        try work { table in
            var closed: [String] = []
            for number in 1...503 {
                let added = try table.add(Self.alert(AlertID("\(number)")))
                closed += try table.delivered(added.row, at: Int64(number), handle: "h\(number)").close
            }
            let all = try table.delivered()
            #expect(all.count == 500 && all.first?.key.id == "503" && all.last?.key.id == "4")
            #expect(closed == ["h1", "h2", "h3"])
            #expect(try table.find(handle: "h77")?.key.id == "77" && table.find(handle: "h1") == nil)
            let json = all.first?.deliveredJSON
            #expect(json?["shownAt"] == 503 && json?["desktop"] == "d" && json?["alert"]?["id"] == "503")
            #expect(json?["alert"]?["title"] == "t" && json?["reminder"] == nil)
        }
    }

    @Test("a list of delivered ones ends at its limit in bytes, with the newest; one is always there")
    func deliveredBytes() throws {
        try work { table in
            // Six bytes each in JSON: two fit, and a third does not.
            let body = String(repeating: "\u{1}", count: AlertTable.deliveredBytes / 15)
            for (number, text) in [body, body, body, body + body + body].enumerated() {
                let key = AlertKey(desktop: "d", id: AlertID("\(number)"))
                let added = try table.add(NewAlert(key, AlertContent(title: "t", body: text), dueAt: 5))
                _ = try table.delivered(added.row, at: 1, handle: nil)
                if number == 2 {
                    let list = try table.delivered(bytes: AlertTable.deliveredBytes)
                    #expect(list.map(\.key.id.text) == ["2", "1"])
                }
            }
            #expect(try table.delivered(bytes: AlertTable.deliveredBytes).map(\.key.id.text) == ["3"])
            #expect(try table.delivered().count == 4)
        }
    }

    @Test("delivered ones of a thread stand together, the thread with the newest first, whosever they are")
    func deliveredThreads() throws {
        try work { table in
            // A thread may have a row's number as its name.
            let threads: [(String, String?, PeerID?)] = [
                ("a1", "a", "d"), ("own1", nil, nil), ("b1", "b", "d"), ("a2", "a", "e"), ("own2", nil, nil),
                ("two", "2", "d"), ("b2", "b", nil), ("due", "a", "d"),
            ]
            for (id, thread, desktop) in threads {
                let content = AlertContent(title: id, thread: thread)
                let added = try table.add(NewAlert(AlertKey(desktop: desktop, id: AlertID(id)), content, dueAt: 5))
                if id != "due" { _ = try table.delivered(added.row, at: 1, handle: nil) }
            }
            let order = ["b2", "b1", "two", "own2", "a2", "a1", "own1"]
            #expect(try table.delivered().map(\.key.id.text) == order)
            let due = try #require(try table.due().first)
            _ = try table.delivered(due.row, at: 2, handle: nil)
            #expect(try table.delivered().map(\.key.id.text) == ["due", "a2", "a1", "b2", "b1", "two", "own2", "own1"])
        }
    }

    @Test("alerts are taken back by key, id, thread, desktop, and all; what is not delivered stays where that is said")
    func removal() throws {
        try work { table in
            func fill() throws {
                _ = try table.remove(.all)
                for (id, desktop) in [("1", "d"), ("2", "d"), ("1", "e")] as [(AlertID, PeerID)] {
                    let added = try table.add(Self.alert(id, of: desktop))
                    if id == "1" { _ = try table.delivered(added.row, at: 1, handle: "h-\(desktop)") }
                }
                _ = try table.add(NewAlert(AlertKey(desktop: nil, id: "1"), AlertContent(title: "own"), dueAt: 1))
            }
            try fill()
            let key = AlertKey(desktop: "d", id: "1")
            let one = try table.remove(.keys([key, AlertKey(desktop: "x", id: "1")]))
            #expect(one.map(\.key) == [key] && one.first?.handle == "h-d" && one.first?.state == .delivered)
            try fill()
            #expect(try table.remove(.id("1")).count == 3)
            try fill()
            #expect(try table.remove(.thread("T"), deliveredOnly: true).count == 2)
            #expect(try table.due().count == 2)
            try fill()
            #expect(try table.remove(.desktop("d")).map(\.key.id) == ["1", "2"])
            try fill()
            #expect(try table.remove(.all, deliveredOnly: true).count == 2)
            #expect(try table.remove(.all).count == 2)
            #expect(try table.remove(.all).isEmpty)
        }
    }

    @Test("what was held becomes one digest, which is due, and counts also what is not kept")
    func digests() throws {
        try work { table in
            #expect(try table.release(.quietHours, at: 1) == nil)
            for number in 1...300 {
                let added = try table.add(Self.alert(AlertID("\(number)"), title: "title \(number)"))
                try table.hold(added.row, .quietHours)
            }
            let late = try table.add(Self.alert("late"))
            try table.hold(late.row, .late)
            #expect(try table.heldCount(.quietHours) == 300 && table.heldCount(.late) == 1)
            #expect(try table.held(.quietHours, limit: 1_000).count == 256)
            #expect(try table.held(.quietHours).map(\.content.title).first == "title 300")
            let digest = try table.release(.quietHours, at: 9)
            #expect(digest?.content.title == "300 notifications during quiet hours")
            #expect(digest?.content.body.hasPrefix("title 300\n") == true && digest?.isReminder == true)
            #expect(try table.due().map(\.row) == [digest?.row ?? 0])
            #expect(try table.heldCount(.quietHours) == 0 && table.release(.quietHours, at: 10) == nil)
            #expect(try table.heldCount(.late) == 1)
        }
    }

    @Test("a digest that nobody has seen is part of the next; one that comes in quiet hours waits for theirs")
    func digestsOfDigests() throws {
        try work { table in
            func hold(_ count: Int, _ hold: AlertDecision.Hold) throws {
                for number in 0..<count {
                    try table.hold(try table.add(Self.alert(AlertID("\(hold)\(number)"))).row, hold)
                }
            }
            try hold(3, .late)
            let first = try table.release(.late, at: 1)
            try hold(2, .late)
            let second = try table.release(.late, at: 2)
            #expect(second?.content.title == "5 notifications while you were away")
            #expect(try first.map { try table.find($0.row) == nil } == true)
            // It became quiet before it was shown.
            if let second { try table.hold(second.row, .quietHours) }
            try hold(4, .late)
            try table.moveLateToQuiet()
            try hold(1, .quietHours)
            #expect(try table.heldCount(.late) == 0 && table.heldCount(.quietHours) == 10)
            let digest = try table.release(.quietHours, at: 3)
            #expect(digest?.content.title == "10 notifications during quiet hours")
            #expect(digest?.content.body.hasSuffix("and 5 more") == true)
            // One that was seen is not counted again, and gives its place.
            if let digest { _ = try table.delivered(digest.row, at: 4, handle: "h") }
            try hold(2, .quietHours)
            let next = try table.release(.quietHours, at: 5)
            #expect(next?.content.title == "2 notifications during quiet hours" && next?.handle == "h")
            // One alone comes as it is.
            if let next { _ = try table.delivered(next.row, at: 6, handle: "h") }
            let only = try table.add(Self.alert("only"))
            try table.hold(only.row, .quietHours)
            let released = try table.release(.quietHours, at: 7)
            #expect(released?.row == only.row && released?.key.id == "only" && released?.state == .due)
            #expect(try table.heldCount(.quietHours) == 0 && table.release(.quietHours, at: 8) == nil)
            try hold(1, .quietHours)
            try table.forget(.quietHours)
            #expect(try table.heldCount(.quietHours) == 0)
        }
    }

    @Test("a digest that was shown a moment ago is counted in the next, which takes its place; an older one is not")
    func digestShownBefore() throws {
        try work { table in
            var number = 0
            func release(_ count: Int, at moment: EpochMilliseconds) throws -> AlertRow? {
                for _ in 0..<count {
                    number += 1
                    try table.hold(try table.add(Self.alert(AlertID("\(number)"))).row, .late)
                }
                return try table.release(.late, at: moment, joiningShownWithin: 60_000)
            }
            let first = try #require(try release(3, at: 1_000))
            _ = try table.delivered(first.row, at: 2_000, handle: "h")
            let second = try #require(try release(2, at: 4_000))
            #expect(second.content.title == "5 notifications while you were away" && second.handle == "h")
            #expect(second.content.body == "t\nt\nand 3 more")
            _ = try table.delivered(second.row, at: 5_000, handle: "h")
            // One alone comes as it is, beside the digest.
            let only = try #require(try release(1, at: 5_500))
            #expect(only.key.id == "6")
            #expect(try table.find(second.row)?.state == .delivered)
            let third = try #require(try release(2, at: 64_999))
            #expect(third.content.title == "7 notifications while you were away")
            _ = try table.delivered(third.row, at: 70_000, handle: "h")
            let fourth = try #require(try release(2, at: 130_000))
            #expect(fourth.content.title == "2 notifications while you were away" && fourth.handle == "h")
            // The clock was set back.
            _ = try table.delivered(fourth.row, at: 131_000, handle: "h")
            #expect(try release(2, at: 100)?.content.title == "2 notifications while you were away")
        }
    }

    @Test("numbers that somebody made up in a digest's place do no harm")
    func forgedDigest() throws {
        try work { table in
            for count: JSONValue in [.integer(.max), .integer(.min), .double(1e300), "x"] {
                let forged = try table.add(
                    NewAlert(
                        AlertKey(desktop: nil, id: Digest.id(.quietHours)),
                        AlertContent(title: "x", userInfo: ["count": count]), dueAt: 1))
                try table.hold(forged.row, .quietHours)
            }
            let count = try table.heldCount(.quietHours)
            #expect((4...4_000_000).contains(count))
            #expect(try table.release(.quietHours, at: 1) != nil)
        }
    }

    @Test("a row that cannot be read is dropped, and holds up nobody")
    func damaged() throws {
        let database = try open()
        defer { database.close() }
        try database.expect { connection in
            let table = AlertTable(connection)
            for number in 0..<10 { _ = try table.add(Self.alert(AlertID("\(number)"))) }
            try connection.execute("UPDATE alert SET content = '{\"title\":' WHERE row <= 4")
            try connection.execute("UPDATE alert SET state = 9 WHERE row = 5")
            #expect(try table.due(limit: 2).map(\.key.id) == ["5", "6"])
            #expect(try table.find(5) == nil && connection.integer("SELECT count(*) FROM alert") == 5)
        }
    }

    @Test("authorization, settings and categories are kept; what is damaged has its default")
    func preferences() throws {
        let database = try open()
        defer { database.close() }
        try database.expect { connection in
            let preferences = AlertPreferences(connection)
            #expect(try preferences.authorization() == .notDetermined && preferences.settings() == AlertSettings())
            #expect(try preferences.categories() == Categories())
            var settings = AlertSettings()
            settings.showPreview = false
            try preferences.save(Authorization.denied)
            try preferences.save(Authorization.ephemeral(until: 5))
            try preferences.save(settings)
            let categories = (try? Categories(parsing: [["id": "A"]])) ?? Categories()
            try preferences.save(categories)
            #expect(try preferences.authorization() == .ephemeral(until: 5) && preferences.settings() == settings)
            #expect(try preferences.categories() == categories && categories.all.count == 2)
            for value in ["", "{", "[]", "1", "{\"status\":1}"] {
                try connection.execute("UPDATE alert_preference SET value = ?", [.text(value)])
                #expect(try preferences.authorization() == .notDetermined && preferences.settings() == AlertSettings())
                #expect(try preferences.categories() == Categories())
            }
        }
    }
}
