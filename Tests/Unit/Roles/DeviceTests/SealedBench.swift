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
        let offer = try await value { [desktop] (then: @escaping Then) in desktop.offer(timeout: 10_000, then: then) }
        let paired = try await value { [device] (then: @escaping Then) in
            device.scan(offer["payload"]?.string ?? "", timeout: 10_000, then: then)
        }
        #expect(paired["secure"] == true)
        let state = try await value { [device] (then: @escaping Then) in device.state(then: then) }
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
        let command = try Device.Command(method, params: JSONValue.object(params).serialized())
        return await outcome { [device] (then: @escaping @Sendable (Result<Device.Reply, HostError>) -> Void) in
            device.invoke(command, desktop: nil, timeout: timeout, then: then)
        }
    }

    func history() async throws -> JSONValue {
        let query = try Desktop.HistoryQuery(parsing: nil)
        return try await value { [desktop] (then: @escaping Then) in desktop.history(query, then: then) }
    }

    /// Keeps a notification on the desktop. Gives its id.
    @discardableResult
    func notify(_ title: String) async throws -> String {
        let notice = try Desktop.Notice(parsing: JSONValue.object(["title": .string(title), "body": ""]).serialized())
        let result = try await value { [desktop] (then: @escaping Then) in
            desktop.notify(notice, timeout: 10_000, then: then)
        }
        return result["notificationId"]?.string ?? ""
    }

    var queue: [JSONValue] {
        get async throws {
            try await value { [device] (then: @escaping Then) in device.queue(then: then) }.array ?? []
        }
    }

    var deviceState: JSONValue {
        get async throws { try await value { [device] (then: @escaping Then) in device.state(then: then) } }
    }

    var desktopState: JSONValue {
        get async throws { try await value { [desktop] (then: @escaping Then) in desktop.state(then: then) } }
    }

    /// A change of the desktop's own user.
    func changeAtDesktop(_ fields: JSONObject) async {
        let params = JSONValue.object(fields).serialized()
        guard let command = try? Desktop.OwnCommand("notification.updateSettings", params: params) else { return }
        _ = await outcome { [desktop] (then: @escaping Then) in desktop.invoke(command, timeout: 10_000, then: then) }
    }

    /// The desktop goes from its relay, and the device has heard so.
    func leaveDesktop() async throws {
        desktop.stop()
        _ = try await host.event(.connectionChanged) { $0["online"] == false }
    }

    func returnDesktop() async throws {
        _ = try await value { [desktop] (then: @escaping Then) in desktop.start(then: then) }
    }

    func end() async {
        await device.close()
        await desktop.close()
        await relay.stop()
    }
}
