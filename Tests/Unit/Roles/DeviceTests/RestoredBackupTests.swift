import Foundation
import Hosting
import JSON
import TestSupport
import Testing
import Wire

@testable import Desktop
@testable import Device

/// A desktop whose state was put back from a backup, at a relay that has kept everything (WireSealing, "Delivery of pushes").
@Suite(.timeLimit(.minutes(2)))
struct RestoredBackupTests {
    private let directory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"
    private var backup: String { directory + "-backup" }

    private func open(_ url: String, _ host: RecordingHost) async throws -> Desktop {
        let options: JSONValue = [
            "state_dir": .string(directory), "name": "Desk", "relay_url": .string(url), "follow_system": false,
        ]
        let desktop = try Desktop.open(options.serialized(), host.channel).0
        _ = try await desktop.value(.start)
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
        return desktop
    }

    private func notify(_ title: String, by desktop: Desktop, timeout: Int64 = 10_000) async throws -> JSONValue {
        let notice = try Desktop.Notice(JSONObject(#"{"title":"\#(title)","body":""}"#))
        return try await desktop.value(.notify(notice, try CallTimeout(timeout)))
    }

    /// Pairs, and delivers A; then the backup is made. The desktop that is returned has delivered B, C and D since.
    private func deliver(at home: AttackedHome, inSessions: Bool = false) async throws -> Desktop {
        if inSessions { try await home.pair() } else { try await home.pairOld() }
        try await deliver("A", by: home.desktop, at: home)
        await home.desktop.close()
        try FileManager.default.copyItem(atPath: directory, toPath: backup)
        let desktop = try await open(home.url, RecordingHost())
        for title in ["B", "C", "D"] { try await deliver(title, by: desktop, at: home) }
        return desktop
    }

    private func deliver(_ title: String, by desktop: Desktop, at home: AttackedHome) async throws {
        #expect(try await notify(title, by: desktop)["deliveredCount"] == 1)
        #expect(try await home.deviceHost.push(from: home.device)["title"]?.string == title)
    }

    private func restore() throws {
        try FileManager.default.removeItem(atPath: directory)
        try FileManager.default.copyItem(atPath: backup, toPath: directory)
    }

    @Test("old acknowledgements and hellos report nothing as delivered, and the next push arrives")
    func replayed() async throws {
        defer { for path in [directory, backup] { try? FileManager.default.removeItem(atPath: path) } }
        let home = try await AttackedHome(desktop: ["state_dir": .string(directory)])
        await home.relay.holdsHandshakes()
        let (relay, device) = (home.relay, home.deviceID)
        let first = try await deliver(at: home)
        // The device registers anew: a hello.
        home.device.perform(.stop)
        home.device.perform(.start)
        _ = try await notify("E", by: first)
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "E")
        await first.close()
        let old = await relay.keptLetters().filter { $0.from == device && $0.isSealed }
        #expect(old.count >= 4)

        try restore()
        // Nothing gets through in either direction but what the relay plays back.
        await relay.carries { _ in [] }
        let desktop = try await open(home.url, RecordingHost())
        async let notified = notify("F", by: desktop, timeout: 3_000)
        _ = try await relay.letter { $0.to == device }
        for letter in old { await relay.deliver(letter) }
        #expect(try await notified["deliveredCount"] == 0)
        let counters = try await desktop.value(.state)["counters"]
        #expect(counters?["staleAcknowledgements"]?.integer ?? 0 > 0)

        await relay.carries { [$0] }
        home.device.perform(.stop)
        home.device.perform(.start)
        var titles: [String] = []
        while !titles.contains("F") {
            titles.append(try await home.deviceHost.push(from: home.device)["title"]?.string ?? "")
        }
        #expect(titles == ["F"])
        try await deliver("G", by: desktop, at: home)
        await home.device.close()
        await desktop.close()
        await relay.close()
    }

    @Test(
        "a device that is ahead of a restored desktop gets all that waits there, and none of it counts as delivered before",
        arguments: [false, true])
    func ahead(inSessions: Bool) async throws {
        defer { for path in [directory, backup] { try? FileManager.default.removeItem(atPath: path) } }
        let home = try await AttackedHome(desktop: ["state_dir": .string(directory)])
        if !inSessions { await home.relay.holdsHandshakes() }
        let (relay, device) = (home.relay, home.deviceID)
        let first = try await deliver(at: home, inSessions: inSessions)
        await first.close()
        try restore()

        // Three ahead, five wait. Nothing comes from the device yet, but the relay says that it is there.
        await relay.carries { $0.from == device ? [] : [$0] }
        let desktop = try await open(home.url, RecordingHost())
        let titles = ["E", "F", "G", "H", "I"]
        try await withThrowingTaskGroup(of: JSONValue.self) { group in
            for title in titles { group.addTask { try await notify(title, by: desktop, timeout: 3_000) } }
            if !inSessions {
                _ = try await relay.letter { $0.to == device }
                await relay.say(
                    ["type": "peer-status", "peerId": .string(device), "status": "online"], to: home.desktopID)
            }
            for try await result in group { #expect(result["deliveredCount"] == 0) }
        }
        await relay.carries { [$0] }
        home.device.perform(.stop)
        home.device.perform(.start)
        var received: [String] = []
        while received.count < titles.count {
            received.append(try await home.deviceHost.push(from: home.device)["title"]?.string ?? "")
        }
        #expect(received.sorted() == titles)
        try await deliver("J", by: desktop, at: home)
        await home.device.close()
        await desktop.close()
        await relay.close()
    }

    @Test("commands, tokens and receipts of an older pair, sealed before the restore, have no effect; new ones do")
    func replayedCommands() async throws {
        defer { for path in [directory, backup] { try? FileManager.default.removeItem(atPath: path) } }
        let home = try await AttackedHome(desktop: ["state_dir": .string(directory)])
        await home.relay.holdsHandshakes()
        let (relay, device) = (home.relay, home.deviceID)
        try await home.pairOld()
        await home.desktop.close()
        try FileManager.default.copyItem(atPath: directory, toPath: backup)
        let first = try await open(home.url, RecordingHost())
        try await home.register()
        let tea = try Device.Command("notification.send", ["title": "Tea", "body": ""])
        _ = try await home.device.value(.ask(.invoke(tea), of: nil, 10_000))
        let (service, token) = (try #require(PushService("fcm")), try #require(PushToken(hex: "c0ffee")))
        _ = try await home.device.value(.give(service, token))
        try await until("the desktop has the token") { try await first.value(.tokens).array?.count == 1 }
        await first.close()
        let old = await relay.keptLetters().filter { $0.from == device && $0.isSealed }
        #expect(old.count >= 3)

        try restore()
        await relay.carries { _ in [] }
        let desktop = try await open(home.url, RecordingHost())
        for letter in old { await relay.deliver(letter) }
        try await until("the desktop has refused them") {
            try await desktop.value(.state)["counters"]?["replayed"]?.integer ?? 0 >= 2
        }
        #expect(try await desktop.value(.history(Desktop.HistoryQuery([:])))["total"] == 0)
        #expect(try await desktop.value(.tokens).array?.isEmpty == true)
        await relay.carries { [$0] }
        _ = try await home.device.value(.ask(.invoke(tea), of: nil, 20_000))
        #expect(try await desktop.value(.history(Desktop.HistoryQuery([:])))["total"] == 1)
        await home.device.close()
        await desktop.close()
        await relay.close()
    }

    @Test("an old sealed hello does not complete the pairing of a code that the device shows now")
    func replayedHello() async throws {
        defer { for path in [directory, backup] { try? FileManager.default.removeItem(atPath: path) } }
        let home = try await AttackedHome(desktop: ["state_dir": .string(directory)])
        await home.relay.holdsHandshakes()
        let (relay, device) = (home.relay, home.deviceID)
        try await home.pairOld()
        await home.desktop.close()
        try FileManager.default.copyItem(atPath: directory, toPath: backup)
        let first = try await open(home.url, RecordingHost())
        home.device.perform(.stop)
        home.device.perform(.start)
        _ = try await notify("A", by: first)
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "A")
        await first.close()
        let old = await relay.keptLetters().filter { $0.from == device && $0.isSealed }
        #expect(old.count >= 2)

        try restore()
        let desktop = try await open(home.url, RecordingHost())
        await relay.carries { _ in [] }
        _ = try await desktop.value(.unpair(device))
        let shown = try await home.device.value(.show(10_000))
        let text = try #require(shown["payload"]?.string)
        _ = try await desktop.value(.scan(text))
        _ = try await desktop.value(.confirm(.scan, accept: true))
        _ = await relay.keptLetters()
        for letter in old { await relay.deliver(letter) }
        // The desktop asks on: nothing of that was an answer.
        _ = try await relay.letter { $0.to == device }
        #expect(try await desktop.value(.devices).array?.isEmpty == true)
        await relay.carries { [$0] }
        _ = try await home.deviceHost.event(.pairingChanged) { $0["flow"] == "show" && $0["state"] == "completed" }
        try await until("the desktop has the device") {
            try await desktop.value(.devices).array?.map { $0["id"] } == [.string(device)]
        }
        await home.device.close()
        await desktop.close()
        await relay.close()
    }
}
