import Foundation
import Hosting
import Identity
import JSON
import Peering
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop
@testable import Device

/// Both sides keep their state, so both can take a new key.
final class MovingPair {
    let home: AttackedHome
    let folder: String
    var device: Device
    var desktop: Desktop
    var deviceHost: RecordingHost
    var desktopHost: RecordingHost
    let record = CarriedLetters()

    init() async throws {
        folder = NSTemporaryDirectory() + "bellwire-rekey-\(UUID().uuidString)"
        home = try await AttackedHome(
            device: ["state_dir": .string(folder + "/device")], desktop: ["state_dir": .string(folder + "/desktop")]
        )
        (device, desktop) = (home.device, home.desktop)
        (deviceHost, desktopHost) = (home.deviceHost, home.desktopHost)
        let record = record
        await home.relay.carries { record.carry($0) }
        try await home.pair()
        try await push("first")
    }

    func push(_ title: String) async throws {
        let notice = try Desktop.Notice(JSONObject(#"{"title":"\#(title)"}"#))
        let desktop = desktop
        async let notified = desktop.value(.notify(notice, 10_000))
        #expect(try await deviceHost.push(from: device)["title"]?.string == title)
        _ = try await notified
    }

    func pushToAll(_ title: String, _ second: Device, _ secondHost: RecordingHost) async throws {
        let notice = try Desktop.Notice(JSONObject(#"{"title":"\#(title)"}"#))
        _ = try await desktop.value(.notify(notice, 10_000))
        #expect(try await deviceHost.push(from: device)["title"]?.string == title)
        #expect(try await secondHost.push(from: second)["title"]?.string == title)
    }

    func unread() async throws -> JSONValue? {
        let command = try Device.Command("notification.getUnreadCount", [:])
        return try await device.value(.ask(.invoke(command), of: nil, 10_000))["count"]
    }

    func reopenDevice() async throws {
        await device.close()
        deviceHost = RecordingHost()
        device = try AttackedHome.openDevice(
            home.url, ["state_dir": .string(folder + "/device")], deviceHost)
        device.perform(.start)
    }

    func reopenDesktop() async throws {
        await desktop.close()
        desktopHost = RecordingHost()
        let options: JSONObject = [
            "state_dir": .string(folder + "/desktop"), "name": "Desk", "relay_url": .string(home.url),
        ]
        desktop = try Desktop.open(JSONValue.object(options).serialized(), desktopHost.channel).0
        _ = try await desktop.value(.start)
    }

    func rekeyDevice() async throws -> String {
        let next = try device.keys.next()
        let device = device
        // The first session may be on its way.
        try await until("it begins") {
            if case .success = await outcome({ device.rekey(to: next, then: $0) }) { true } else { false }
        }
        return next.did
    }

    func rekeyDesktop() async throws -> String {
        let next = try desktop.keys.next()
        let desktop = desktop
        try await until("it begins") {
            if case .success = await outcome({ desktop.rekey(to: next, then: $0) }) { true } else { false }
        }
        return next.did
    }

    /// The desktop's user is asked about the device, and answers.
    func approveDevice(_ new: String, _ accept: Bool = true) async throws {
        let asked = try await desktopHost.event(.rekeyChanged) {
            $0["state"] == "confirming" && $0["newId"]?.string == new
        }
        let id = asked["id"]?.string ?? ""
        _ = try await desktop.value(.key(.confirmRekey(id, to: new, accept: accept)))
    }

    func approveDesktop(_ new: String, _ accept: Bool = true) async throws {
        let asked = try await deviceHost.event(.rekeyChanged) {
            $0["state"] == "confirming" && $0["newId"]?.string == new
        }
        let id = asked["id"]?.string ?? ""
        _ = try await device.value(.key(.confirmRekey(id, to: new, accept: accept)))
    }

    /// Everything up to the next start, which takes the new key.
    func readyDeviceMove() async throws -> String {
        let new = try await rekeyDevice()
        try await approveDevice(new)
        _ = try await deviceHost.event(.rekeyChanged) { $0["state"] == "ready" }
        return new
    }

    func readyDesktopMove() async throws -> String {
        let new = try await rekeyDesktop()
        try await approveDesktop(new)
        _ = try await desktopHost.event(.rekeyChanged) { $0["state"] == "ready" }
        return new
    }

    func deviceState() async throws -> JSONValue { try await device.value(.key(.rekeyState)) }
    func desktopState() async throws -> JSONValue { try await desktop.value(.key(.rekeyState)) }
    func deviceID() async throws -> String { try await device.value(.state)["id"]?.string ?? "" }
    func desktopID() async throws -> String { try await desktop.value(.state)["id"]?.string ?? "" }
    func devices() async throws -> [String] {
        try await desktop.value(.devices).array?.compactMap { $0["id"]?.string } ?? []
    }
    func desktops() async throws -> [String] {
        try await device.value(.desktops).array?.compactMap { $0["id"]?.string } ?? []
    }

    func close() async {
        await device.close()
        await desktop.close()
        await home.relay.close()
        try? FileManager.default.removeItem(atPath: folder)
    }
}

/// What the relay was given, and what it drops of that.
@EventLoop
final class CarriedLetters {
    private(set) var letters: [HostileRelay.Letter] = []
    var drops: (HostileRelay.Letter) -> Bool = { _ in false }
    nonisolated init() {}

    func carry(_ letter: HostileRelay.Letter) -> [HostileRelay.Letter] {
        letters.append(letter)
        return drops(letter) ? [] : [letter]
    }

    func drop(_ drops: @escaping @Sendable (HostileRelay.Letter) -> Bool) { self.drops = drops }
    var announcements: [HostileRelay.Letter] { letters.filter { $0.payload["type"] == "bellwire:rekey" } }
}

extension Device {
    /// Begins a move to that key.
    func rekey(to next: SigningKey, then: @escaping Then) {
        EventLoop.post { [core] in core.channel.moves.begin(next, then) }
    }
}

extension Desktop {
    fileprivate func rekey(to next: SigningKey, then: @escaping Then) {
        EventLoop.post { [core] in core.channel.moves.begin(next, then) }
    }
}
