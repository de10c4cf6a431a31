@testable import Inbox
import JSON
@testable import Notifications
import Store
import Testing
import Wire

@Suite struct InboxChangeTests {
    typealias Kind = InboxChange.Kind

    @Test("a change that is answered is over; one that is queued stays; one whose answer is lost is uncertain")
    func endings() {
        for kind in Kind.allCases {
            for stage in InboxChange.Stage.allCases {
                for isKept in [false, true] {
                    let begun = InboxChange(kind, stage: stage, isKept: isKept)
                    var change = begun
                    #expect(change.ended(.done) == .apply)
                    change = begun
                    #expect(change.ended(.refused) == .putBack)
                    change = begun
                    #expect(change.ended(.queued) == .show && change.stage == stage && change.isKept)
                    change = begun
                    let step = change.ended(.lost(isKept: true))
                    #expect(step == .show && change.stage == (stage == .settled ? .settled : .uncertain))
                    change = begun
                    #expect(change.ended(.lost(isKept: false)) == (stage == .settled ? .putBack : .show))
                }
            }
        }
    }

    @Test("a refresh settles what is uncertain: for good, unless its command will be sent again")
    func refreshes() {
        for kind in Kind.allCases {
            var change = InboxChange(kind)
            #expect(change.refreshed() == .show && change.stage == .pending)
            change = InboxChange(kind, stage: .uncertain)
            #expect(change.refreshed() == .putBack)
            change = InboxChange(kind, stage: .uncertain, isKept: true)
            #expect(change.refreshed() == .show && change.stage == .settled)
            #expect(change.refreshed() == .show && change.stage == .settled)
        }
    }

    @Test("after a restart a change is uncertain, unless its command is still queued")
    func restarts() {
        for kind in Kind.allCases {
            var change = InboxChange(kind)
            #expect(change.restarted(isKept: false) == .show && change.stage == .uncertain)
            change = InboxChange(kind, isKept: true)
            #expect(change.restarted(isKept: true) == .show && change.stage == .pending)
            change = InboxChange(kind, isKept: true)
            #expect(change.restarted(isKept: false) == .show && change.stage == .uncertain)
            change = InboxChange(kind, stage: .settled, isKept: true)
            #expect(change.restarted(isKept: true) == .show && change.stage == .settled)
            #expect(change.restarted(isKept: false) == .putBack)
        }
    }

    @Test("a row is shown as its changes want it, as uncertain, or as its desktop has said")
    func views() {
        #expect(!InboxView(isRead: false, under: []).isRead)
        #expect(InboxView(isRead: false, under: [InboxChange(.read)]).isRead)
        #expect(InboxView(isRead: false, under: [InboxChange(.allRead)]).isRead)
        #expect(InboxView(isRead: false, under: [InboxChange(.read), InboxChange(.delete)]).isHidden)
        #expect(InboxView(isRead: true, under: [InboxChange(.clear)]).isHidden)
        let lost = InboxView(isRead: false, under: [InboxChange(.delete, stage: .uncertain)])
        #expect(!lost.isHidden && lost.isUncertain && !lost.isRead)
        #expect(
            InboxView(isRead: false, under: [InboxChange(.delete, stage: .settled)])
                == InboxView(isRead: false, under: []))
    }
}

@Suite struct InboxRefreshTests {
    private func page(
        _ ids: Range<Int>, total: Int64, unread: Int64? = 0, next: String? = nil, skipped: Int = 0
    ) -> HistoryPage {
        HistoryPage(
            rows: ids.map { HistoryRow(id: NotificationID("n\($0)"), title: "T", createdAt: 1_000 - Int64($0)) },
            total: total, unreadCount: unread, skipped: skipped, next: next)
    }

    private func merged(_ new: Int, inSync: Bool = false) -> Inbox.Merged {
        var merged = Inbox.Merged()
        (merged.newToRun, merged.isInSync) = (new, inSync)
        return merged
    }

    private func asked(_ step: InboxRefresh.Step) throws -> HistoryQuery {
        guard case .ask(let query) = step else {
            Issue.record("nothing was asked: \(step)")
            throw StoreError(.mismatch, "no question")
        }
        return query
    }

    @Test("a desktop that names the next page is asked for it, until there is none")
    func keyset() throws {
        var refresh = InboxRefresh()
        #expect(try asked(refresh.begin()).before == nil)
        let second = try asked(refresh.received(page(0..<100, total: 150, next: "~p"), merged(100)))
        #expect(second.before == "~p" && second.offset == 0)
        #expect(refresh.received(page(100..<150, total: 151), merged(50)) == .finish(.all, unread: 0))
    }

    @Test("a desktop without places is asked by offset, until all is read")
    func offsets() throws {
        var refresh = InboxRefresh()
        #expect(try asked(refresh.begin()).offset == 0)
        let second = try asked(refresh.received(page(0..<100, total: 150, unread: 7), merged(100)))
        #expect(second.before == nil && second.offset == 100)
        #expect(refresh.received(page(100..<150, total: 150, unread: 7), merged(50)) == .finish(.all, unread: 7))
    }

    @Test("what changes while it is read by offset is read anew, once; then nothing is dropped")
    func moving() throws {
        var refresh = InboxRefresh()
        _ = refresh.received(page(0..<100, total: 250), merged(100))
        #expect(try asked(refresh.received(page(100..<200, total: 249), merged(100))).offset == 0)
        _ = refresh.received(page(0..<100, total: 249), merged(1))
        #expect(refresh.received(page(100..<200, total: 248), merged(1)) == .finish(.unknown, unread: 0))
    }

    @Test("a desktop that gives the same page again and again, or empty ones, does not keep it busy")
    func endless() {
        var refresh = InboxRefresh()
        _ = refresh.received(page(0..<50, total: 1_000_000_000), merged(50))
        #expect(refresh.received(page(0..<50, total: 1_000_000_000), merged(0)) == .finish(.unknown, unread: 0))
        refresh = InboxRefresh()
        #expect(refresh.received(page(0..<0, total: 9), merged(0)) == .finish(.all, unread: 0))
        refresh = InboxRefresh()
        var step = refresh.begin()
        var pages = 0
        while case .ask = step, pages < 1_000 {
            step = refresh.received(page(pages..<pages + 1, total: .max), merged(1))
            pages += 1
        }
        #expect(pages == InboxRefresh.pageLimit && step == .finish(.after(801), unread: 0))
    }

    @Test("a history that is in sync is read no further; a missing count is asked for")
    func ends() {
        var refresh = InboxRefresh()
        #expect(
            refresh.received(page(0..<100, total: 5_000, unread: 3, next: "~p"), merged(100, inSync: true))
                == .finish(.inSync, unread: 3))
        refresh = InboxRefresh()
        #expect(refresh.received(page(0..<3, total: 3, unread: nil), merged(3)) == .askUnreadCount)
        #expect(refresh.received(unreadCount: 2) == .finish(.all, unread: 2))
        refresh = InboxRefresh()
        #expect(refresh.received(page(0..<3, total: 3, unread: nil), merged(3)) == .askUnreadCount)
        #expect(refresh.received(unreadCount: nil) == .finish(.all, unread: nil))
    }

    @Test("what is asked for since a moment says so on each page")
    func since() throws {
        var refresh = InboxRefresh(since: 77, rowLimit: 100)
        #expect(try asked(refresh.begin()).since == 77)
        #expect(refresh.received(page(0..<100, total: 150, next: "~p"), merged(100)) == .finish(.after(901), unread: 0))
    }
}
