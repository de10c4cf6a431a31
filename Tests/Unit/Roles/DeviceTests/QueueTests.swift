import History
@testable import Desktop
@testable import Device
import Foundation
import Hosting
import JSON
import Notifications
import OfflineQueue
import Pairing
import Peering
import TestSupport
import Testing
import Transport
import Wire

/// Commands that are given while the desktop is away.
@Suite(.timeLimit(.minutes(2)))
struct QueueTests {
    private static let methods: [(String, JSONObject)] = [
        ("notification.updateSettings", ["soundEnabled": false]),
        ("notification.markAllAsRead", [:]),
        ("notification.delete", ["notificationId": "gone"]),
        ("notification.markAsRead", ["notificationId": "gone"]),
        ("notification.clearAll", [:]),
    ]

    @Test("scene 5: a mark that is given offline waits, and is true on the desktop when it is back")
    func markOffline() async throws {
        let bench = try await SealedBench()
        let id = try await bench.notify("Tea")
        try await bench.leaveDesktop()
        let queued = try await bench.invoke("notification.markAsRead", ["notificationId": .string(id)]).get()
        #expect(queued["queued"] == true && queued["id"]?.string != nil)
        #expect(try await bench.queue.map { $0["state"] } == ["pending"])
        #expect(try await bench.deviceState["queue"]?["pending"] == 1)
        _ = try await bench.host.event(.queueChanged) { $0["pending"] == 1 }
        try await bench.returnDesktop()
        let ended = try await bench.host.event(.queueEnded) { $0["id"] == queued["id"] }
        #expect(ended["outcome"] == "done" && ended["result"]?["markedCount"] == 1)
        _ = try await bench.host.event(.queueChanged) { $0["count"] == 0 }
        #expect(try await bench.queue.isEmpty)
        #expect(try await bench.history()["unreadCount"] == 0)
        await bench.end()
    }

    @Test("five methods wait; reads, and what is sent now, fail at once")
    func whichWait() async throws {
        let bench = try await SealedBench()
        try await bench.leaveDesktop()
        for (method, params) in Self.methods {
            #expect(try await bench.invoke(method, params).get()["queued"] == true, "\(method)")
        }
        let others: [(String, JSONObject)] = [
            ("notification.getHistory", [:]), ("notification.getUnreadCount", [:]), ("notification.getSettings", [:]),
            ("notification.send", ["title": "T", "body": ""]), ("notification.broadcast", ["title": "T", "body": ""]),
            ("notification.sendToMobile", ["title": "T", "body": ""]),
        ]
        for (method, params) in others {
            #expect(try await bench.invoke(method, params).error?.code == .offline, "\(method)")
        }
        await bench.end()
    }

    @Test(
        "what waits for the desktop hits only what its user saw; later pushes are shown, and stay",
        arguments: [NotificationMethod.markAllAsRead, .clearAll])
    func laterPushes(method: NotificationMethod) async throws {
        for throughInbox in [true, false] {
            let bench = try await SealedBench()
            for title in ["1", "2"] {
                try await bench.notify(title)
                _ = try await bench.host.push(from: bench.device)
            }
            bench.device.perform(.stop)
            _ = try await bench.host.event(.connectionChanged) { $0["online"] == false }
            if throughInbox {
                let request: Device.InboxRequest = method == .clearAll ? try .clear() : try .markAllRead()
                #expect(try await bench.device.change(request).get()["queued"] == true)
            } else {
                #expect(try await bench.invoke(method.name).get()["queued"] == true)
            }
            for title in ["3", "4", "5"] { try await bench.notify(title) }
            bench.device.perform(.start)
            let ended = try await bench.host.event(.queueEnded)
            #expect(ended["outcome"] == "done")
            let count = ended["result"]?[method == .clearAll ? "clearedCount" : "markedCount"]
            #expect(count == 2)
            for title in ["3", "4", "5"] {
                #expect(try await bench.host.push(from: bench.device)["title"] == .string(title))
            }
            let history = try await bench.history()
            #expect(history["unreadCount"] == 3 && history["total"] == (method == .clearAll ? 3 : 5))
            try await bench.device.until { $0.unread == 3 && $0.ids.count == (method == .clearAll ? 3 : 5) }
            await bench.end()
        }
    }

    @Test("a command that comes back because the desktop is away keeps its id, and is carried out once")
    func peerOffline() async throws {
        let bench = try await SealedBench()
        try await bench.notify("Tea")
        // The device does not know yet that it is gone.
        bench.desktop.perform(.stop)
        let core = bench.device.core
        let answer = try await bench.invoke("notification.clearAll").get()
        guard answer["queued"] == true else {
            // It was faster than the desktop's good-bye.
            #expect(answer["clearedCount"] == 1)
            return await bench.end()
        }
        #expect(await core.commands.queue.commands.map { $0.id.text } == [answer["id"]?.string])
        try await bench.returnDesktop()
        let ended = try await bench.host.event(.queueEnded)
        #expect(ended["outcome"] == "done" && ended["result"]?["clearedCount"] == 1)
        await bench.end()
    }

    @Test("what was queued is there after a restart of the device, is drained in order, and only once")
    func restart() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-queue-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await SealedBench(deviceDirectory: directory)
        var ids: [String] = []
        for number in 0..<20 {
            let sent = try await bench.invoke("notification.send", ["title": .string("\(number)"), "body": ""]).get()
            ids.append(sent["notificationId"]?.string ?? "")
        }
        await bench.device.close()
        let host = RecordingHost()
        let device = try SealedBench.openDevice(directory, host)
        // Not started: there is no connection.
        for id in ids.prefix(10) {
            let command = try Device.Command(.delete, ["notificationId": .string(id)])
            let queued = try await value {
                (then: @escaping Then) in
                device.perform(.ask(.invoke(command), of: nil, 1_000), then: then)
            }
            #expect(queued["queued"] == true)
        }
        await device.close()
        let again = try SealedBench.openDevice(directory, host)
        again.perform(.start)
        var order: [JSONValue?] = []
        for _ in 0..<10 {
            let ended = try await host.event(.queueEnded)
            #expect(ended["outcome"] == "done" && ended["result"]?["deletedCount"] == 1)
            order.append(ended["id"])
        }
        #expect(Set(order.compactMap { $0?.string }).count == 10)
        #expect(try await bench.history()["total"] == 10)
        await again.close()
        await bench.end()
    }

    @Test("while others wait a command waits behind them; the newest setting is in force at the end")
    func behind() async throws {
        let bench = try await SealedBench()
        try await bench.leaveDesktop()
        _ = try await bench.invoke("notification.updateSettings", ["soundEnabled": false, "showPreview": false]).get()
        _ = try await bench.invoke("notification.updateSettings", ["soundEnabled": true]).get()
        try await bench.returnDesktop()
        _ = try await bench.host.event(.queueChanged) { $0["count"] == 0 }
        let settings = try await bench.invoke("notification.getSettings").get()
        #expect(settings["soundEnabled"] == true && settings["showPreview"] == false)
        await bench.end()
    }

    @Test("a queued setting that somebody has changed since loses, and that is told")
    func stale() async throws {
        let bench = try await SealedBench()
        #expect(try await bench.invoke("notification.getSettings").get()["revision"] == 0)
        try await bench.leaveDesktop()
        _ = try await bench.invoke("notification.updateSettings", ["soundEnabled": false, "showPreview": false]).get()
        // Meanwhile the desktop's user changes one of them.
        await bench.changeAtDesktop(["soundEnabled": false])
        await bench.changeAtDesktop(["soundEnabled": true])
        try await bench.returnDesktop()
        let ended = try await bench.host.event(.queueEnded)
        #expect(ended["outcome"] == "done" && ended["result"]?["stale"] == ["soundEnabled"])
        let settings = try await bench.invoke("notification.getSettings").get()
        #expect(settings["soundEnabled"] == true && settings["showPreview"] == false)
        await bench.end()
    }

    @Test("what the desktop refuses has failed; it can be retried, removed and cleared")
    func refused() async throws {
        let bench = try await SealedBench()
        try await bench.notify("Tea")
        _ = try await bench.desktop.value(.allow(.upTo(.safe), skill: "notification", to: bench.deviceID))
        #expect(try await bench.invoke("notification.clearAll").error?.code == .denied)
        try await bench.leaveDesktop()
        let queued = try await bench.invoke("notification.clearAll").get()
        try await bench.returnDesktop()
        let ended = try await bench.host.event(.queueEnded)
        #expect(ended["outcome"] == "failed" && ended["error"]?["code"] == "denied")
        #expect(try await bench.queue.map { $0["state"] } == ["failed"])
        _ = try await bench.desktop.value(.allow(.upTo(.mutating), skill: "notification", to: bench.deviceID))
        let id = try #require(queued["id"]?.string)
        _ = try await bench.device.value(.retryQueued(id))
        #expect(try await bench.host.event(.queueEnded)["result"]?["clearedCount"] == 1)
        #expect(
            await bench.device.outcome(.retryQueued(id)).error?.code
                == .notFound)
        #expect(
            await bench.device.outcome(.removeQueued("x")).error?.code
                == .notFound)
        try await bench.leaveDesktop()
        let other = try await bench.invoke("notification.clearAll").get()
        _ = try await bench.device.value(.removeQueued(other["id"]?.string ?? ""))
        #expect(try await bench.host.event(.queueEnded)["outcome"] == "removed")
        _ = try await bench.device.value(.clearQueue(before: 0))
        #expect(try await bench.queue.isEmpty)
        await bench.end()
    }

    @Test("a full queue gives its oldest up, and says so")
    func full() async throws {
        let bench = try await SealedBench()
        try await bench.leaveDesktop()
        for number in 0..<OfflineQueue.limit + 1 {
            _ = try await bench.invoke("notification.delete", ["notificationId": .string("n\(number)")]).get()
        }
        let ended = try await bench.host.event(.queueEnded)
        #expect(ended["outcome"] == "displaced")
        #expect(try await bench.queue.count == OfflineQueue.limit)
        #expect(try await bench.queue.first?["params"]?["notificationId"] == "n1")
        await bench.end()
    }

    @Test("each change of the queue is told, and each command's end")
    func everyChangeIsTold() async throws {
        let bench = try await SealedBench()
        let id = try await bench.notify("Tea")
        try await bench.leaveDesktop()
        let mark = try await bench.invoke("notification.markAsRead", ["notificationId": .string(id)]).get()
        _ = try await bench.host.event(.queueChanged) { $0["count"] == 1 && $0["pending"] == 1 }
        let other = try await bench.invoke("notification.delete", ["notificationId": "n"]).get()["id"]?.string ?? ""
        _ = try await bench.host.event(.queueChanged) { $0["count"] == 2 && $0["pending"] == 2 }
        _ = try await bench.device.value(.removeQueued(other))
        _ = try await bench.host.event(.queueChanged) { $0["count"] == 1 && $0["pending"] == 1 }
        #expect(try await bench.host.event(.queueEnded)["outcome"] == "removed")
        _ = try await bench.invoke("notification.clearAll").get()
        #expect(try await bench.host.event(.queueEnded) { $0["id"] == mark["id"] }["outcome"] == "superseded")
        _ = try await bench.desktop.value(.allow(.upTo(.safe), skill: "notification", to: bench.deviceID))
        try await bench.returnDesktop()
        _ = try await bench.host.event(.queueChanged) { $0["sending"] == 1 && $0["pending"] == 0 }
        #expect(try await bench.host.event(.queueEnded)["outcome"] == "failed")
        _ = try await bench.host.event(.queueChanged) { $0["failed"] == 1 && $0["sending"] == 0 }
        _ = try await bench.device.value(.clearQueue(before: 0))
        _ = try await bench.host.event(.queueChanged) { $0["count"] == 0 }
        await bench.end()
    }

    @Test("unpairing takes the commands of that desktop out")
    func unpaired() async throws {
        let bench = try await SealedBench()
        try await bench.leaveDesktop()
        _ = try await bench.invoke("notification.clearAll").get()
        _ = try await bench.device.value(.unpairAll)
        #expect(try await bench.host.event(.queueEnded)["outcome"] == "removed")
        #expect(try await bench.queue.isEmpty)
        await bench.end()
    }

    // MARK: Inside the device

    @Test("outcomes tell answered, queued, refused and unanswered apart, and the end of what was kept is told")
    func perform() async throws {
        let bench = try await SealedBench()
        let core = bench.device.core
        let clear = try Device.Command(.clearAll, [:])
        guard case .answered(let result) = await core.performed(clear) else {
            Issue.record("not answered")
            return await bench.end()
        }
        #expect(result["clearedCount"] == 0)
        _ = try await bench.desktop.value(.allow(.nothing, skill: "notification", to: bench.deviceID))
        guard case .refused(let refusal) = await core.performed(clear) else {
            Issue.record("not refused")
            return await bench.end()
        }
        #expect(refusal.error.code == .denied)
        _ = try await bench.desktop.value(.allow(.upTo(.mutating), skill: "notification", to: bench.deviceID))
        try await bench.leaveDesktop()
        guard case .queued(let id) = await core.performed(clear) else {
            Issue.record("not queued")
            return await bench.end()
        }
        try await bench.returnDesktop()
        let end = try await bench.host.event(.queueEnded) { $0["id"]?.string == id.text }
        #expect(end["outcome"] == "done")
        await bench.end()
    }

    @Test("a call without an answer is uncertain; where it is kept it goes out again under its id")
    func uncertain() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        let core = bench.device.core
        let mark = try Device.Command(.markAsRead, ["notificationId": "n"])
        guard case .unanswered(let id, let error) = await core.performed(mark, timeout: 200, queueing: .whenUnanswered)
        else {
            Issue.record("not unanswered")
            return
        }
        #expect(error.code == .timeout)
        let first = try await desktop.payload("chainlesschain:command:request")["payload"]
        let second = try await desktop.payload("chainlesschain:command:request")["payload"]
        #expect(first?["id"]?.string == id.text && second?["id"]?.string == id.text)
        #expect(first?["auth"]?["nonce"] != second?["auth"]?["nonce"])
        await desktop.message(
            did,
            [
                "type": "chainlesschain:command:response",
                "payload": ["id": .string(id.text), "result": ["success": true, "markedCount": 2]],
            ])
        #expect(try await bench.host.event(.queueEnded)["result"]?["markedCount"] == 2)
        await bench.device.close()
        await bench.relay.stop()
    }
}

extension DeviceSwitchboard {
    /// Performs a command with the only desktop.
    func performed(
        _ command: Device.Command, timeout: UInt64 = 10_000,
        queueing: CommandSender<CommandOwner>.Queueing = .whenOffline
    ) async -> CommandOutcome {
        await withCheckedContinuation { continuation in
            guard let desktop = desktops.peers.first else {
                return continuation.resume(returning: .notSent(HostError(.notFound, "no desktop")))
            }
            let call = HostCommand(deadline: EventLoop.now &+ timeout) { continuation.resume(returning: $0) }
            commands.perform(command, on: desktop.id, timeout: timeout, queueing: queueing, for: .host(call))
        }
    }
}
