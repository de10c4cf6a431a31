import Desktop
import Foundation
import Hosting
import JSON
import Peering
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Device

/// A device and a desktop at one relay.
private struct Pair {
    let relay: BenchRelay
    let url: String
    let deviceHost: RecordingHost
    let desktopHost: RecordingHost
    let device: Device
    let desktop: Desktop

    init(device deviceOptions: JSONObject = [:], desktop desktopOptions: JSONObject = [:]) async throws {
        (deviceHost, desktopHost) = (RecordingHost(), RecordingHost())
        relay = await BenchRelay()
        url = await relay.url
        var options: JSONObject = [
            "state_dir": ":memory:", "name": "Phone", "relay_url": .string(url), "follow_system": false,
        ]
        options.merge(deviceOptions)
        device = try Device.open(JSONValue.object(options).serialized(), deviceHost.channel, links: BenchRelay.links).0
        options = ["state_dir": ":memory:", "name": "Desk", "relay_url": .string(url)]
        options.merge(desktopOptions)
        desktop = try Desktop.open(JSONValue.object(options).serialized(), desktopHost.channel, links: BenchRelay.links)
            .0
    }

    /// With another desktop in its place.
    init(_ other: Pair, _ desktop: Desktop, _ host: RecordingHost) {
        (relay, url, deviceHost, device) = (other.relay, other.url, other.deviceHost, other.device)
        (self.desktop, desktopHost) = (desktop, host)
    }

    /// The desktop scans the device's code.
    func show(_ location: SourceLocation = #_sourceLocation) async throws {
        let shown = try await device.value(.show(10_000))
        _ = try await desktop.value(.scan(shown["payload"]?.string ?? ""))
        _ = try await desktop.value(.confirm(.scan, accept: true))
        _ = try await deviceHost.event(.pairingChanged, location) { $0["flow"] == "show" && $0["state"] == "completed" }
        _ = try await desktopHost.event(.pairingChanged, location) { $0["flow"] == "scan" && $0["state"] == "paired" }
    }

    func expectToken(_ hex: String, _ location: SourceLocation = #_sourceLocation) async throws {
        try await until("the token", sourceLocation: location) {
            try await desktop.value(.tokens).array?.first?["token"]?.string == hex
        }
    }

    /// What each side says of the other: sealed, and with the same short string.
    func expectSealed(_ location: SourceLocation = #_sourceLocation) async throws {
        let ofDesktop = try #require(
            try await device.value(.desktops).array?.first, sourceLocation: location)
        let ofDevice = try #require(
            try await desktop.value(.devices).array?.first, sourceLocation: location)
        #expect(ofDesktop["secure"] == true && ofDevice["secure"] == true, sourceLocation: location)
        #expect(ofDesktop["name"] == "Desk" && ofDevice["name"] == "Phone", sourceLocation: location)
        #expect(ofDesktop["sas"]?["digits"]?.string?.count == 6, sourceLocation: location)
        #expect(ofDesktop["sas"] == ofDevice["sas"], sourceLocation: location)
    }

    /// A push one way, a command the other.
    func expectTraffic(_ location: SourceLocation = #_sourceLocation) async throws {
        let notice = try Desktop.Notice(JSONObject(#"{"title":"Tea","body":"is ready"}"#))
        async let notified = desktop.value(.notify(notice, 10_000))
        #expect(try await deviceHost.push(from: device, location)["title"] == "Tea", sourceLocation: location)
        #expect(try await notified["deliveredCount"] == 1, sourceLocation: location)
        let command = try Device.Command("notification.getHistory", [:])
        let history = try await device.value(.ask(.invoke(command), of: nil, 10_000))
        #expect(history["total"] == 1, sourceLocation: location)
    }

    func close() async {
        await device.close()
        await desktop.close()
        await relay.stop()
    }
}

@Suite(.timeLimit(.minutes(1)))
struct PairingFlowTests {
    @Test("the desktop's code, scanned: sealed on both sides, the same short string, traffic goes sealed")
    func scan() async throws {
        let pair = try await Pair()
        let offer = try await pair.desktop.value(.offer(10_000))
        let paired = try await value {
            pair.device.perform(.scan(offer["payload"]?.string ?? "", 15_000), then: $0)
        }
        #expect(paired["secure"] == true)
        _ = try await pair.desktopHost.event(.pairingChanged) { $0["state"] == "paired" }
        try await pair.expectSealed()
        try await pair.expectTraffic()
        let state = try await pair.device.value(.state)
        #expect(state["counters"]?["plainOfSecure"] == 0 && state["counters"]?["sealsForged"] == 0)
        await pair.close()
    }

    @Test("the device's code, scanned and confirmed: sealed on both sides")
    func show() async throws {
        let pair = try await Pair()
        _ = try await pair.desktop.value(.start)
        let offer = try await pair.device.value(.show(10_000))
        let scanned = try await pair.desktop.value(.scan(offer["payload"]?.string ?? ""))
        #expect(scanned["name"] == "Phone")
        _ = try await pair.desktopHost.event(.pairingChanged) { $0["state"] == "confirming" }
        _ = try await pair.desktop.value(.confirm(.scan, accept: true))
        _ = try await pair.deviceHost.event(.pairingChanged) { $0["flow"] == "show" && $0["state"] == "completed" }
        _ = try await pair.desktopHost.event(.pairingChanged) { $0["flow"] == "scan" && $0["state"] == "paired" }
        try await pair.expectSealed()
        try await pair.expectTraffic()
        await pair.close()
    }

    @Test("the device's code: a token that it has before the pairing reaches the desktop after it")
    func tokenBefore() async throws {
        let pair = try await Pair()
        let (token, service) = (try #require(PushToken(hex: "0a0b")), try #require(PushService("fcm")))
        _ = try await pair.device.value(.give(service, token))
        _ = try await pair.desktop.value(.start)
        try await pair.show()
        try await pair.expectToken("0a0b")
        await pair.close()
    }

    @Test("unpaired, and paired again by the device's code, also after a restart of the desktop: both stay paired")
    func showAfterUnpairing() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let first = try await Pair(desktop: ["state_dir": .string(directory)])
        let (token, service) = (try #require(PushToken(hex: "0a0b")), try #require(PushService("fcm")))
        _ = try await first.device.value(.give(service, token))
        let offer = try await first.desktop.value(.offer(10_000))
        _ = try await first.device.value(.scan(offer["payload"]?.string ?? "", 15_000))
        _ = try await first.desktopHost.event(.pairingChanged) { $0["state"] == "paired" }
        let id = try #require(try await first.device.value(.state)["id"]?.string)
        _ = try await first.desktop.value(.unpair(id))
        _ = try await first.deviceHost.event(.peersChanged) { $0["desktops"]?.array?.isEmpty == true }
        await first.desktop.close()

        let host = RecordingHost()
        let options: JSONObject = [
            "state_dir": .string(directory), "name": "Desk", "relay_url": .string(first.url), "follow_system": false,
        ]
        let desktop = try Desktop.open(JSONValue.object(options).serialized(), host.channel, links: BenchRelay.links).0
        let pair = Pair(first, desktop, host)
        _ = try await desktop.value(.start)
        try await pair.show()
        try await pair.expectSealed()
        try await pair.expectTraffic()
        try await pair.expectToken("0a0b")
        #expect(try await pair.device.value(.desktops).array?.count == 1)
        await pair.close()
    }

    @Test("a typed code: sealed on both sides; with a wrong password nothing is paired")
    func code() async throws {
        let pair = try await Pair()
        let shown = try await pair.desktop.value(.code(10_000))
        let code = try #require(shown["code"]?.string)
        let wrong = code.dropLast() + (code.last == "0" ? "1" : "0")
        let refused = await pair.device.outcome(.type(String(wrong), 20_000))
        #expect(refused.error?.code == .pairing)
        let paired = try await pair.device.value(.type(code, 20_000))
        #expect(paired["secure"] == true)
        _ = try await pair.desktopHost.event(.pairingChanged) { $0["flow"] == "code" && $0["state"] == "paired" }
        try await pair.expectSealed()
        try await pair.expectTraffic()
        await pair.close()
    }

    @Test("unpairing on the device tells the desktop, and ends its rights")
    func unpair() async throws {
        let pair = try await Pair()
        let offer = try await pair.desktop.value(.offer(10_000))
        let paired = try await value {
            pair.device.perform(.scan(offer["payload"]?.string ?? "", 15_000), then: $0)
        }
        let id = try #require(paired["id"]?.string)
        _ = try await pair.desktopHost.event(.pairingChanged) { $0["state"] == "paired" }
        _ = try await pair.device.value(.rename(id, to: "Home"))
        #expect(try await pair.device.value(.desktops).array?.first?["name"] == "Home")
        _ = try await pair.device.value(.unpair(id))
        _ = try await pair.desktopHost.event(.peersChanged) { $0["devices"]?.array?.isEmpty == true }
        #expect(try await pair.device.value(.desktops).array?.isEmpty == true)
        #expect(await pair.device.outcome(.unpair(id)).error?.code == .notFound)
        await pair.close()
    }

    @Test("what was on its way to the disk when a desktop was unpaired does not bring it back")
    func unpairedUnderWay() async throws {
        let pair = try await Pair()
        let offer = try await pair.desktop.value(.offer(10_000))
        let paired = try await value {
            pair.device.perform(.scan(offer["payload"]?.string ?? "", 15_000), then: $0)
        }
        let id = try #require(paired["id"]?.string)
        _ = try await value { then in
            pair.device.perform(.rename(id, to: "Late"), then: { _ in })
            pair.device.perform(.unpair(id), then: then)
        }
        #expect(try await pair.device.value(.desktops).array?.isEmpty == true)
        await pair.close()
    }

    @Test("a device that is paired already pairs again by each flow, and both sides say so with the new short string")
    func again() async throws {
        let pair = try await Pair()
        let offer = try await pair.desktop.value(.offer(10_000))
        _ = try await pair.device.value(.scan(offer["payload"]?.string ?? "", 15_000))
        _ = try await pair.desktopHost.event(.pairingChanged) { $0["flow"] == "offer" && $0["state"] == "paired" }
        // Twice: the second time both have a scan behind them.
        for _ in 1...2 {
            let shown = try await pair.device.value(.show(10_000))
            _ = try await pair.desktop.value(.scan(shown["payload"]?.string ?? ""))
            _ = try await pair.desktop.value(.confirm(.scan, accept: true))
            let here = try await pair.deviceHost.event(.pairingChanged) {
                $0["flow"] == "show" && $0["state"] == "completed"
            }
            let there = try await pair.desktopHost.event(.pairingChanged) {
                $0["flow"] == "scan" && $0["state"] == "paired"
            }
            #expect(here["desktop"]?["sas"] == there["device"]?["sas"] && here["desktop"]?["sas"] != nil)
            try await pair.expectSealed()
        }
        let code = try await pair.desktop.value(.code(10_000))
        _ = try await pair.device.value(.type(code["code"]?.string ?? "", 20_000))
        _ = try await pair.desktopHost.event(.pairingChanged) { $0["flow"] == "code" && $0["state"] == "paired" }
        try await pair.expectSealed()
        try await pair.expectTraffic()
        await pair.close()
    }

    @Test("a flow that still looks for its relay ends by cancel, suspend and stop, and its code is never shown")
    func cancelledSearch() async throws {
        for end in [.cancel(.show), .suspend, .stop] as [DeviceCall] {
            let host = RecordingHost()
            let device = try Device.open(#"{"state_dir":":memory:","follow_system":false}"#, host.channel).0
            let gate = DispatchSemaphore(value: 0)
            device.core.context.database.submit { _ in
                gate.wait()
            } then: { _ in
            }
            async let shown = device.outcome(.show(10_000))
            try await until("the device is started") { await device.core.life.isStarted }
            device.perform(end)
            gate.signal()
            #expect(await shown.error?.detail["reason"] == "cancelled")
            #expect(await device.core.routes.opened.isEmpty)
            await device.close()
        }
    }

    @Test("a sealed pairing survives a suspend and a resume")
    func sleep() async throws {
        let pair = try await Pair()
        let offer = try await pair.desktop.value(.offer(10_000))
        _ = try await pair.device.value(.scan(offer["payload"]?.string ?? "", 15_000))
        _ = try await pair.deviceHost.event(.connectionChanged) { $0["online"] == true }
        pair.device.perform(.suspend)
        _ = try await pair.deviceHost.event(.connectionChanged) { $0["online"] == false }
        let command = try Device.Command("notification.getUnreadCount", [:])
        let refused = await pair.device.outcome(.ask(.invoke(command), of: nil, 5_000))
        #expect(refused.error?.code == .offline)
        pair.device.perform(.resume)
        _ = try await pair.deviceHost.event(.connectionChanged) { $0["online"] == true }
        try await pair.expectTraffic()
        await pair.close()
    }

    @Test("legacy none refuses a code that proves nothing; a typed code of six digits needs legacy all")
    func legacy() async throws {
        let pair = try await Pair(device: ["legacy": "none"])
        let bare: JSONValue = [
            "type": "desktop-pairing", "code": "123456", "pcPeerId": "d", "timestamp": .integer(.now),
            "deviceInfo": ["name": "n", "platform": "linux", "version": "1"], "relayUrl": .string(pair.url),
        ]
        let refused = await pair.device.outcome(.scan(bare.serialized(), 5_000))
        #expect(refused.error?.detail["reason"] == "not_secure")
        let typed = await pair.device.outcome(.type("123456", 5_000))
        #expect(typed.error?.detail["reason"] == "not_secure")
        await pair.close()
    }

    @Test("without a relay of its own a device that knows none has nowhere to show a code")
    func noRelay() async throws {
        let host = RecordingHost()
        let device = try Device.open(#"{"state_dir":":memory:","follow_system":false}"#, host.channel).0
        #expect(await device.outcome(.show(5_000)).error?.detail["reason"] == "no_relay")
        await device.close()
    }
}

extension Int64 {
    fileprivate static var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }
}
