import Foundation
import Hosting
import JSON
import TestSupport
import Testing
import Transport
import Wire

@testable import Device

/// Reads that make the device known at deployed desktops (WireDeployedRequests, "Reads after a start").
@Suite(.timeLimit(.minutes(1)))
struct ReadScheduleTests {
    @Test("two seconds after a desktop has come, unless something was sent to it, and after two minutes of silence")
    func schedule() {
        var schedule = ReadSchedule()
        schedule.changed([], now: 0)
        #expect(schedule.nextDeadline == nil)
        schedule.changed(["a", "b"], now: 1_000)
        schedule.sent(to: "b", now: 1_500)
        #expect(schedule.nextDeadline == 3_000)
        let early = schedule.tick(now: 2_999)
        let due = schedule.tick(now: 3_000)
        #expect(early == [] && due == ["a"])
        #expect(schedule.nextDeadline == 121_500)
        // One has started again, as its relay says.
        schedule.cameBack("b", now: 10_000)
        let again = schedule.tick(now: 12_000)
        #expect(again == ["b"] && schedule.nextDeadline == 123_000)
        schedule.changed(["b"], now: 20_000)
        #expect(schedule.nextDeadline == 132_000)
        schedule.sent(to: "a", now: 20_000)
        schedule.cameBack("a", now: 20_000)
        #expect(schedule.nextDeadline == 132_000, "it is not connected")
    }

    @Test("a desktop that has started again gets a read, also if it has no such command")
    func restarted() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        async let first = bench.invoke("notification.getUnreadCount")
        let request = try await desktop.request("notification.getUnreadCount")
        await desktop.answer(
            request, of: did, ["error": ["code": -32603, "message": "Unknown command namespace: notification"]])
        #expect(try await first.error?.code == .unsupported)
        let heartbeats = await bench.device.core.commands.heartbeats
        let before = try #require(await heartbeats.reads.nextDeadline)
        await desktop.close()
        _ = try await bench.host.event(.connectionChanged) { $0["online"] == false }
        let back = try await RawPeer.register("desktop-1", at: bench.url)
        try await until("its relay has said so") { await heartbeats.reads.nextDeadline ?? .max < before - 60_000 }
        await heartbeats.tick(now: try #require(await heartbeats.reads.nextDeadline))
        let read = try await back.request("notification.getUnreadCount")
        #expect(read["auth"]?["mobileDid"]?.string == did && read["params"] == [:])
        await back.answer(read, of: did, ["error": "Unknown command namespace: notification"])
        await bench.device.close()
        await bench.relay.stop()
    }
}
