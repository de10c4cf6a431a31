import Foundation
import Hosting
import JSON
import Signalling
import TestSupport
import Testing
import Transport

@testable import Device

/// Heartbeats to deployed desktops (WireDeployedRequests, "Heartbeats").
@Suite(.timeLimit(.minutes(1)))
struct HeartbeatTests {
    @Test("every 30 s while a deployed desktop is connected, and no timer while none is")
    func schedule() {
        var schedule = HeartbeatSchedule()
        schedule.changed(isWanted: false, now: 0)
        #expect(schedule.nextDeadline == nil)
        schedule.changed(isWanted: true, now: 1_000)
        #expect(schedule.nextDeadline == 31_000)
        // A second desktop, or a second relay, changes nothing.
        schedule.changed(isWanted: true, now: 20_000)
        #expect(schedule.nextDeadline == 31_000)
        let early = schedule.tick(isWanted: true, now: 30_999)
        #expect(!early && schedule.nextDeadline == 31_000)
        let due = schedule.tick(isWanted: true, now: 31_005)
        #expect(due && schedule.nextDeadline == 61_005)
        schedule.changed(isWanted: false, now: 40_000)
        #expect(schedule.nextDeadline == nil)
        let stray = schedule.tick(isWanted: true, now: 70_000)
        #expect(!stray && schedule.nextDeadline == nil)
    }

    @Test("a connection that keeps breaking doesn't put a heartbeat off; after a long pause it is due at once")
    func flapping() {
        var schedule = HeartbeatSchedule()
        for now in stride(from: UInt64(0), to: 30_000, by: 5_000) {
            schedule.changed(isWanted: true, now: now)
            #expect(schedule.nextDeadline == 30_000)
            schedule.changed(isWanted: false, now: now + 4_000)
        }
        schedule.changed(isWanted: true, now: 500_000)
        #expect(schedule.nextDeadline == 500_000)
    }

    @Test("when one is due, exactly the connected deployed desktops get one")
    func sent() async throws {
        let bench = try await Bench()
        let (desktop, did) = try await bench.pairedDesktop()
        let heartbeats = await bench.device.core.commands.heartbeats
        let due = try #require(await heartbeats.schedule.nextDeadline)
        await heartbeats.tick(now: due)
        let payload = try await desktop.payload("chainlesschain:heartbeat")
        #expect(payload["payload"]?.object?.count == 1)
        #expect(payload["payload"]?["timestamp"]?.integer ?? 0 > 1_735_689_600_000)
        // An answer is for nobody: the program hears of what comes after it.
        await desktop.message(did, ["type": "chainlesschain:heartbeat:ack", "payload": ["timestamp": 1]])
        await desktop.message(did, ["type": "chainlesschain:other", "payload": [:]])
        let command = try await bench.host.event(.command) { $0["type"] != "hello" }
        #expect(command["type"] == "chainlesschain:other")
        bench.device.perform(.stop)
        _ = try await bench.host.event(.connectionChanged) { $0["online"] == false }
        #expect(await heartbeats.schedule.nextDeadline == nil)
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("a sealed desktop gets none, and the device isn't woken for it")
    func sealed() async throws {
        let bench = try await SealedBench()
        #expect(await bench.device.core.commands.heartbeats.schedule.nextDeadline == nil)
        await bench.end()
    }
}
