import Foundation
import Hosting
import JSON
import TestSupport
import Testing
import Wire

@testable import Desktop
@testable import Device

/// A clock that was in 2066, then a database that was lost: pairing again heals it, and nothing old counts after it
/// (WireSealing, "Replay protection").
@Suite(.timeLimit(.minutes(2)))
struct FutureClockTests {
    /// 2066-01-01
    private static let future: Int64 = 3_029_529_600_000
    /// Of a call, in milliseconds.
    private let patience: Int64 = 10_000

    private static func lose(_ database: String, in directory: String) throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: directory)
        where file.hasPrefix(database) || file.hasSuffix(".pairings") {
            try FileManager.default.removeItem(atPath: "\(directory)/\(file)")
        }
    }

    @Test("the device's clock was in 2066 for two starts, and its database is lost: it can be paired again")
    func device() async throws {
        let directory = NSTemporaryDirectory() + "bellwire-device-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let place: JSONObject = ["state_dir": .string(directory)]
        let home = try await AttackedHome(device: place)
        try await home.pair()
        await home.device.close()
        let options = try DeviceOptions(parsing: JSONValue.object(place).serialized())
        try RoleState.open(
            options.common, database: "device.db", migrations: DeviceSwitchboard.migrations, now: Self.future
        ).close()
        var old: [HostileRelay.Letter] = []
        for _ in 0..<2 {
            let host = RecordingHost()
            let device = try AttackedHome.openDevice(home.url, place, host)
            device.perform(.start)
            _ = try await host.event(.connectionChanged) { $0["online"] == true }
            let command = try Device.Command("notification.getUnreadCount", [:])
            _ = try await device.value(.ask(.invoke(command), of: nil, try CallTimeout(patience)))
            old.append(try await home.relay.letter { $0.to == home.desktopID && $0.isSealed })
            await device.close()
        }
        try Self.lose("device.db", in: directory)

        let host = RecordingHost()
        let device = try AttackedHome.openDevice(home.url, place, host)
        #expect(try await device.value(.state)["id"] == .string(home.deviceID))
        let offer = try await home.offer().serialized()
        #expect(try await device.value(.scan(offer, try CallTimeout(patience)))["secure"] == true)
        let command = try Device.Command("notification.getUnreadCount", [:])
        _ = try await device.value(.ask(.invoke(command), of: nil, try CallTimeout(patience)))
        _ = try await home.push("Tea")
        #expect(try await host.push(from: device)["title"] == "Tea")
        let refused = try await home.onDesktop("replayed") ?? 0
        for letter in old { await home.relay.deliver(letter) }
        _ = try await device.value(.ask(.invoke(command), of: nil, try CallTimeout(patience)))
        #expect(try await home.onDesktop("replayed") == refused + 2)
        await device.close()
        await home.desktop.close()
        await home.relay.close()
    }

    @Test("so can a desktop, whichever side scans", arguments: [true, false])
    func desktop(deviceScans: Bool) async throws {
        let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let place: JSONObject = ["state_dir": .string(directory)]
        let home = try await AttackedHome(desktop: place)
        try await home.pair()
        await home.desktop.close()
        let options = try DesktopOptions(parsing: JSONValue.object(place).serialized())
        try RoleState.open(
            options.common, database: "desktop.db", migrations: DesktopSwitchboard.migrations, now: Self.future
        ).close()
        func open(_ host: RecordingHost) throws -> Desktop {
            var options = place
            options.merge(["name": "Desk", "relay_url": .string(home.url), "follow_system": false])
            return try Desktop.open(JSONValue.object(options).serialized(), host.channel).0
        }
        func notify(_ title: String, by desktop: Desktop) async throws {
            let notice = try Desktop.Notice(JSONObject(#"{"title":"\#(title)","body":""}"#))
            _ = try await desktop.value(.notify(notice, try CallTimeout(patience)))
        }
        for title in ["One", "Two"] {
            let desktop = try open(RecordingHost())
            _ = try await desktop.value(.start)
            try await notify(title, by: desktop)
            #expect(try await home.deviceHost.push(from: home.device)["title"]?.string == title)
            await desktop.close()
        }
        try Self.lose("desktop.db", in: directory)

        let host = RecordingHost()
        let desktop = try open(host)
        _ = try await desktop.value(.start)
        if deviceScans {
            let offer = try await desktop.value(.offer(try CallTimeout(patience)))
            let text = try #require(offer["payload"]?.string)
            #expect(try await home.device.value(.scan(text, try CallTimeout(patience)))["secure"] == true)
        } else {
            let shown = try await home.device.value(.show(try CallTimeout(patience)))
            let text = try #require(shown["payload"]?.string)
            _ = try await desktop.value(.scan(text))
            _ = try await desktop.value(.confirm(.scan, accept: true))
            _ = try await home.deviceHost.event(.pairingChanged) { $0["state"] == "completed" }
        }
        _ = try await host.event(.pairingChanged) { $0["state"] == "paired" }
        try await notify("Three", by: desktop)
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "Three")
        await home.device.close()
        await desktop.close()
        await home.relay.close()
    }
}
