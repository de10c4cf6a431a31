import History
@testable import Desktop
import Foundation
import Hosting
import JSON
import Notifications
import Pairing
import Signalling
import Store
import TestSupport
import Testing
import Transport
import Wire

/// Commands that are repeated, late, too many, or not allowed (WireMessages, "Repeated and late commands").
@Suite(.timeLimit(.minutes(1)))
struct AnswersTests {
    private func request(
        _ method: String, _ params: JSONValue = [:], id: String, expiresAt: EpochMilliseconds? = nil
    ) -> JSONValue {
        [
            "type": "chainlesschain:command:request",
            "payload": [
                "id": .string(id), "method": .string(method), "params": params,
                "expiresAt": expiresAt.map(JSONValue.integer),
            ],
        ]
    }

    private func total(of desktop: Desktop) async throws -> JSONValue? {
        let query = try Desktop.HistoryQuery([:])
        return try await desktop.value(.history(query))["total"]
    }

    private let tea: JSONValue = ["title": "Tea", "body": ""]

    @Test("a command that comes again under its id has its first answer, and one effect, also after a restart")
    func repeated() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await Bench(["state_dir": .string(directory)])
        let (device, id) = try await bench.device()
        try await device.command("notification.send", tea, id: "a", to: id)
        let first = try await device.answer("a")
        try await device.command("notification.send", tea, id: "a", to: id)
        #expect(try await device.answer("a") == first)
        #expect(try await bench.counter("repeatedCommands") == 1)
        // The same id for something else is a mistake.
        try await device.command("notification.clearAll", id: "a", to: id)
        #expect(try await device.answer("a")["error"]?["code"] == -32600)
        // Another device's id is its own.
        let (other, _) = try await bench.device()
        try await other.command("notification.send", tea, id: "a", to: id)
        #expect(try await other.answer("a")["result"]?["notificationId"] != first["result"]?["notificationId"])
        // What reads is asked anew.
        try await device.command("notification.getUnreadCount", id: "n", to: id)
        #expect(try await device.answer("n")["result"]?["count"] == 2)
        try await device.command("notification.markAllAsRead", id: "m", to: id)
        #expect(try await device.answer("m")["result"]?["markedCount"] == 2)
        try await device.command("notification.getUnreadCount", id: "n", to: id)
        #expect(try await device.answer("n")["result"]?["count"] == 0)
        await bench.desktop.close()

        let host = RecordingHost()
        let desktop = try Bench.open(["state_dir": .string(directory)], relay: bench.url, host)
        _ = try await desktop.value(.start)
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
        try await device.command("notification.send", tea, id: "a", to: id)
        #expect(try await device.answer("a") == first)
        try await device.command("notification.markAllAsRead", id: "m", to: id)
        #expect(try await device.answer("m")["result"]?["markedCount"] == 2)
        #expect(try await total(of: desktop) == 2)
        await desktop.close()
        await bench.relay.stop()
    }

    @Test("what was refused was not carried out: it may come again, and go well")
    func refusedBefore() async throws {
        let bench = try await Bench()
        let (device, id) = try await bench.device()
        try await device.command("notification.send", ["title": ""], id: "a", to: id)
        #expect(try await device.answer("a")["error"]?["code"] == -32602)
        try await device.command("notification.send", tea, id: "a", to: id)
        #expect(try await device.answer("a")["result"]?["success"] == true)
        await bench.end()
    }

    @Test(
        "a push that is asked for again joins the one under way, and tells who was reached; one notification, one push")
    func joined() async throws {
        let bench = try await Bench()
        let (device, id) = try await bench.device()
        for _ in 0..<3 { try await device.command("notification.sendToMobile", tea, id: "p", to: id) }
        let answer = try await device.answer("p")
        #expect(answer["result"]?["delivered"] == true)
        try await device.command("notification.sendToMobile", tea, id: "p", to: id)
        #expect(try await device.answer("p") == answer)
        try await device.command("notification.getUnreadCount", id: "n", to: id)
        #expect(try await device.answer("n")["result"]?["count"] == 1)
        let bodies = await device.allBodies
        #expect(bodies.count { $0["type"] == "chainlesschain:event" } == 1)
        // A request that arrived while the push was under way joined it (CommandServerTests.pushing); one that came later
        // got the first answer again.
        let others = bodies.filter { $0["payload"]?["id"] == "p" }
        #expect(others.count <= 2 && others.allSatisfy { $0["payload"] == answer })
        await bench.end()
    }

    @Test("after a restart a push that was under way is answered with what is known")
    func interrupted() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await Bench(["state_dir": .string(directory)])
        let (device, id) = try await bench.device()
        let sent = try await device.command("notification.broadcast", tea, id: "p", to: id)
        _ = try await device.body("chainlesschain:event")
        _ = sent
        // As a crash leaves it: open in the table.
        await bench.desktop.core.reopenAnswers()
        await bench.desktop.close()
        let host = RecordingHost()
        let desktop = try Bench.open(["state_dir": .string(directory)], relay: bench.url, host)
        _ = try await desktop.value(.start)
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
        try await device.command("notification.broadcast", tea, id: "p", to: id)
        #expect(try await device.answer("p")["result"]?["success"] == true)
        #expect(try await total(of: desktop) == 1)
        await desktop.close()
        await bench.relay.stop()
    }

    @Test(
        "a command that comes after its time is refused by name, and has no effect; one that was answered has its answer"
    )
    func late() async throws {
        let bench = try await Bench()
        let (device, id) = try await bench.device()
        let now = EpochMilliseconds.now
        try await device.seal(request("notification.send", tea, id: "late", expiresAt: now - 1_000), to: id)
        let error = try await device.answer("late")["error"]
        #expect(error?["code"] == -32000 && error?["data"]?["reason"] == "expired")
        #expect(error?["data"]?["expiresAt"] == .integer(now - 1_000))
        try await device.seal(request("notification.send", tea, id: "good", expiresAt: now + 60_000), to: id)
        let first = try await device.answer("good")
        #expect(first["result"]?["success"] == true)
        try await device.seal(request("notification.send", tea, id: "good", expiresAt: now - 1_000), to: id)
        #expect(try await device.answer("good") == first)
        #expect(try await bench.state["unread"] == 1)
        #expect(try await bench.counter("lateCommands") == 1)
        await bench.end()
    }

    @Test("a device's first command that was held up is late: its clock is known from the pairing")
    func firstIsLate() async throws {
        let bench = try await Bench()
        let (device, id) = try await bench.device()
        let now = EpochMilliseconds.now
        try await device.seal(
            request("notification.send", tea, id: "held", expiresAt: now - 2_000), to: id, at: now - 5_000)
        #expect(try await device.answer("held")["error"]?["data"]?["reason"] == "expired")
        #expect(try await bench.state["unread"] == 0)
        await bench.end()
    }

    @Test("a relay that kept a command for too long: it is refused when the desktop comes")
    func keptTooLong() async throws {
        let bench = try await Bench()
        let (device, id) = try await bench.device()
        bench.desktop.perform(.stop)
        _ = try await bench.host.event(.connectionChanged) { $0["online"] == false }
        let end = EpochMilliseconds.now + 50
        try await device.seal(request("notification.send", tea, id: "k", expiresAt: end), to: id)
        // The device's clock is known but for what its frames were on their way.
        try await until("the command has expired") { EpochMilliseconds.now > end + 500 }
        _ = try await bench.desktop.value(.start)
        #expect(try await device.answer("k")["error"]?["data"]?["reason"] == "expired")
        #expect(try await bench.state["unread"] == 0)
        await bench.end()
    }

    @Test("too many commands at once are refused, and told when to come again; another device is not hindered")
    func limited() async throws {
        let bench = try await Bench(["max_commands_per_second": 1])
        let (device, id) = try await bench.device()
        let (other, _) = try await bench.device()
        for number in 0..<12 { try await device.command("notification.getUnreadCount", id: "\(number)", to: id) }
        let refused = try await device.answer("11")["error"]
        #expect(refused?["code"] == -32010 && refused?["data"]?["retryAfterMs"]?.integer ?? 0 > 0)
        #expect(try await device.answer("0")["result"]?["count"] == 0)
        try await other.command("notification.getUnreadCount", id: "x", to: id)
        #expect(try await other.answer("x")["result"]?["count"] == 0)
        #expect(try await bench.counter("limitedCommands") ?? 0 >= 1)
        await bench.end()
    }

    @Test("the desktop's user says what a device may do: the others are not meant, and unpairing forgets it")
    func permissions() async throws {
        let bench = try await Bench()
        let (device, id) = try await bench.device()
        let (other, _) = try await bench.device()
        let registry = try await bench.desktop.value(.permissions)
        #expect(registry["skills"]?.array?.first?["name"] == "notification")
        #expect(registry["skills"]?.array?.first?["risk"] == "mutating")
        #expect(registry["skills"]?.array?.first?["methods"]?["notification.getHistory"] == "safe")
        #expect(registry["devices"]?.array?.map { $0["allowed"]?["notification"] } == ["mutating", "mutating"])

        _ = try await bench.desktop.value(.allow(.upTo(.safe), skill: "notification", to: device.id))
        try await device.command("notification.send", tea, id: "1", to: id)
        #expect(try await device.answer("1")["error"]?["code"] == -32001)
        try await device.command("notification.getUnreadCount", id: "2", to: id)
        #expect(try await device.answer("2")["result"]?["count"] == 0)
        try await other.command("notification.send", tea, id: "1", to: id)
        #expect(try await other.answer("1")["result"]?["success"] == true)
        #expect(
            await bench.desktop.outcome(.allow(.nothing, skill: "notification", to: "nobody")).error?.code
                == .notFound)
        #expect(
            await bench.desktop.outcome(.allow(.nothing, skill: "nothing", to: device.id)).error?.code == .notFound
        )

        _ = try await bench.desktop.value(.enableSkill("notification", false))
        try await other.command("notification.getUnreadCount", id: "2", to: id)
        #expect(try await other.answer("2")["error"]?["code"] == -32001)
        #expect(await bench.desktop.outcome(.enableSkill("x", false)).error?.code == .notFound)
        _ = try await bench.desktop.value(.enableSkill("notification", true))

        _ = try await bench.desktop.value(.unpair(device.id))
        await device.acknowledge(try await bench.offer())
        _ = try await device.body("pairing:confirmation")
        try await device.command("notification.send", tea, id: "3", to: id)
        #expect(try await device.answer("3")["result"]?["success"] == true)
        await bench.end()
    }

    @Test("what is older than the settings say leaves the history when the desktop starts")
    func pruned() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await Bench(["state_dir": .string(directory)])
        let (device, id) = try await bench.device()
        try await device.command("notification.send", tea, id: "old", to: id)
        _ = try await device.answer("old")
        await bench.desktop.core.makeHistoryOld()
        bench.desktop.perform(.stop)
        _ = try await bench.desktop.value(.start)
        #expect(try await bench.state["unread"] == 1)
        await bench.desktop.close()
        let host = RecordingHost()
        let desktop = try Bench.open(["state_dir": .string(directory)], relay: bench.url, host)
        _ = try await desktop.value(.start)
        _ = try await host.event(.unreadChanged) { $0["unread"] == 0 }
        await desktop.close()
        await bench.relay.stop()
    }
}

extension DesktopSwitchboard {
    /// As if the process had ended while pushes were under way.
    fileprivate func reopenAnswers() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            store.database.submit { (connection) throws(StoreError) in
                try connection.execute("UPDATE command_answer SET open = 1")
            } then: { _ in
                continuation.resume()
            }
        }
    }

    fileprivate func makeHistoryOld() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            store.database.submit { (connection) throws(StoreError) in
                try connection.execute("UPDATE history SET created_at = 1000")
            } then: { _ in
                continuation.resume()
            }
        }
    }
}
