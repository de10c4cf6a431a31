@testable import Device
import Foundation
import Hosting
import JSON
import Notifications
import TestSupport
import Testing
import Transport

/// Restarts, ends, and scans.
@Suite(.timeLimit(.minutes(1)))
struct DeviceLifeTests {
    private func scratch() throws -> String {
        let path = NSTemporaryDirectory() + "bellwire-device-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        return path
    }

    @Test("a restart keeps the desktops, the waiting pushes and what was seen, and goes on receiving")
    func restart() async throws {
        let directory = try scratch()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await Bench(stateDirectory: directory)
        let (desktop, did) = try await bench.pairedDesktop()
        await desktop.message(did, event("1", title: "taken"))
        await desktop.message(did, event("2", title: "waiting"))
        #expect(try await bench.host.push(from: bench.device)["id"] == "1")
        _ = try await bench.host.event(.unreadChanged) { $0["unread"] == 2 }
        await bench.device.close()

        let host = RecordingHost()
        let device = try Bench.open(directory, host)
        let list = try await device.value(.desktops)
        #expect(list.array?.map { $0["id"] } == ["desktop-1"])
        let waiting = try await host.push(from: device)
        #expect(waiting["title"] == "waiting" && waiting["redelivered"] == nil)
        device.perform(.start)
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
        await desktop.message(did, event("1", title: "taken"))
        await desktop.message(did, event("3", title: "new"))
        #expect(try await host.push(from: device)["title"] == "new")
        let state = try await device.value(.state)
        #expect(state["unread"] == 3 && state["counters"]?["duplicates"] == 1)
        await device.close()
        await bench.relay.stop()
    }

    @Test("a push comes again only when its handing over was cut off, and says so")
    func redelivery() async throws {
        let directory = try scratch()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await Bench(stateDirectory: directory)
        let (desktop, did) = try await bench.pairedDesktop()
        for number in 1...3 { await desktop.message(did, event("\(number)")) }
        _ = try await bench.host.event(.unreadChanged) { $0["unread"] == 3 }
        let source = try #require(bench.device.sources.first)
        let taken = try source.take(limit: 3)
        #expect(taken.map { $0.event.data["id"] } == ["1", "2", "3"])
        #expect(try source.take(limit: 3).isEmpty)
        // The first was handed over, the third was not begun, and of the second nothing was heard.
        try source.finish(handed: [taken[0].row], untouched: [taken[2].row])
        await bench.device.close()

        let host = RecordingHost()
        let device = try Bench.open(directory, host)
        let (first, second) = (try await host.push(from: device), try await host.push(from: device))
        #expect(first["id"] == "2" && first["redelivered"] == true)
        #expect(second["id"] == "3" && second["redelivered"] == nil)
        #expect(try #require(device.sources.first).take(limit: 3).isEmpty)
        await device.close()
        await bench.relay.stop()
    }

    @Test("one handle for a state directory; a close lets it go")
    func stateDirectory() async throws {
        let directory = try scratch()
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let device = try Bench.open(directory, RecordingHost())
        let error = #expect(throws: HostError.self) { _ = try Bench.open(directory, RecordingHost()) }
        #expect(error?.code == .busy && error?.message.contains("in use by this program") == true)
        await device.close()
        await (try Bench.open(directory, RecordingHost())).close()
    }

    @Test("a desktop that was called absent is there again after a new connection")
    func absence() async throws {
        let bench = try await Bench()
        let (desktop, _) = try await bench.pairedDesktop()
        await desktop.close()
        #expect(try await bench.invoke("notification.getUnreadCount").error?.code == .offline)
        _ = try await bench.host.event(.connectionChanged) { $0["online"] == false }
        await bench.relay.stop()
        await bench.relay.restart()
        _ = try await RawPeer.register("desktop-1", at: bench.url)
        _ = try await bench.host.event(.connectionChanged) { $0["online"] == true }
        await bench.device.close()
        await bench.relay.stop()
    }

    // MARK: Scans

    @Test("a scan, a call and a state that wait end as closed when the device is shut down")
    func shutDown() async throws {
        let bench = try await Bench()
        let (desktop, _) = try await bench.pairedDesktop()
        async let call = bench.invoke("notification.getUnreadCount")
        _ = try await desktop.request("notification.getUnreadCount")
        _ = try await RawPeer.register("desktop-2", at: bench.url)
        async let scan = outcome {
            bench.device.perform(.scan(bench.code(of: "desktop-2"), 10_000), then: $0)
        }
        _ = try await bench.host.event(.pairingChanged) { $0["state"] == "sending" }
        await bench.device.close()
        #expect(await scan.error?.code == .closed)
        #expect(try await call.error?.code == .closed)
        #expect(await bench.device.outcome(.scan(bench.code(), 1_000)).error?.code == .closed)
        #expect(await bench.device.outcome(.state).error?.code == .closed)
        await bench.relay.stop()
    }

    @Test("the same code scanned by two: each waits for its own time")
    func joinedScans() async throws {
        let bench = try await Bench()
        let desktop = try await RawPeer.register("desktop-1", at: bench.url)
        let code = bench.code()
        async let long = bench.device.outcome(.scan(code, 10_000))
        let ack = try await desktop.payload("pair-ack")
        let short = await bench.device.outcome(.scan(code, 50))
        #expect(short.error?.code == .pairing && short.error?.detail["reason"] == "timeout")
        await desktop.message(try #require(ack["mobileDid"]?.string), ["type": "hello"])
        #expect(try await long.get()["id"] == "desktop-1")
        await bench.device.close()
        await bench.relay.stop()
    }

    @Test("cancel ends a scan, a newer code replaces it, and a code that was paired gives its desktop again")
    func scans() async throws {
        let bench = try await Bench()
        _ = try await RawPeer.register("desktop-2", at: bench.url)
        async let cancelled = bench.device.outcome(.scan(bench.code(of: "desktop-2"), 10_000))
        _ = try await bench.host.event(.pairingChanged) { $0["state"] == "sending" }
        bench.device.perform(.cancel(.scan))
        #expect(await cancelled.error?.detail["reason"] == "cancelled")

        async let replaced = outcome {
            bench.device.perform(.scan(bench.code(of: "desktop-2", digits: "111111"), 10_000), then: $0)
        }
        _ = try await bench.host.event(.pairingChanged) { $0["state"] == "sending" }
        #expect(
            await bench.device.outcome(.scan("{", 1_000)).error?.detail["reason"] == "not_json")
        #expect(await replaced.error?.detail["reason"] == "cancelled")

        let desktop = try await RawPeer.register("desktop-1", at: bench.url)
        let code = bench.code()
        async let first = bench.device.value(.scan(code, 10_000))
        let ack = try await desktop.payload("pair-ack")
        await desktop.message(try #require(ack["mobileDid"]?.string), ["type": "hello"])
        let paired = try await first
        #expect(try await bench.device.value(.scan(code, 10_000))["id"] == paired["id"])
        #expect(try await bench.device.value(.desktops).array?.count == 1)
        await bench.device.close()
        await bench.relay.stop()
    }
}
