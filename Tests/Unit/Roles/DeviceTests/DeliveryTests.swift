import Alerts
import Desktop
import Foundation
import Hosting
import JSON
import TestSupport
import Testing
import Transport

@testable import Device

/// Pushes from our desktop to our device while everything between them restarts (WireSealing, "Delivery of pushes").
@Suite(.timeLimit(.minutes(1)))
struct DeliveryTests {
    private let directory = NSTemporaryDirectory() + "bellwire-device-\(UUID().uuidString)"

    private func openDesktop(_ url: String, _ host: RecordingHost) async throws -> Desktop {
        let options: JSONValue = [
            "state_dir": .string(directory + "/desktop"), "name": "Desk", "relay_url": .string(url),
            "follow_system": false,
        ]
        let desktop = try Desktop.open(options.serialized(), host.channel).0
        _ = try await desktop.value(.start)
        return desktop
    }

    private func openDevice(_ host: RecordingHost) throws -> Device {
        let options: JSONValue = [
            "state_dir": .string(directory + "/device"), "name": "Phone", "follow_system": false,
        ]
        let device = try Device.open(options.serialized(), host.channel).0
        device.perform(.start)
        return device
    }

    private func notify(_ desktop: Desktop, _ params: String) async throws -> JSONValue {
        let notice = try Desktop.Notice(JSONObject(params))
        return try await desktop.value(.notify(notice, 10_000))
    }

    private func pair(_ device: Device, _ desktop: Desktop) async throws {
        let offer = try await desktop.value(.offer(10_000))
        _ = try await device.value(.scan(offer["payload"]?.string ?? "", 10_000))
    }

    @Test("relay, device and desktop are taken away in turn: each push comes once, in order, late where it waited")
    func everythingGoes() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        var relay = try await LoopbackRelay()
        let (url, port) = (await relay.url, await relay.port)
        let hosts = (desktop: RecordingHost(), device: RecordingHost())
        var desktop = try await openDesktop(url, hosts.desktop)
        var device = try openDevice(hosts.device)
        try await pair(device, desktop)

        #expect(try await notify(desktop, #"{"title":"live"}"#)["deliveredCount"] == 1)
        let live = try await hosts.device.push(from: device)
        #expect(live["title"] == "live" && live["late"] == false)

        // The relay goes while pushes are on their way, and another one comes in its place.
        let before = desktop
        async let first = notify(before, #"{"title":"1"}"#)
        async let second = notify(before, #"{"title":"2"}"#)
        await relay.stop()
        _ = try await (first, second)
        _ = try await notify(desktop, #"{"title":"3"}"#)
        relay = try await LoopbackRelay(port: port)
        var titles: [String] = []
        for _ in 0..<3 { titles.append(try await hosts.device.push(from: device)["title"]?.string ?? "") }
        #expect(titles.sorted() == ["1", "2", "3"] && titles.last == "3")

        await device.close()
        let made = ContinuousClock.now
        #expect(try await notify(desktop, #"{"title":"4"}"#)["deliveredCount"] == 0)
        await desktop.close()
        let anew = RecordingHost()
        desktop = try await openDesktop(url, anew)
        _ = try await anew.event(.connectionChanged) { $0["online"] == true }
        // Long enough ago to be late.
        _ = try await notify(desktop, #"{"title":"5"}"#)
        try await until("the fourth is late") { ContinuousClock.now - made > .milliseconds(2_100) }
        let host = RecordingHost()
        device = try openDevice(host)
        let fourth = try await host.push(from: device)
        #expect(fourth["title"] == "4" && fourth["late"] == true)
        #expect(try await host.push(from: device)["title"] == "5")
        #expect(try await notify(desktop, #"{"title":"6"}"#)["deliveredCount"] == 1)
        #expect(try await host.push(from: device)["title"] == "6")
        let state = try await device.value(.state)
        #expect(state["unread"] == 7)
        await device.close()
        await desktop.close()
        await relay.stop()
    }

    @Test("a push takes the place of the one with its collapseKey: one row, and the host hears which it knew")
    func collapse() async throws {
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        let relay = try await LoopbackRelay()
        let host = RecordingHost()
        let desktop = try await openDesktop(await relay.url, RecordingHost())
        let device = try openDevice(host)
        try await pair(device, desktop)
        _ = try await notify(desktop, #"{"title":"10 %","collapseKey":"download"}"#)
        let first = try await host.push(from: device)
        _ = try await notify(desktop, #"{"title":"90 %","collapseKey":"download"}"#)
        _ = try await notify(desktop, #"{"title":"other"}"#)
        let source = try #require(device.sources.first)
        let pushes = try source.take(limit: 10)
        #expect(pushes.map(\.event.name) == [.notificationUpdated, .notificationReceived])
        #expect(pushes.first?.event.data["title"] == "90 %" && pushes.first?.event.data["replaces"] == first["id"])
        #expect(try await device.value(.state)["unread"] == 2)
        await device.close()
        await desktop.close()
        await relay.stop()
    }

    @Test("late_alerts is one of three words")
    func lateAlerts() throws {
        #expect(try DeviceOptions(parsing: nil).lateAlerts == .none)
        #expect(try DeviceOptions(parsing: #"{"late_alerts":"summary"}"#).lateAlerts == .summary)
        #expect(throws: HostError.self) { try DeviceOptions(parsing: #"{"late_alerts":"all"}"#) }
    }
}
