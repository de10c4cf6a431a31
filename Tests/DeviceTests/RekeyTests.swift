import Foundation
import History
import Hosting
import Identity
import JSON
import Notifications
import Sealing
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop
@testable import Device

/// Moves to another key between our device and our desktop, at a relay that carries what it likes (WireRekey, "Overview").
@Suite(.timeLimit(.minutes(2)))
struct RekeyTests {
    /// Both sides keep their state, so both can take a new key.
    final class Pair {
        let home: AttackedHome
        let folder: String
        var device: Device
        var desktop: Desktop
        var deviceHost: RecordingHost
        var desktopHost: RecordingHost
        let record = Record()

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
            let notice = try Desktop.Notice(parsing: #"{"title":"\#(title)"}"#)
            let desktop = desktop
            async let notified = value { desktop.notify(notice, timeout: 10_000, then: $0) }
            #expect(try await deviceHost.push(from: device)["title"]?.string == title)
            #expect(try await notified["deliveredCount"] == 1)
        }

        func unread() async throws -> JSONValue? {
            let command = try Device.Command("notification.getUnreadCount", params: nil)
            return try await value { device.invoke(command, desktop: nil, timeout: 10_000, then: $0) }["count"]
        }

        func reopenDevice() async throws {
            await device.close()
            deviceHost = RecordingHost()
            device = try AttackedHome.openDevice(
                home.url, ["state_dir": .string(folder + "/device")], deviceHost)
            device.start()
        }

        func reopenDesktop() async throws {
            await desktop.close()
            desktopHost = RecordingHost()
            let options: JSONObject = [
                "state_dir": .string(folder + "/desktop"), "name": "Desk", "relay_url": .string(home.url),
            ]
            desktop = try Desktop.open(JSONValue.object(options).serialized(), desktopHost.channel).0
            _ = try await value { desktop.start(then: $0) }
        }

        func rekeyDevice() async throws -> String {
            let next = try device.nextKey()
            _ = try await value { device.rekey(to: next, then: $0) }
            return next.did
        }

        func rekeyDesktop() async throws -> String {
            let next = try desktop.nextKey()
            _ = try await value { desktop.rekey(to: next, then: $0) }
            return next.did
        }

        /// The desktop's user is asked about the device, and answers.
        func approveDevice(_ new: String, _ accept: Bool = true) async throws {
            let asked = try await desktopHost.event(.rekeyChanged) {
                $0["state"] == "confirming" && $0["newId"]?.string == new
            }
            let id = asked["id"]?.string ?? ""
            _ = try await value { desktop.confirmRekey(id, to: new, accept, then: $0) }
        }

        func approveDesktop(_ new: String, _ accept: Bool = true) async throws {
            let asked = try await deviceHost.event(.rekeyChanged) {
                $0["state"] == "confirming" && $0["newId"]?.string == new
            }
            let id = asked["id"]?.string ?? ""
            _ = try await value { device.confirmRekey(id, to: new, accept, then: $0) }
        }

        func deviceState() async throws -> JSONValue { try await value { device.rekeyState(then: $0) } }
        func desktopState() async throws -> JSONValue { try await value { desktop.rekeyState(then: $0) } }
        func deviceID() async throws -> String { try await value { device.state(then: $0) }["id"]?.string ?? "" }
        func desktopID() async throws -> String { try await value { desktop.state(then: $0) }["id"]?.string ?? "" }
        func devices() async throws -> [String] {
            try await value { desktop.devices(then: $0) }.array?.compactMap { $0["id"]?.string } ?? []
        }
        func desktops() async throws -> [String] {
            try await value { device.desktops(then: $0) }.array?.compactMap { $0["id"]?.string } ?? []
        }

        func close() async {
            await device.close()
            await desktop.close()
            await home.relay.close()
            try? FileManager.default.removeItem(atPath: folder)
        }
    }

    @EventLoop
    final class Record {
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

    @Test("a device moves: pushes go on, the queue, the inbox and the rights stay, and the old key is refused")
    func device() async throws {
        let pair = try await Pair()
        let old = try await pair.deviceID()
        _ = try await value { pair.desktop.allow(.upTo(.safe), "notification", to: old, then: $0) }
        let new = try await pair.rekeyDevice()
        try await pair.approveDevice(new)
        _ = try await pair.deviceHost.event(.rekeyChanged) { $0["state"] == "ready" }
        // Until the switch, everything goes on under the old key.
        #expect(try await pair.deviceID() == old)
        try await pair.push("second")
        #expect(try await pair.devices() == [old])

        // A push that waits while the device is away.
        await pair.device.close()
        let notice = try Desktop.Notice(parsing: #"{"title":"third"}"#)
        _ = try await value { pair.desktop.notify(notice, timeout: 10_000, then: $0) }
        try await pair.reopenDevice()
        #expect(try await pair.deviceID() == new)
        #expect(try await pair.deviceHost.push(from: pair.device)["title"] == "third")
        _ = try await pair.desktopHost.event(.rekeyChanged) { $0["state"] == "moved" && $0["newId"]?.string == new }
        #expect(try await pair.devices() == [new])
        try await pair.push("fourth")
        #expect(try await pair.unread() == 4)
        let permissions = try await value { pair.desktop.permissions(then: $0) }["devices"]?.array?.first
        #expect(permissions?["id"]?.string == new && permissions?["allowed"]?["notification"] == "safe")
        try await until("the move is complete") { try await pair.deviceState()["state"] == "none" }
        let revoked = try await value { pair.desktop.revoked(then: $0) }.array
        #expect(revoked?.first?["id"]?.string == old && revoked?.first?["movedTo"]?.string == new)

        // Nothing recorded under the old key has an effect, nor do the statements themselves.
        let before = try await value { pair.desktop.state(then: $0) }["counters"]?["revoked"]?.integer ?? 0
        let letters = await pair.record.letters.filter { $0.from == old }
        for letter in letters { await pair.home.relay.deliver(letter) }
        try await until("all of it is counted") {
            let counters = try await value { pair.desktop.state(then: $0) }["counters"]
            return counters?["revoked"]?.integer ?? 0 >= before + Int64(letters.count)
        }
        for letter in await pair.record.announcements { await pair.home.relay.deliver(letter) }
        try await pair.push("fifth")
        #expect(try await pair.devices() == [new])

        // Both sides start again: nothing of this was in memory alone.
        try await pair.reopenDesktop()
        try await pair.reopenDevice()
        try await pair.push("sixth")
        await pair.close()
    }

    @Test("a desktop moves: its device follows, with its inbox, its numbers and its queue")
    func desktop() async throws {
        let pair = try await Pair()
        let old = try await pair.desktopID()
        let new = try await pair.rekeyDesktop()
        try await pair.approveDesktop(new)
        _ = try await pair.desktopHost.event(.rekeyChanged) { $0["state"] == "ready" }
        try await pair.push("second")
        await pair.desktop.close()
        // A change that waits for the desktop.
        let request = try Device.Command("notification.markAllAsRead", params: nil)
        let queued = await outcome { pair.device.invoke(request, desktop: nil, timeout: 1_000, then: $0) }
        _ = queued
        try await pair.reopenDesktop()
        #expect(try await pair.desktopID() == new)
        _ = try await pair.deviceHost.event(.rekeyChanged) { $0["state"] == "moved" && $0["newId"]?.string == new }
        #expect(try await pair.desktops() == [new])
        try await pair.push("third")
        let query = try Device.InboxQuery(parsing: nil)
        let page = try await value { pair.device.load(query, then: $0) }
        let rows = page["notifications"]?.array ?? page["items"]?.array ?? []
        #expect(rows.allSatisfy { $0["desktop"]?.string == new })
        try await until("the move is complete") { try await pair.desktopState()["state"] == "none" }
        #expect(try await value { pair.device.revoked(then: $0) }.array?.first?["id"]?.string == old)
        try await pair.reopenDevice()
        try await pair.push("fourth")
        // And back again is not possible: an old key stays refused.
        #expect(try await pair.desktops() == [new])
        await pair.close()
    }
}
