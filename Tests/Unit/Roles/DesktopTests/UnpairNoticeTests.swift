import Foundation
import Hosting
import Identity
import JSON
import Signalling
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop

/// Devices that are not paired any more hear of it, sooner or later.
@Suite(.timeLimit(.minutes(1)))
struct UnpairNoticeTests {
    private func online(_ bench: Bench, _ desktop: Desktop, _ host: RecordingHost) async throws {
        _ = try await desktop.value(.start)
        if try await desktop.value(.state)["connection"]?.array?.first?["state"] == "online" { return }
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
    }

    @Test("unpaired while no relay is there: the device is told, sealed, at the next start, and again at the one after")
    func nextStart() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await Bench(["state_dir": .string(directory)])
        let (device, _) = try await bench.device()
        await bench.desktop.close()
        // As bellwire peers does, where no desktop runs.
        let offline = try Bench.open(["state_dir": .string(directory)], relay: bench.url, RecordingHost())
        _ = try await offline.value(.unpair(device.id))
        #expect(try await offline.value(.devices).array?.isEmpty == true)
        await offline.close()
        #expect(await device.allBodies.isEmpty)

        for _ in 1...2 {
            let host = RecordingHost()
            let desktop = try Bench.open(["state_dir": .string(directory)], relay: bench.url, host)
            try await online(bench, desktop, host)
            _ = try await device.body("bellwire:unpair")
            await desktop.close()
        }
        #expect(await device.allPlain.isEmpty)
        await device.stop()
        await bench.relay.stop()
    }

    @Test("a device that is paired again is not told any more, and a plain one cannot be told")
    func pairedAgain() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let bench = try await Bench(["state_dir": .string(directory)])
        let (device, _) = try await bench.device()
        _ = try await bench.desktop.value(.unpair(device.id))
        _ = try await device.body("bellwire:unpair")
        await device.acknowledge(try await bench.offer())
        _ = try await device.body("pairing:confirmation")
        _ = try await bench.host.event(.pairingChanged) { $0["state"] == "paired" }
        let phone = try await bench.phone(iOS, platform: "ios")
        _ = try await bench.desktop.value(.unpair(iOS))
        await bench.desktop.close()
        let host = RecordingHost()
        let desktop = try Bench.open(["state_dir": .string(directory)], relay: bench.url, host)
        try await online(bench, desktop, host)
        try await phone.peer.settle()
        #expect(await device.allBodies.allSatisfy { $0["type"] != "bellwire:unpair" })
        await desktop.close()
        await device.stop()
        await bench.relay.stop()
    }

    @Test(
        "A desktop's scan that ends after the device was told: it hears that it is not paired; one that was paired before still is"
    )
    func withdrawn() async throws {
        let bench = try await Bench()
        try await online(bench, bench.desktop, bench.host)
        let device = try await SealedPeer.register(at: bench.url)
        let text = await device.offer("012345", secret: .random())
        _ = try await bench.desktop.outcome(.scan(text)).get()
        _ = try await bench.desktop.value(.confirm(.scan, accept: true))
        _ = try await device.body("pairing:confirmation")
        bench.desktop.perform(.cancel(.scan))
        _ = try await device.body("bellwire:unpair")
        #expect(try await bench.devices.isEmpty)

        let (known, _) = try await bench.device()
        let again = await known.offer("111111", secret: .random())
        _ = try await bench.desktop.outcome(.scan(again)).get()
        _ = try await bench.desktop.value(.confirm(.scan, accept: true))
        _ = try await known.body("pairing:confirmation")
        bench.desktop.perform(.cancel(.scan))
        _ = try await bench.host.event(.pairingChanged) { $0["flow"] == "scan" && $0["state"] == "cancelled" }
        #expect(await known.allBodies.allSatisfy { $0["type"] != "bellwire:unpair" })
        #expect(try await bench.devices.map { $0["id"] } == [.string(known.id)])
        await bench.end()
    }

    @Test("a device that is being told of a scan is not told of an unpairing before it, whatever it says meanwhile")
    func oldReminder() async throws {
        let bench = try await Bench()
        try await online(bench, bench.desktop, bench.host)
        let desktop = try #require(try await bench.state["id"]?.string)
        let device = try await SealedPeer.register(at: bench.url)
        let (secret, own) = (PairingSecret.random(), PairingRandom.random())
        let text = await device.offer("012345", secret: secret)
        var offer = try #require(try JSONValue(parsing: text).object)
        offer["bw"] = [
            "v": 1, "secret": .string(secret.base64url), "rev": 1, "commit": .string(own.commitment),
        ]
        await remember(device, of: bench.desktop)
        let code = JSONValue.object(offer).serialized()
        _ = try await bench.desktop.outcome(.scan(code)).get()
        _ = try await bench.desktop.value(.confirm(.scan, accept: true))
        let confirmation = try await device.body("pairing:confirmation")
        let theirs = try #require(confirmation["bw"]?["random"]?.string)
        try await device.say("bellwire:hello", ["v": 1, "lastPushSeq": 0], to: desktop)
        let now = EpochMilliseconds.now
        let mac = PairingProof.mac(
            secret, kind: .hello, deviceID: device.id, desktopID: desktop, code: "012345", timestamp: now,
            transcript: ["1", own.commitment, theirs, own.base64url])
        try await device.say(
            "bellwire:hello",
            [
                "v": 1, "lastPushSeq": 0, "timestamp": .integer(now),
                "bw": ["mac": .string(mac), "rev": 1, "random": .string(own.base64url)],
            ], to: desktop)
        try await device.command("notification.getUnreadCount", id: "a", to: desktop)
        #expect(try await device.answer("a")["result"]?["count"] == 0)
        #expect(await device.allBodies.allSatisfy { $0["type"] != "bellwire:unpair" })
        await bench.end()
    }

    /// As after an unpairing of long ago.
    @EventLoop
    private func remember(_ device: SealedPeer, of desktop: Desktop) {
        desktop.core.devices.reminders.begin(PeerID(device.id), now: 0)
    }

    @Test(
        "the first hellos are lost: a later answer to a repeated confirmation pairs, and a hello of another kind does not"
    )
    func lateHello() async throws {
        let bench = try await Bench()
        try await online(bench, bench.desktop, bench.host)
        let desktop = try #require(try await bench.state["id"]?.string)
        let device = try await SealedPeer.register(at: bench.url)
        let text = await device.offer("012345", secret: .random())
        _ = try await bench.desktop.outcome(.scan(text)).get()
        _ = try await bench.desktop.value(.confirm(.scan, accept: true))
        for _ in 1...3 { _ = try await device.body("pairing:confirmation") }
        let hello: JSONValue = ["type": "bellwire:hello", "payload": ["v": 1, "lastPushSeq": 0]]
        await device.sendPlain(hello, to: desktop)
        #expect(try await bench.devices.isEmpty)
        try await device.seal(hello, to: desktop)
        _ = try await bench.host.event(.pairingChanged) { $0["flow"] == "scan" && $0["state"] == "paired" }
        #expect(try await bench.devices.first?["secure"] == true)
        await bench.end()
    }

    // MARK: What was sealed before a pairing

    @Test("what a device sealed before it was paired again is void, also when nothing was remembered of it")
    func sealedBefore() async throws {
        let bench = try await Bench()
        let (device, desktop) = try await bench.device()
        // Kept by a relay: a command and an unpairing of the first pairing.
        let command = try await device.command("notification.clearAll", id: "a", to: desktop)
        _ = try await device.answer("a")
        _ = try await bench.desktop.value(.unpair(device.id))
        _ = try await device.body("bellwire:unpair")
        let unseen = try await device.command("notification.send", ["title": "Old", "body": ""], id: "b", to: desktop)
        let unpair = try await device.seal(["type": "bellwire:unpair", "payload": [:]], to: desktop)
        await device.acknowledge(try await bench.offer())
        _ = try await device.body("pairing:confirmation")
        for kept in [command, unseen, unpair] { await device.send(kept, to: desktop) }
        try await device.command("notification.getHistory", id: "c", to: desktop)
        #expect(try await device.answer("c")["result"]?["total"] == 0)
        #expect(try await bench.devices.count == 1)
        await bench.end()
    }
}
