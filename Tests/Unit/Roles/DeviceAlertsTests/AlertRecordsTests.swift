import Alerts
import Hosting
import JSON
import Store
import Testing
import Wire

@testable import DeviceAlerts

/// Reports, receipts, the badge and responses, without a store.
@Suite struct AlertRecordsTests {
    private func report(
        _ reason: String? = nil, of peer: PeerID? = desktop, isLate: Bool = false
    ) -> AlertReport {
        AlertReport(key: key("n1", of: peer), isReminder: false, isLate: isLate, reason: reason)
    }

    /// Carries replies out, and names what else there is to do.
    private func run(_ actions: [AlertRecords.Action]) -> [String] {
        actions.map { action in
            switch action {
            case .store: return "store"
            case .reply(let then, let result):
                then(result)
                return "reply"
            case .post(let event): return event.name.rawValue
            case .sendReceipt(_, let isPresented, let desktop): return "receipt \(isPresented) \(desktop.text)"
            case .showBadge(let count): return "badge \(count)"
            case .responseWaits(let isDisplaced): return "waits" + (isDisplaced ? ", displaced" : "")
            case .responded(let row): return "responded \(row)"
            case .tapped: return "tapped"
            case .markRead(let id, _): return "mark \(id.text)"
            case .withdraw(_, let handle): return "withdraw \(handle ?? "nil")"
            case .withdrawRuns(let keys): return "runs \(keys.map(\.id.text).joined(separator: " "))"
            }
        }
    }

    @Test("a desktop gets a receipt, but for late and silenced alerts; the program's own alerts have none")
    func receipts() {
        var records = AlertRecords(isOn: true)
        #expect(run(records.tell(report())) == ["notification.presented", "receipt true desk"])
        #expect(run(records.tell(report("denied"))) == ["notification.presented", "receipt false desk"])
        #expect(run(records.tell(report("silenced"))) == ["notification.presented"])
        #expect(run(records.tell(report(isLate: true))) == ["notification.presented"])
        #expect(run(records.tell(report(of: nil))) == ["notification.presented"])
        #expect(records.counters.shown == 3 && records.counters.hidden == 2)
    }

    @Test("the badge is told once; without alerts the host does not hear of it")
    func badge() {
        var records = AlertRecords(isOn: true)
        #expect(run(records.setBadge(nil)).isEmpty && run(records.setBadge(0)).isEmpty)
        #expect(run(records.setBadge(2)) == ["badge 2", "badge.changed"])
        #expect(run(records.setBadge(2)).isEmpty && records.badge == 2)
        var off = AlertRecords(isOn: false)
        #expect(run(off.setBadge(2)) == ["badge 2"])
    }

    private func respond(
        _ records: inout AlertRecords, _ replies: Replies, _ result: Result<RecordWork.Outcome, StoreError>
    ) -> [String] {
        let response = NewResponse(
            key: key("n1"), action: "default", text: nil, categories: Categories(), presentingRows: [], at: 1)
        return run(records.stored(.respond(response, replies.then), result))
    }

    @Test("a response takes the banner away; what is built in is carried out")
    func responses() throws {
        var records = AlertRecords(isOn: true)
        let replies = Replies()
        let delivered = alert(1, handle: "h1", state: .delivered)
        let tap = try AlertResponse(action: "default", text: nil, category: nil)
        #expect(
            respond(&records, replies, .success(.response(.stored(delivered, tap, isDisplaced: true))))
                == ["waits, displaced", "withdraw h1", "responded 1", "tapped", "reply"])
        let remote = Categories()["REMOTE_NOTIFICATION"]
        let read = try AlertResponse(action: "MARK_READ_ACTION", text: nil, category: remote)
        // It is on the screen, but not recorded yet: its banner is taken away when it would be.
        #expect(
            respond(&records, replies, .success(.response(.stored(alert(1), read, isDisplaced: false))))
                == ["waits", "responded 1", "mark n1", "reply"])
        #expect(records.counters.responses == 2 && replies.error == nil)
        #expect(respond(&records, replies, .success(.response(.unknown))) == ["reply"])
        #expect(replies.error?.code == .notFound)
        #expect(
            respond(&records, replies, .success(.response(.refused(AlertsError("text: x", field: "text"))))) == [
                "reply"
            ])
        #expect(replies.error?.code == .invalid)
        #expect(respond(&records, replies, .failure(storeError)) == ["reply"])
        #expect(replies.error?.code == .store)
    }

    @Test("what is removed leaves the screen, and the way to it")
    func removed() throws {
        var records = AlertRecords(isOn: true)
        let replies = Replies()
        #expect(run(records.remove(desktop: "desk", id: nil, thread: "t", replies.then)) == ["reply"])
        #expect(replies.error?.code == .invalid)
        #expect(run(records.remove(desktop: nil, id: "n1", thread: "t", replies.then)) == ["reply"])
        let removal = records.remove(desktop: "desk", id: "n1", thread: nil, replies.then)
        guard case .store(let work)? = removal.first else { return #expect(Bool(false), "nothing is removed") }
        #expect(run(records.stored(work, .success(.removed([])))) == ["runs ", "reply"])
        #expect(replies.error?.code == .notFound)
        let database = try Database.open(path: ":memory:", migrations: AlertTable.migrations).database
        let gone = try database.run { (connection) throws(StoreError) in
            let table = AlertTable(connection)
            _ = try table.add(NewAlert(key("n1"), AlertContent(title: "due"), dueAt: 1))
            let shown = try table.add(NewAlert(key("n2"), AlertContent(title: "shown"), dueAt: 1))
            _ = try table.delivered(shown.row, at: 1, handle: "h2")
            return try table.remove(.desktop(desktop))
        }
        #expect(
            run(records.stored(.forget(desktop), .success(.removed(gone)))) == [
                "runs n1", "withdraw nil", "withdraw h2",
            ])
        #expect(run(records.stored(.removeSettled, .failure(storeError))).isEmpty)
        database.close()
    }
}
