import Hosting
import Identity
import JSON
import Signalling
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop

/// The desktop scans what a device shows.
@Suite(.timeLimit(.minutes(1)))
struct ScanTests {
    private func scan(_ bench: Bench, _ text: String) async -> Result<JSONValue, HostError> {
        await bench.desktop.outcome(.scan(text))
    }

    private func online(_ bench: Bench) async throws {
        _ = try await bench.desktop.value(.start)
        if try await bench.state["connection"]?.array?.first?["state"] == "online" { return }
        _ = try await bench.host.event(.connectionChanged) { $0["online"] == true }
    }

    @Test("a device whose code has a secret is asked for, told in a seal, and paired when it answers")
    func sealed() async throws {
        let bench = try await Bench()
        try await online(bench)
        let desktop = try #require(try await bench.state["id"]?.string)
        let device = try await SealedPeer.register(at: bench.url)
        let secret = PairingSecret.random()
        let shown = try await scan(bench, device.offer("012345", secret: secret)).get()
        #expect(shown["id"] == .string(device.id) && shown["name"] == "My phone" && shown["secure"] == true)
        _ = try await bench.host.event(.pairingChanged) { $0["flow"] == "scan" && $0["state"] == "confirming" }
        _ = try await bench.desktop.value(.confirm(nil, accept: true))
        let confirmation = try await device.body("pairing:confirmation")
        let mac = try #require(confirmation["bw"]?["mac"]?.string)
        let time = try #require(confirmation["timestamp"]?.integer)
        #expect(
            PairingProof.verifies(
                mac, secret, kind: .confirmation, deviceID: device.id, desktopID: desktop, code: "012345",
                timestamp: time))
        #expect(try await bench.devices.isEmpty)
        // Not by a plain word in its name, and what it says right behind its answer is not lost.
        let hello: JSONValue = ["type": "bellwire:hello", "payload": ["v": 1, "lastPushSeq": 0]]
        await device.sendPlain(hello, to: desktop)
        try await device.seal(hello, to: desktop)
        try await device.command("notification.getUnreadCount", id: "a", to: desktop)
        #expect(try await device.answer("a")["result"]?["count"] == 0)
        _ = try await bench.host.event(.pairingChanged) { $0["state"] == "paired" }
        let record = try #require(try await bench.devices.first)
        let sas = ShortAuthenticationString(secret: secret, deviceID: device.id, desktopID: desktop)
        #expect(record["secure"] == true && record["sas"]?["digits"] == .string(sas.digits))
        #expect(await device.allPlain.isEmpty)
        await bench.end()
    }

    @Test("a phone whose code has none is told in plain text, after the user has accepted it")
    func plain() async throws {
        let bench = try await Bench()
        try await online(bench)
        let phone = try await RawPeer.register(iOS, at: bench.url)
        let code = """
            {"type":"device-pairing","code":"123456","did":"\(iOS)","deviceInfo":{"deviceId":"ios-1","name":"My phone",\
            "platform":"ios"},"timestamp":\(EpochMilliseconds.now)}
            """
        #expect(try await scan(bench, code).get()["secure"] == false)
        _ = try await bench.desktop.value(.confirm(.scan, accept: true))
        let confirmation = try await phone.payload("pairing:confirmation")
        #expect(confirmation["pairingCode"] == "123456" && confirmation["bw"] == nil)
        _ = try await bench.host.event(.pairingChanged) { $0["state"] == "paired" }
        #expect(try await bench.devices.map { $0["id"] } == [.string(iOS)])
        await bench.end()
    }

    @Test("what is no code, an old one, or declined ends with its reason")
    func failures() async throws {
        let bench = try await Bench(["legacy": "none"])
        try await online(bench)
        let device = try await SealedPeer.register(at: bench.url)
        func reason(_ text: String) async -> JSONValue? { await scan(bench, text).error?.detail["reason"] }
        #expect(await reason("no JSON") == "not_json")
        #expect(await reason(#"{"type":"desktop-pairing"}"#) == "wrong_type")
        #expect(await reason(device.offer("123456", secret: .random(), since: 1)) == "expired")
        #expect(await reason(device.offer("123456", secret: nil)) == "not_secure")
        _ = try await scan(bench, device.offer("123456", secret: .random())).get()
        _ = try await bench.desktop.value(.confirm(.scan, accept: false))
        let failed = try await bench.host.event(.pairingChanged) { $0["reason"] == "rejected" }
        #expect(failed["flow"] == "scan" && failed["state"] == "failed")
        _ = try await scan(bench, device.offer("123456", secret: .random())).get()
        bench.desktop.perform(.cancel(.scan))
        _ = try await bench.host.event(.pairingChanged) { $0["state"] == "cancelled" }
        #expect(await bench.desktop.outcome(.confirm(.scan, accept: true)).error?.code == .notFound)
        #expect(try await bench.devices.isEmpty)
        await bench.end()
    }

    @Test("a device that is paired sealed is not told in plain text, whatever a code says")
    func noWayBack() async throws {
        let bench = try await Bench()
        let (device, _) = try await bench.device()
        let error = await scan(bench, device.offer("123456", secret: nil)).error
        #expect(error?.code == .pairing && error?.detail["reason"] == "not_secure")
        #expect(try await bench.devices.first?["secure"] == true)
        await bench.end()
    }
}
