import Foundation
import Hosting
import JSON
import Peering
import TestSupport
import Testing
import Transport

@testable import Desktop

/// Starts, restarts and ends.
@Suite(.timeLimit(.minutes(1)))
struct DesktopLifeTests {
    @Test("a restart keeps the history and the devices, and pushes to them")
    func restart() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await Bench(["state_dir": .string(directory)])
        let phone = try await bench.phone(iOS, platform: "ios")
        _ = try await phone.askAsIOS("notification.send", #"{"title":"Before","body":""}"#)
        let id = try await bench.state["id"]
        await bench.desktop.close()

        let host = RecordingHost()
        let desktop = try Bench.open(["state_dir": .string(directory)], relay: bench.url, host)
        let state = try await desktop.value(.state)
        #expect(state["id"] == id && state["unread"] == 1 && state["started"] == false)
        let query = try Desktop.HistoryQuery([:])
        let history = try await desktop.value(.history(query))
        #expect(history["notifications"]?.array?.map { $0["title"] } == ["Before"])
        _ = try await desktop.value(.start)
        _ = try await desktop.value(.start)
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
        let notice = try Desktop.Notice(JSONObject(#"{"title":"After"}"#))
        async let notified = desktop.value(.notify(notice, 10_000))
        // The first one was the phone's own.
        for title in ["Before", "After"] {
            #expect(try await phone.peer.payload("chainlesschain:event")["payload"]?["title"] == .string(title))
        }
        #expect(try await notified["deliveredCount"] == 1)
        desktop.perform(.stop)
        desktop.perform(.stop)
        #expect(try await desktop.value(.state)["started"] == false)
        await desktop.close()
        await bench.relay.stop()
    }

    @Test("a desktop carries its own relay, which a device reaches by the code alone")
    func ownRelay() async throws {
        let host = RecordingHost()
        let desktop = try Bench.open(["relay": ["listen": "127.0.0.1:0"]], relay: nil, host)
        let offer = try await desktop.value(.offer(10_000))
        let code = try JSONValue(parsing: try #require(offer["payload"]?.string))
        let device = try await SealedPeer.register(at: try #require(code["signalingUrl"]?.string))
        await device.acknowledge(code)
        _ = try await device.body("pairing:confirmation")
        let notice = try Desktop.Notice(JSONObject(#"{"title":"Tea"}"#))
        async let notified = desktop.value(.notify(notice, 10_000))
        #expect(try await device.body("chainlesschain:event")["payload"]?["title"] == "Tea")
        #expect(try await notified["deliveredCount"] == 1)
        #expect(try await desktop.value(.state)["relay"]?["port"]?.integer ?? 0 > 0)
        await device.stop()
        await desktop.close()
    }

    @Test("its relay keeps beside the desktop's state which ids were proved, but for one in memory")
    func relayMemory() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let files = ["\(directory)/relay/relay.db", "\(directory)/desktop.db"]
        for round in 1...2 {
            let host = RecordingHost()
            let desktop = try Bench.open(
                ["state_dir": .string(directory), "relay": ["listen": "127.0.0.1:0"]], relay: nil, host)
            #expect(files.allSatisfy { FileManager.default.fileExists(atPath: $0) })
            let offer = try await desktop.value(.offer(10_000))
            let code = try JSONValue(parsing: try #require(offer["payload"]?.string))
            let url = try #require(code["signalingUrl"]?.string)
            let id = try #require(code["pcPeerId"]?.string)
            // The desktop has proved its own: who does not prove it never gets it, not even when it has just come again.
            if round == 2 { await #expect(throws: (any Error).self) { try await RawPeer.claim(id, at: url) } }
            desktop.perform(.stop)
            await desktop.close()
        }
        let inMemory = try Bench.open(["relay": ["listen": "127.0.0.1:0"]], relay: nil, RecordingHost())
        _ = try await inMemory.value(.start)
        await inMemory.close()
        let elsewhere = try Bench.open(
            [
                "state_dir": .string(directory),
                "relay": ["listen": "127.0.0.1:0", "state_dir": .string(directory + "/2")],
            ],
            relay: nil, RecordingHost())
        #expect(FileManager.default.fileExists(atPath: directory + "/2/relay.db"))
        await elsewhere.close()
    }

    @Test(
        "a relay whose origins are named takes the desktop's own proof, and devices that dial the url in its codes",
        arguments: ["127.0.0.1:0", "0.0.0.0:0", "127.0.0.1:{port}"])
    func ownOrigins(listen: String) async throws {
        // Free just now: what the codes name has to be known before.
        let probe = try await LoopbackRelay()
        let port = await probe.port
        await probe.stop()
        let isNamed = listen.contains("{port}")
        let host = RecordingHost()
        let desktop = try Bench.open(
            [
                "relay": [
                    "listen": .string(listen.replacingOccurrences(of: "{port}", with: "\(port)")),
                    "origins": ["ws://relay.example.org:9001"],
                ],
                "signaling_url": .string(isNamed ? "ws://localhost:\(port)" : "ws://desk.example.org:9001"),
            ], relay: nil, host)
        let offer = try await desktop.value(.offer(10_000))
        let code = try JSONValue(parsing: try #require(offer["payload"]?.string))
        let named = try #require(code["signalingUrl"]?.string)
        #expect(named.hasPrefix(isNamed ? "ws://localhost" : "ws://desk.example.org"))
        let bound = try #require(try await desktop.value(.state)["relay"]?["port"]?.integer)
        let device = try await SealedPeer.register(at: isNamed ? named : "ws://127.0.0.1:\(bound)")
        await device.acknowledge(code)
        _ = try await device.body("pairing:confirmation")
        await device.stop()
        await desktop.close()
    }

    @Test("without a relay, and with a port that is in use, a start says what to do")
    func cannotStart() async throws {
        let bench = try await Bench()
        let without = try Bench.open(relay: nil, RecordingHost())
        let error = await without.outcome(.start).error
        #expect(error?.code == .invalid && error?.message.contains("\"relay\"") == true)
        #expect(await without.outcome(.offer(1_000)).error?.code == .invalid)
        await without.close()
        let occupant = try await LoopbackRelay()
        let port = await occupant.port
        let second = try Bench.open(["relay": ["listen": .string("127.0.0.1:\(port)")]], relay: nil, RecordingHost())
        #expect(await second.outcome(.start).error?.code == .network)
        #expect(try await second.value(.state)["started"] == false)
        await second.close()
        await occupant.stop()
        await bench.end()
    }

    // MARK: Offers that wait for a relay

    @Test("an offer that no relay registers ends at its deadline, by cancel, by stop, and by the end")
    func waitingOffers() async throws {
        let relay = try await LoopbackRelay()
        let url = await relay.url
        await relay.stop()
        let host = RecordingHost()
        let desktop = try Bench.open(relay: url, host)
        func offer(_ timeout: CallTimeout) async -> HostError? {
            await desktop.outcome(.offer(timeout)).error
        }
        let late = await offer(100)
        #expect(late?.code == .offline && late?.message.contains("in time") == true)
        async let cancelled = offer(10_000)
        try await waits(desktop)
        desktop.perform(.cancel(.offer))
        #expect(await cancelled?.code == .pairing)
        async let stopped = offer(10_000)
        try await waits(desktop)
        desktop.perform(.stop)
        #expect(await stopped?.code == .offline)
        async let closed = offer(10_000)
        try await waits(desktop)
        await desktop.close()
        #expect(await closed?.code == .closed)
        #expect(await offer(1_000)?.code == .closed)
    }

    /// Returns once an offer waits.
    private func waits(_ desktop: Desktop) async throws {
        try await until("an offer waits") { await desktop.core.pairing.isAwaited(.offer) }
    }

    @Test("a notification under way ends as closed when the desktop is shut down, and is kept")
    func shutDown() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await Bench(["state_dir": .string(directory)])
        let phone = try await bench.phone(iOS, platform: "ios")
        async let notified = bench.notify(#"{"title":"Tea"}"#)
        _ = try await phone.peer.payload("chainlesschain:event")
        await bench.desktop.close()
        #expect(try await notified.error?.code == .closed)
        #expect(try await bench.notify(#"{"title":"Late"}"#).error?.code == .closed)
        let query = try Desktop.HistoryQuery([:])
        #expect(await bench.desktop.outcome(.history(query)).error?.code == .closed)
        let again = try Bench.open(["state_dir": .string(directory)], relay: bench.url, RecordingHost())
        #expect(try await again.value(.history(query))["total"] == 1)
        await again.close()
        await bench.relay.stop()
    }

    @Test("when nobody can tell in time who was reached, the call says so and the notification is kept")
    func notifyTimesOut() async throws {
        let bench = try await Bench()
        let phone = try await bench.phone(iOS, platform: "ios")
        let error = try await bench.notify(#"{"title":"Tea"}"#, timeout: 50).error
        #expect(error?.code == .timeout && error?.message.contains("stored") == true)
        _ = try await phone.peer.payload("chainlesschain:event")
        #expect(try await bench.state["unread"] == 1)
        await bench.end()
    }
}
