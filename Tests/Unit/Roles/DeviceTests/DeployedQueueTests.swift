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

/// Commands that are given while a deployed desktop is away, or may not hear them.
@Suite(.timeLimit(.minutes(2)))
struct DeployedQueueTests {
    @Test(
        "today's deployed desktop has no skill: that is remembered until the next connection, queued entries fail at once"
    )
    func withoutSkill() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        async let first = bench.invoke("notification.getUnreadCount")
        let request = try await desktop.payload("chainlesschain:command:request")
        await desktop.message(
            did,
            [
                "type": "chainlesschain:command:response",
                "payload": [
                    "id": request["payload"]?["id"],
                    "error": ["code": -32603, "message": "Unknown command namespace: notification"],
                ],
            ])
        #expect(try await first.error?.code == .unsupported)
        // Not asked again, neither for a read nor for what could wait.
        #expect(try await bench.invoke("notification.getUnreadCount").error?.code == .unsupported)
        #expect(try await bench.invoke("notification.markAllAsRead").error?.code == .unsupported)
        let core = bench.device.core
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            EventLoop.post {
                guard let known = core.desktops.peers.first,
                    let command = try? Device.Command(.clearAll, [:])
                else { return continuation.resume() }
                let call = HostCommand(deadline: EventLoop.now &+ 10_000) { _ in continuation.resume() }
                core.commands.queue.keep(
                    CommandOrder(
                        id: "queued-1", command: command, desktop: known.id, owner: .host(call),
                        deadline: call.deadline, expiresAt: .max))
            }
        }
        let ended = try await bench.host.event(.queueEnded)
        #expect(ended["outcome"] == "failed" && ended["error"]?["code"] == "unsupported")
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("a deployed desktop gets a queued command when it is back, under its id, with both spellings")
    func deployed() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        await desktop.close()
        let mark = try Device.Command(.markAsRead, JSONObject(#"{"notificationId":"n"}"#))
        guard case .queued(let id) = await bench.device.core.performed(mark) else {
            Issue.record("not queued")
            return
        }
        let back = try await RawPeer.register("desktop-1", at: bench.url)
        let request = try await back.payload("chainlesschain:command:request")["payload"]
        #expect(request?["id"]?.string == id.text)
        #expect(request?["params"] == ["notificationId": "n", "id": "n"])
        await back.message(
            did,
            [
                "type": "chainlesschain:command:response",
                "payload": ["id": request?["id"], "result": ["success": true, "markedCount": "all"]],
            ])
        #expect(try await bench.host.event(.queueEnded)["result"]?["markedCount"] == "all")
        await bench.device.close()
        await bench.relay.stop()
    }

    /// A deployed desktop that has pushed "a" and "b", and is gone.
    private func leftDesktop() async throws -> (Bench, did: String) {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        try await desktop.answerSync(of: did, rows: [])
        for id in ["a", "b"] {
            await desktop.message(did, event(id))
            _ = try await bench.host.push(from: bench.device)
        }
        await desktop.close()
        _ = try await bench.host.event(.connectionChanged) { $0["online"] == false }
        return (bench, did)
    }

    @Test("a deployed desktop knows no bound: a queued mark of all names what the user saw")
    func deployedMarkAll() async throws {
        let (bench, did) = try await leftDesktop()
        #expect(try await bench.invoke("notification.markAllAsRead").get()["queued"] == true)
        let back = try await RawPeer.register("desktop-1", at: bench.url)
        let request = try await back.request("notification.markAsRead")
        #expect(request["params"] == ["ids": ["b", "a"]])
        await back.answer(request, of: did, ["result": ["success": true, "markedCount": 2]])
        #expect(try await bench.host.event(.queueEnded)["result"]?["markedCount"] == 2)
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("a queued clear becomes one delete after another there; a row that is gone is no failure")
    func deployedClear() async throws {
        let (bench, did) = try await leftDesktop()
        let queued = try await bench.device.change(.clear()).get()
        #expect(queued["queued"] == true)
        let back = try await RawPeer.register("desktop-1", at: bench.url)
        let first = try await back.request("notification.delete")
        #expect(first["params"] == ["notificationId": "b", "id": "b"])
        await back.message(did, event("later"))
        await back.answer(first, of: did, ["error": "NOT_FOUND"])
        let second = try await back.request("notification.delete")
        #expect(second["params"] == ["notificationId": "a", "id": "a"])
        #expect(second["id"] != first["id"], "a late answer to the first is none to the second")
        await back.answer(second, of: did, ["result": ["success": true]])
        let ended = try await bench.host.event(.queueEnded)
        #expect(ended["id"] == queued["id"] && ended["outcome"] == "done" && ended["result"]?["clearedCount"] == 1)
        try await bench.device.until { $0.ids == ["later"] }
        #expect(try await bench.device.value(.queue).array?.isEmpty == true)
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("where the user has seen nothing, nothing is sent: without an id such a desktop marks everything")
    func deployedNothing() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        await desktop.close()
        #expect(try await bench.invoke("notification.markAllAsRead").get()["queued"] == true)
        let back = try await RawPeer.register("desktop-1", at: bench.url)
        #expect(try await bench.host.event(.queueEnded)["result"] == ["success": true, "markedCount": 0])
        let sent = await back.waitingFrames.compactMap { $0["payload"]?["payload"]?["method"]?.string }
        #expect(!sent.contains { $0.hasPrefix("notification.mark") })
        _ = did
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("over a relay that may deliver it minutes later, a deployed desktop gets the ids at once, from the queue")
    func deployedSilentRelay() async throws {
        let relay = try await NodeRelay(.publicRelay)
        let url = await relay.url
        let host = RecordingHost()
        let device = try AttackedHome.openDevice(url, [:], host)
        let desktop = try await RawPeer.register("desktop-1", at: url)
        let code: JSONValue = [
            "type": "desktop-pairing", "code": "004217", "pcPeerId": "desktop-1",
            "deviceInfo": ["name": "Office PC", "platform": "win32"],
            "timestamp": .integer(Int64(Date().timeIntervalSince1970 * 1_000)),
            "signalingUrl": .string(url),
        ]
        async let paired = device.value(.scan(code.serialized(), 20_000))
        let ack = try await desktop.payload("pair-ack")
        let did = try #require(ack["mobileDid"]?.string)
        func say(_ payload: JSONValue) async {
            await desktop.send(["type": "message", "to": .string(did), "from": "desktop-1", "payload": payload])
        }
        await say(["type": "hello"])
        _ = try await paired
        await say(event("a"))
        _ = try await host.push(from: device)
        try await until("the relay is known to be silent") {
            await device.core.routes.isSilent("desktop-1")
        }
        let change = try await device.change(.markAllRead(), timeout: 200).get()
        #expect(change["queued"] == true)
        let request = try await desktop.request("notification.markAsRead")
        #expect(request["params"] == ["ids": ["a"]])
        #expect(try await device.load().unread == 0)
        await say(
            [
                "type": "chainlesschain:command:response",
                "payload": ["id": request["id"], "result": ["success": true, "markedCount": 1]],
            ])
        #expect(try await host.event(.queueEnded)["outcome"] == "done")
        await device.close()
        await relay.close()
    }
}
