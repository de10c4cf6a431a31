import Desktop
import Hosting
import JSON
import TestSupport
import Testing

@testable import Device

/// A device and a desktop of ours at a relay that forwards `from` as it was written, and fills in none.
@Suite(.timeLimit(.minutes(1)))
struct SelfNamedSendersTests {
    enum Flow: Sendable, CaseIterable {
        case scan, show, code
    }

    @Test("they pair with a seal, push and call there", arguments: Flow.allCases)
    func pairs(by flow: Flow) async throws {
        let relay = try await NodeRelay(.publicRelay)
        let url = await relay.url
        let (deviceHost, desktopHost) = (RecordingHost(), RecordingHost())
        let options: JSONObject = ["state_dir": ":memory:", "name": "Desk", "relay_url": .string(url)]
        let desktop = try Desktop.open(JSONValue.object(options).serialized(), desktopHost.channel).0
        let device = try AttackedHome.openDevice(url, [:], deviceHost)
        _ = try await desktop.value(.start)
        _ = try await desktopHost.event(.connectionChanged) { $0["online"] == true }

        switch flow {
        case .scan:
            let offer = try await desktop.value(.offer(20_000))
            let payload = try #require(offer["payload"]?.string)
            _ = try await device.value(.scan(payload, 20_000))
        case .show:
            let shown = try await device.value(.show(20_000))
            let payload = try #require(shown["payload"]?.string)
            _ = try await desktop.value(.scan(payload))
            _ = try await desktop.value(.confirm(.scan, accept: true))
        case .code:
            let shown = try await desktop.value(.code(20_000))
            let code = try #require(shown["code"]?.string)
            _ = try await device.value(.type(code, 20_000))
        }
        _ = try await desktopHost.event(.pairingChanged) { $0["state"] == "paired" }
        try await until("both have the other") {
            let ofDevice = try await device.value(.desktops).array?.first
            let ofDesktop = try await desktop.value(.devices).array?.first
            return ofDevice?["secure"] == true && ofDesktop?["secure"] == true
        }

        for title in ["Tea", "Coffee"] {
            let notice = try Desktop.Notice(JSONObject(#"{"title":"\#(title)"}"#))
            async let notified = desktop.value(.notify(notice, 20_000))
            #expect(try await deviceHost.push(from: device)["title"] == .string(title))
            #expect(try await notified["deliveredCount"] == 1)
        }
        let command = try Device.Command("notification.getUnreadCount", [:])
        #expect(try await device.value(.ask(.invoke(command), of: nil, 20_000))["count"] == 2)

        // The relay has put its own word into nothing.
        let messages = await relay.received.filter { $0.frame["type"] == "message" }
        let probes = messages.filter { $0.frame["payload"]?["type"] == "bellwire:sender-probe" }
        #expect(probes.count == 2 && messages.count > probes.count)
        for message in messages where message.frame["payload"]?["type"] != "bellwire:sender-probe" {
            #expect(message.frame["from"]?.string == message.from)
        }
        await device.close()
        await desktop.close()
        await relay.close()
    }
}
