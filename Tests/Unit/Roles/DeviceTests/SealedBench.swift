import History
@testable import Desktop
@testable import Device
import Foundation
import Hosting
import JSON
import Notifications
import TestSupport
import Testing
import Transport

/// A device and a desktop of ours, paired sealed, at a relay that can go and come again at its port.
final class SealedBench: Sendable {
    let url: String
    let device: Device
    let desktop: Desktop
    let host = RecordingHost()
    let desktopHost = RecordingHost()
    let deviceID: String
    private let relay: BenchRelay

    init(
        deviceDirectory: String = ":memory:", desktopDirectory: String = ":memory:", options: JSONObject = [:]
    ) async throws {
        relay = await BenchRelay()
        url = await relay.url
        device = try SealedBench.openDevice(deviceDirectory, host)
        desktop = try SealedBench.openDesktop(desktopDirectory, url, desktopHost, options)
        let offer = try await desktop.value(.offer(10_000))
        let paired = try await device.value(.scan(offer["payload"]?.string ?? "", 10_000))
        #expect(paired["secure"] == true)
        let state = try await device.value(.state)
        deviceID = state["id"]?.string ?? ""
        // The last of what a device asks by itself.
        _ = try await host.event(.settingsChanged)
    }

    static func openDevice(_ directory: String, _ host: RecordingHost) throws(HostError) -> Device {
        let options: JSONValue = ["state_dir": .string(directory), "name": "Test phone", "follow_system": false]
        return try Device.open(options.serialized(), host.channel, links: BenchRelay.links).0
    }

    static func openDesktop(
        _ directory: String, _ url: String, _ host: RecordingHost, _ more: JSONObject = [:]
    ) throws(HostError) -> Desktop {
        var options: JSONObject = [
            "state_dir": .string(directory), "relay_url": .string(url), "name": "Desk", "follow_system": false,
        ]
        options.merge(more)
        return try Desktop.open(JSONValue.object(options).serialized(), host.channel, links: BenchRelay.links).0
    }

    func invoke(
        _ method: String, _ params: JSONObject = [:], timeout: Int64 = 20_000
    ) async throws -> Result<JSONValue, HostError> {
        let command = try Device.Command(method, params)
        return await device.outcome(.ask(.invoke(command), of: nil, try CallTimeout(timeout)))
    }

    func history() async throws -> JSONValue {
        let query = try Desktop.HistoryQuery([:])
        return try await desktop.value(.history(query))
    }

    /// Keeps a notification on the desktop. Gives its id.
    @discardableResult
    func notify(_ title: String) async throws -> String {
        let notice = try Desktop.Notice(["title": .string(title), "body": ""])
        let result = try await desktop.value(.notify(notice, 10_000))
        return result["notificationId"]?.string ?? ""
    }

    var queue: [JSONValue] {
        get async throws {
            try await device.value(.queue).array ?? []
        }
    }

    var deviceState: JSONValue {
        get async throws { try await device.value(.state) }
    }

    var desktopState: JSONValue {
        get async throws { try await desktop.value(.state) }
    }

    /// A change of the desktop's own user.
    func changeAtDesktop(_ fields: JSONObject) async {
        let params = JSONValue.object(fields).serialized()
        guard let command = try? Desktop.OwnCommand("notification.updateSettings", JSONObject(params)) else { return }
        _ = await desktop.outcome(.invoke(command, 10_000))
    }

    /// The desktop goes from its relay, and the device has heard so.
    func leaveDesktop() async throws {
        desktop.perform(.stop)
        _ = try await host.event(.connectionChanged) { $0["online"] == false }
    }

    func returnDesktop() async throws {
        _ = try await desktop.value(.start)
    }

    func end() async {
        await device.close()
        await desktop.close()
        await relay.stop()
    }
}
