import Desktop
@testable import Device
import Foundation
import Hosting
import JSON
import Notifications
import Peering
import Signalling
import TestSupport
import Testing
import Transport

/// A device's inbox against desktops: ours over a relay, and deployed ones, literal frames.
@Suite(.timeLimit(.minutes(1)))
struct InboxTests {
    /// One desktop of ours, and devices that have paired with it.
    struct House {
        let bench: Bench
        let desktop: Desktop
        let host = RecordingHost()

        init(_ name: String = "Desk", at bench: Bench? = nil) async throws {
            if let bench { self.bench = bench } else { self.bench = try await Bench() }
            desktop = try Desktop.open(
                #"{"state_dir":":memory:","relay_url":"\#(self.bench.url)","name":"\#(name)"}"#, host.channel,
                links: BenchRelay.links
            ).0
            try await pair(self.bench.device)
            try await settled(self.bench.host)
        }

        func pair(_ device: Device) async throws {
            let offer = try await desktop.value(.offer(10_000))
            _ = try await device.value(.scan(offer["payload"]?.string ?? "", 10_000))
        }

        /// The device has asked for everything by itself.
        func settled(_ host: RecordingHost) async throws {
            _ = try await host.event(.settingsChanged)
        }

        func another() async throws -> (Device, RecordingHost) {
            let host = RecordingHost()
            let device = try Bench.open(":memory:", host)
            try await pair(device)
            try await settled(host)
            return (device, host)
        }

        func notify(_ titles: String...) async throws {
            for title in titles {
                let notice = try Desktop.Notice(JSONObject(#"{"title":"\#(title)","body":"b"}"#))
                _ = try await desktop.value(.notify(notice, 10_000))
            }
        }

        func close() async {
            await desktop.close()
            await bench.device.close()
            await bench.relay.stop()
        }
    }

    // MARK: Against our desktop

    @Test("load, mark, mark all, delete, clear, refresh: rows, unread and the desktop agree after each")
    func sequence() async throws {
        let house = try await House()
        let device = house.bench.device
        try await house.notify("one", "two", "three")
        for _ in 0..<3 { _ = try await house.bench.host.push(from: device) }
        let first = try await device.load()
        #expect(first.titles == ["three", "two", "one"] && first.unread == 3)
        let ids = first.ids

        let marked = try await device.change(.markRead(ids[0])).get()
        #expect(marked["success"] == true && marked["markedCount"] == 1 && marked["unread"] == 2)
        #expect(try await device.load(["unreadOnly": true]).titles == ["two", "one"])
        let all = try await device.change(.markAllRead()).get()
        #expect(all["markedCount"] == 2 && all["unread"] == 0)
        #expect(try await device.load().unread == 0)
        let deleted = try await device.change(.delete(ids[1])).get()
        #expect(deleted["deletedCount"] == 1)
        #expect(try await device.load().titles == ["three", "one"])
        #expect(try await device.change(.delete(ids[1])).error?.code == .notFound)
        let history = try await house.bench.invoke("notification.getHistory").get()
        #expect(history["total"] == 2 && history["unreadCount"] == 0)
        let cleared = try await device.change(.clear()).get()
        #expect(cleared["clearedCount"] == 2)
        #expect(try await device.load().titles == [])
        let refreshed = try await device.value(.ask(.refresh, of: nil, 10_000))
        #expect(refreshed["dropped"] == 0 && refreshed["added"] == 0 && refreshed["unread"] == 0)
        let state = try await device.value(.inboxState)
        #expect(state["loading"] == false && state["unread"] == 0)
        #expect(
            state["desktops"]?.array?.first?["error"] == nil
                && state["desktops"]?.array?.first?["refreshedAt"]?.integer != nil)
        await house.close()
    }

    @Test("read, delete and clear on one device reach the other, and the desktop's host")
    func twoDevices() async throws {
        let house = try await House()
        let (other, otherHost) = try await house.another()
        try await house.notify("one", "two", "three")
        for _ in 0..<3 {
            _ = try await house.bench.host.push(from: house.bench.device)
            _ = try await otherHost.push(from: other)
        }
        let ids = try await house.bench.device.load().ids
        _ = try await house.bench.device.change(.markRead(ids[0])).get()
        _ = try await otherHost.event(.unreadChanged) { $0["unread"] == 2 }
        #expect(try await other.load(["unreadOnly": true]).titles == ["two", "one"])
        #expect(try await house.host.event(.notificationRead)["ids"] == [.string(ids[0])])
        _ = try await house.bench.device.change(.delete(ids[2])).get()
        _ = try await otherHost.event(.unreadChanged) { $0["unread"] == 1 }
        #expect(try await other.load().titles == ["three", "two"])
        #expect(try await house.host.event(.notificationDeleted)["ids"] == [.string(ids[2])])
        _ = try await other.change(.clear()).get()
        _ = try await house.bench.host.event(.unreadChanged) { $0["unread"] == 0 }
        #expect(try await house.bench.device.load().titles == [])
        _ = try await house.host.event(.notificationCleared)
        await other.close()
        await house.close()
    }

    @Test("settings are fetched at connect, readable afterwards, and told when another device changes them")
    func settings() async throws {
        let house = try await House()
        let (other, _) = try await house.another()
        let before = try await house.bench.device.value(.inboxSettings(of: nil))
        #expect(before["settings"]?["enabled"] == true && before["settings"]?["quietHoursEnabled"] == false)
        let command = try Device.Command(.updateSettings, JSONObject(#"{"enabled":false}"#))
        _ = await other.outcome(.ask(.invoke(command), of: nil, 10_000))
        let told = try await house.bench.host.event(.settingsChanged) { $0["settings"]?["enabled"] == false }
        #expect(told["settings"]?["revision"] == 1)
        _ = try await house.host.event(.settingsChanged) { $0["revision"] == 1 }
        house.bench.device.perform(.stop)
        let after = try await house.bench.device.value(.inboxSettings(of: nil))
        #expect(after["settings"]?["enabled"] == false)
        // The one who has changed them has them by the answer.
        let own = try await other.value(.inboxSettings(of: nil))
        #expect(own["settings"]?["enabled"] == false)
        await other.close()
        await house.close()
    }

    @Test("a device that was away gets what was read and deleted meanwhile by the refresh at connect")
    func away() async throws {
        let house = try await House()
        let (other, otherHost) = try await house.another()
        try await house.notify("one", "two", "three")
        for _ in 0..<3 { _ = try await otherHost.push(from: other) }
        let ids = try await other.load().ids
        other.perform(.stop)
        for _ in 0..<3 { _ = try await house.bench.host.push(from: house.bench.device) }
        _ = try await house.bench.device.change(.markRead(ids[0])).get()
        _ = try await house.bench.device.change(.delete(ids[1])).get()
        #expect(try await other.load().unread == 3)
        other.perform(.start)
        _ = try await otherHost.event(.unreadChanged) { $0["unread"] == 1 }
        try await other.until { $0.titles == ["three", "one"] }
        await other.close()
        await house.close()
    }

    @Test("while the desktop is away a change is shown and queued; when it is back it is carried out")
    func queued() async throws {
        let house = try await House()
        let device = house.bench.device
        try await house.notify("one", "two")
        for _ in 0..<2 { _ = try await house.bench.host.push(from: device) }
        let ids = try await device.load().ids
        device.perform(.stop)
        #expect(try await device.change(.markRead(ids[0])).get()["queued"] == true)
        #expect(try await device.change(.delete(ids[1])).get()["queued"] == true)
        #expect(try await device.load().titles == ["two"])
        #expect(try await device.load().unread == 0)
        device.perform(.start)
        _ = try await house.bench.host.event(.queueEnded) { $0["method"] == "notification.delete" }
        let history = try await house.bench.invoke("notification.getHistory").get()
        #expect(history["total"] == 1 && history["unreadCount"] == 0)
        #expect(try await device.load().titles == ["two"])
        await house.close()
    }

    @Test("two desktops: one inbox, each change at its own, and a refresh of both at once")
    func twoDesktops() async throws {
        let one = try await House("One")
        let two = try await House("Two", at: one.bench)
        let device = one.bench.device
        try await one.notify("from one")
        _ = try await one.bench.host.push(from: device)
        try await two.notify("from two")
        _ = try await one.bench.host.push(from: device)
        let page = try await device.load()
        #expect(page.titles == ["from two", "from one"] && page.unread == 2)
        #expect(try await device.change(.clear()).error?.code == .invalid)
        let desktop = page.desktops[0]
        _ = try await device.change(.clear(), desktop: desktop).get()
        #expect(try await device.load().titles == ["from one"])
        #expect(try await device.load(["desktop": .string(desktop)]).titles == [])
        await two.desktop.close()
        let refreshed = try await device.value(.ask(.refresh, of: nil, 3_000))
        #expect(refreshed["unread"] == 1 && refreshed["failed"]?.array?.count == 1)
        #expect(refreshed["failed"]?.array?.first?["desktop"] == .string(desktop))
        let state = try await device.value(.inboxState)
        #expect(state["desktops"]?.array?.count == 2)
        // An unpaired desktop's rows can still be taken away, here alone.
        _ = try await device.value(.unpair(page.desktops[1]))
        #expect(try await device.load().unread == 1)
        _ = try await device.change(.markAllRead(), desktop: page.desktops[1]).get()
        #expect(try await device.load().unread == 0)
        await one.close()
    }

    // MARK: Against deployed desktops

    @Test("a deployed desktop is asked for what was missed; it comes late, unread, once, as pushes")
    func gap() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        try await desktop.answerSync(of: did, rows: [])
        await desktop.message(did, event("live"))
        #expect(try await bench.host.push(from: bench.device)["late"] == false)
        for round in 0..<2 {
            bench.device.perform(.stop)
            _ = try await bench.host.event(.connectionChanged) { $0["online"] == false }
            bench.device.perform(.start)
            let asked = try await desktop.request("notification.getHistory")
            #expect(asked["params"]?["since"]?.integer == (round == 0 ? 1_735_689_600_000 : 1_735_689_602_000))
            #expect(asked["params"]?["startDate"] == asked["params"]?["since"])
            let rows: JSONValue = [
                ["id": "second", "title": "Two", "message": "b", "created_at": 1_735_689_602_000, "read": 0],
                ["id": "first", "title": "One", "message": "b", "created_at": 1_735_689_601_000, "read": 0],
                ["id": "read", "title": "Known", "message": "b", "created_at": 1_735_689_600_500, "read": 1],
                ["id": "live", "title": "T", "message": "B", "created_at": 1_735_689_600_000, "read": 0],
            ]
            await desktop.answer(asked, of: did, ["result": ["items": rows, "total": 4, "unreadCount": 3]])
            try await desktop.answerRefresh(of: did, ["items": rows, "total": 4, "unreadCount": 3])
            guard round == 0 else { continue }
            for id in ["first", "second"] {
                let push = try await bench.host.push(from: bench.device)
                #expect(push["id"] == .string(id) && push["late"] == true)
            }
        }
        let page = try await bench.device.load()
        #expect(page.ids == ["second", "first", "read", "live"] && page.unread == 3)
        #expect(try await bench.counter("admitted") == 1)
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("a desktop without the skill is asked once, and again after the next connect")
    func unsupported() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        let refusal: JSONObject = [
            "error": ["code": -32603, "message": "Unknown command namespace: notification"]
        ]
        for _ in 0..<2 {
            await desktop.answer(try await desktop.request("notification.getHistory"), of: did, refusal)
            try await bench.device.untilInbox { $0["desktops"]?.array?.first?["unsupported"] == true }
            #expect(try await bench.invoke("notification.getSettings").error?.code == .unsupported)
            #expect(
                await bench.device.outcome(.ask(.refresh, of: nil, 5_000)).error?.code == .unsupported)
            #expect(try await bench.device.change(.clear()).error?.code == .unsupported)
            #expect(await bench.device.outcome(.inboxSettings(of: nil)).error?.code == .unsupported)
            try await desktop.settle()
            #expect(await desktop.hasRequest == false)
            bench.device.perform(.stop)
            _ = try await bench.host.event(.connectionChanged) { $0["online"] == false }
            bench.device.perform(.start)
        }
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("a change that the desktop refuses is put back, and so is one whose answer cannot be read")
    func putBack() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        try await desktop.answerSync(of: did, rows: [])
        await desktop.message(did, event("a"))
        _ = try await bench.host.push(from: bench.device)
        let answers: [(JSONObject, HostError.Code)] = [
            (["error": ["code": -32001, "message": "Permission denied"]], .denied),
            (["error": "it broke"], .remote),
            (["result": ["success": false, "error": "locked"]], .remote),
            (["result": "no object"], .undecodable),
            (["result": ["success": "maybe"]], .undecodable),
        ]
        let requests: [(String, Device.InboxRequest)] = try [
            ("markAsRead", .markRead("a")), ("markAllAsRead", .markAllRead()), ("delete", .delete("a")),
            ("clearAll", .clear()),
        ]
        for (method, request) in requests {
            for (answer, code) in answers {
                async let change = bench.device.change(request)
                let asked = try await desktop.request("notification.\(method)")
                // Shown before it is answered.
                #expect(try await bench.device.load().unread == 0)
                await desktop.answer(asked, of: did, answer)
                #expect(try await change.error?.code == code)
                let page = try await bench.device.load()
                #expect(page.ids == ["a"] && page.unread == 1 && page.uncertain == [])
                let state = try await bench.device.value(.inboxState)
                #expect(state["desktops"]?.array?.first?["error"]?["code"] == .string(code.name))
            }
        }
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("a refusal is reported until a command with the same rights or more succeeds")
    func permitted() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        try await desktop.answerSync(of: did, rows: [])
        for id in ["a", "b"] {
            await desktop.message(did, event(id))
            _ = try await bench.host.push(from: bench.device)
        }
        async let change = bench.device.change(.markRead("a"))
        await desktop.answer(
            try await desktop.request("notification.markAsRead"), of: did,
            ["error": ["code": -32001, "message": "Permission denied"]])
        #expect(try await change.error?.code == .denied)
        _ = try await bench.host.event(.inboxChanged) { $0["error"]?["code"] == "denied" }
        // A read proves nothing about that right.
        async let counted = bench.invoke("notification.getUnreadCount")
        await desktop.answer(
            try await desktop.request("notification.getUnreadCount"), of: did, ["result": ["count": 2]])
        _ = try await counted.get()
        #expect(try await bench.inboxError == "denied")
        // Its user permits it now.
        async let marked = bench.invoke("notification.markAsRead", ["notificationId": "a"])
        await desktop.answer(
            try await desktop.request("notification.markAsRead"), of: did,
            ["result": ["success": true, "markedCount": 1]])
        _ = try await marked.get()
        let told = try await bench.host.event(.inboxChanged) { $0["error"]?["code"] != "denied" }
        #expect(told["error"] == nil)
        #expect(try await bench.inboxError == nil)
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("a refusal isn't repeated after a reconnect, before the desktop has answered anything")
    func permittedMeanwhile() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        try await desktop.answerSync(of: did, rows: [])
        await desktop.message(did, event("a"))
        _ = try await bench.host.push(from: bench.device)
        async let change = bench.device.change(.markRead("a"))
        await desktop.answer(
            try await desktop.request("notification.markAsRead"), of: did,
            ["error": ["code": -32001, "message": "Permission denied"]])
        #expect(try await change.error?.code == .denied)
        #expect(try await bench.inboxError == "denied")
        _ = try await bench.host.event(.inboxChanged) { $0["error"]?["code"] == "denied" }
        EventLoop.post { [core = bench.device.core] in
            for url in core.routes.opened { core.routes.link(url)?.reconnectNow() }
        }
        _ = try await desktop.request("notification.getHistory")
        #expect(try await bench.inboxError == nil)
        let told = try await bench.host.event(.inboxChanged) { $0["error"]?["code"] != "denied" }
        #expect(told["error"] == nil)
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("an answer that is lost leaves the row uncertain; the command comes again under its id; a refresh settles it")
    func uncertain() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        try await desktop.answerSync(of: did, rows: [])
        for id in ["a", "b"] {
            await desktop.message(did, event(id))
            _ = try await bench.host.push(from: bench.device)
        }
        async let lost = bench.device.change(.delete("a"), timeout: 300)
        let asked = try await desktop.request("notification.delete")
        #expect(try await bench.device.load().ids == ["b"])
        let error = try #require(try await lost.error)
        #expect(error.code == .timeout && error.detail["queued"] == true && error.detail["id"] == asked["id"])
        #expect(error.message == "no answer yet; the command waits in the queue and is sent again")
        let page = try await bench.device.load()
        #expect(Set(page.ids) == ["a", "b"] && page.uncertain == ["a"] && page.unread == 2)
        let again = try await desktop.request("notification.delete")
        #expect(again["id"] == asked["id"])
        // The desktop has it still, so the row is certain; then the second try is answered, and it is gone.
        async let refreshed = bench.device.value(.ask(.refresh, of: nil, 5_000))
        let rows: JSONValue = [["id": "b", "title": "T"], ["id": "a", "title": "T"]]
        try await desktop.answerRefresh(of: did, ["items": rows, "total": 2, "unreadCount": 2])
        _ = try await refreshed
        let settled = try await bench.device.load()
        #expect(Set(settled.ids) == ["a", "b"] && settled.uncertain == [])
        await desktop.answer(again, of: did, ["result": ["success": true]])
        _ = try await bench.host.event(.queueEnded) { $0["outcome"] == "done" }
        try await bench.device.until { $0.ids == ["b"] }
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("a refresh drops rows, reads pages by offset, asks for the count, and says what failed")
    func refresh() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        try await desktop.answerSync(of: did, rows: [])
        await desktop.message(did, event("gone"))
        _ = try await bench.host.push(from: bench.device)
        async let refreshed = bench.device.value(.ask(.refresh, of: nil, 10_000))
        let first = try await desktop.request("notification.getHistory")
        let loading = try await bench.device.value(.inboxState)
        #expect(loading["loading"] == true && loading["desktops"]?.array?.first?["loading"] == true)
        let rows = (0..<150).map { number -> JSONValue in
            [
                "id": .string("n\(number)"), "title": "T", "created_at": .integer(2_000_000_000_000 - Int64(number)),
                "read": 0,
            ]
        }
        await desktop.answer(first, of: did, ["result": ["items": .array(Array(rows[..<100])), "total": 150]])
        let second = try await desktop.request("notification.getHistory")
        #expect(second["params"]?["offset"] == 100)
        await desktop.answer(second, of: did, ["result": ["items": .array(Array(rows[100...])), "total": 150]])
        let count = try await desktop.request("notification.getUnreadCount")
        await desktop.answer(count, of: did, ["result": ["count": 149]])
        let result = try await refreshed
        #expect(result["added"] == 150 && result["dropped"] == 1 && result["unread"] == 149)
        #expect(try await bench.device.load(["limit": 1]).total == 150)

        async let broken = bench.device.outcome(.ask(.refresh, of: nil, 10_000))
        await desktop.answer(try await desktop.request("notification.getHistory"), of: did, ["result": ["items": 7]])
        #expect(await broken.error?.code == .undecodable)
        #expect(try await bench.device.load(["limit": 1]).total == 150)
        #expect(
            await bench.device.outcome(.ask(.refresh, of: nil, 200)).error?.code == .timeout)
        let state = try await bench.device.value(.inboxState)
        #expect(state["loading"] == false && state["desktops"]?.array?.first?["error"]?["code"] == "timeout")
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("what is marked while a refresh is under way is asked for again: what it was told before may be older")
    func refreshOvertaken() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        try await desktop.answerSync(of: did, rows: [])
        func rows(read: Int64) -> JSONObject {
            let rows = (0..<3).map { number -> JSONValue in
                ["id": .string("n\(number)"), "title": "T", "created_at": .integer(number), "read": .integer(read)]
            }
            return ["items": .array(rows), "total": 3]
        }
        async let refreshed = bench.device.value(.ask(.refresh, of: nil, 10_000))
        try await desktop.answerRefresh(of: did, rows(read: 0))
        let early = try await desktop.request("notification.getUnreadCount")
        async let marked = bench.device.change(.markAllRead())
        await desktop.answer(
            try await desktop.request("notification.markAllAsRead"), of: did,
            ["result": ["success": true, "markedCount": 3]])
        #expect(try await marked.get()["unread"] == 0)
        await desktop.answer(early, of: did, ["result": ["count": 3]])
        try await desktop.answerRefresh(of: did, rows(read: 1))
        await desktop.answer(
            try await desktop.request("notification.getUnreadCount"), of: did, ["result": ["count": 0]])
        #expect(try await refreshed["unread"] == 0)
        #expect(try await bench.device.load().unread == 0)
        await bench.device.close()
        await bench.relay.stop()
    }
}

extension Bench {
    /// The code of the last error of the only desktop's part of the inbox.
    fileprivate var inboxError: JSONValue? {
        get async throws {
            try await device.value(.inboxState)["desktops"]?.array?.first?["error"]?["code"]
        }
    }
}
