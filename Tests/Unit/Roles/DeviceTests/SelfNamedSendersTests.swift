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
        _ = try await value { desktop.start(then: $0) }
        _ = try await desktopHost.event(.connectionChanged) { $0["online"] == true }

        switch flow {
        case .scan:
            let offer = try await value { desktop.offer(timeout: 20_000, then: $0) }
            let payload = try #require(offer["payload"]?.string)
            _ = try await value { device.scan(payload, timeout: 20_000, then: $0) }
        case .show:
            let shown = try await value { device.show(timeout: 20_000, then: $0) }
            let payload = try #require(shown["payload"]?.string)
            _ = try await value { desktop.scan(payload, then: $0) }
            _ = try await value { desktop.confirm(.scan, true, then: $0) }
        case .code:
            let shown = try await value { desktop.code(timeout: 20_000, then: $0) }
            let code = try #require(shown["code"]?.string)
            _ = try await value { device.type(code, timeout: 20_000, then: $0) }
        }
        _ = try await desktopHost.event(.pairingChanged) { $0["state"] == "paired" }
        try await until("both have the other") {
            let ofDevice = try await value { device.desktops(then: $0) }.array?.first
            let ofDesktop = try await value { desktop.devices(then: $0) }.array?.first
            return ofDevice?["secure"] == true && ofDesktop?["secure"] == true
        }

        for title in ["Tea", "Coffee"] {
            let notice = try Desktop.Notice(parsing: #"{"title":"\#(title)"}"#)
            async let notified = value { desktop.notify(notice, timeout: 20_000, then: $0) }
            #expect(try await deviceHost.push(from: device)["title"] == .string(title))
            #expect(try await notified["deliveredCount"] == 1)
        }
        let command = try Device.Command("notification.getUnreadCount", params: nil)
        #expect(try await value { device.invoke(command, desktop: nil, timeout: 20_000, then: $0) }["count"] == 2)

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
