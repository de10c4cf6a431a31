import Foundation
import History
import Hosting
import JSON
import Sealing
import Store
import Peering
import TestSupport
import Testing

@testable import Desktop
@testable import Device

/// Databases that were damaged while nobody ran: the pairings go on, or the other side is told.
@Suite(.timeLimit(.minutes(2)))
struct DamagedDatabaseTests {
    private let deviceDirectory = NSTemporaryDirectory() + "bellwire-device-\(UUID().uuidString)"
    private let desktopDirectory = NSTemporaryDirectory() + "bellwire-desktop-\(UUID().uuidString)"

    private func clean() {
        for path in [deviceDirectory, desktopDirectory] { try? FileManager.default.removeItem(atPath: path) }
    }

    private func home() async throws -> AttackedHome {
        try await AttackedHome(
            device: ["state_dir": .string(deviceDirectory)], desktop: ["state_dir": .string(desktopDirectory)])
    }

    private func openDesktop(_ home: AttackedHome) async throws -> (Desktop, RecordingHost) {
        let host = RecordingHost()
        let options: JSONValue = [
            "state_dir": .string(desktopDirectory), "name": "Desk", "relay_url": .string(home.url),
            "follow_system": false,
        ]
        let desktop = try Desktop.open(options.serialized(), host.channel).0
        _ = try await desktop.value(.start)
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
        return (desktop, host)
    }

    /// Overwrites a page, or with `nil` everything.
    private func damage(_ file: String, page: Int?) throws {
        let handle = try FileHandle(forUpdating: URL(filePath: file))
        if let page { try handle.seek(toOffset: UInt64(page * 4_096)) } else { try handle.truncate(atOffset: 0) }
        try handle.write(contentsOf: Data(repeating: 0xAA, count: 4_096))
        try handle.close()
    }

    private func push(_ title: String, by desktop: Desktop, to device: Device, _ host: RecordingHost) async throws {
        let notice = try Desktop.Notice(JSONObject(#"{"title":"\#(title)","body":""}"#))
        async let notified = desktop.value(.notify(notice, 10_000))
        #expect(try await host.push(from: device)["title"]?.string == title)
        #expect(try await notified["deliveredCount"] == 1)
    }

    private func history(_ desktop: Desktop) async throws -> [JSONValue?] {
        let query = try Desktop.HistoryQuery([:])
        return try await desktop.value(.history(query))["notifications"]?.array?.map { $0["title"] } ?? []
    }

    @Test(
        "a desktop's database is damaged: its device stays paired and gets pushes, what was taken away stays away",
        arguments: [1, 4, 9, nil])
    func desktop(page: Int?) async throws {
        defer { clean() }
        let home = try await home()
        try await home.pair()
        try await push("Before", by: home.desktop, to: home.device, home.deviceHost)
        let (skill, safe) = ("notification", try #require(Permissions.Allowance(name: "safe")))
        _ = try await home.desktop.value(.allow(safe, skill: skill, to: home.deviceID))
        let stranger = "did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK"
        _ = try await home.desktop.value(.key(.revoke(stranger)))
        let before = try await home.desktop.value(.devices).array?.first
        await home.desktop.close()
        try damage(desktopDirectory + "/desktop.db", page: page)

        let (desktop, host) = try await openDesktop(home)
        let problem = try await host.event(.problem) { $0["code"] == "database_damaged" }
        #expect(problem["pairings"] == "restored")
        #expect(problem["movedAside"]?.string?.contains("desktop.db.damaged-") == true)
        let device = try await desktop.value(.devices).array?.first
        for field in ["id", "name", "platform", "pairedAt", "secure", "sas"] {
            #expect(device?[field] == before?[field])
        }
        let rights = try await desktop.value(.permissions)["devices"]?.array
        #expect(rights?.first?["allowed"]?[skill] == "safe")
        #expect(try await desktop.value(.key(.revoked)).array?.count == 1)
        let isLost = problem["incomplete"]?.array?.contains("history") == true
        #expect(isLost == (page == nil))
        #expect(try await history(desktop) == (isLost ? [] : ["Before"]))
        try await push("After", by: desktop, to: home.device, home.deviceHost)
        #expect(try await home.unread() != nil)
        await desktop.close()
        await home.device.close()
        await home.relay.close()
    }

    @Test("a device that was unpaired before the damage is still unpaired")
    func unpaired() async throws {
        defer { clean() }
        let home = try await home()
        try await home.pair()
        _ = try await home.desktop.value(.unpair(home.deviceID))
        await home.desktop.close()
        try damage(desktopDirectory + "/desktop.db", page: 2)
        let (desktop, _) = try await openDesktop(home)
        #expect(try await desktop.value(.devices).array == [])
        await desktop.close()
        await home.device.close()
        await home.relay.close()
    }

    @Test("the copy is gone, too: the desktop says so, and its device says that it is not paired there any more")
    func lost() async throws {
        defer { clean() }
        let home = try await home()
        try await home.pair()
        await home.desktop.close()
        try damage(desktopDirectory + "/desktop.db", page: nil)
        try damage(desktopDirectory + "/desktop.pairings", page: nil)
        let (desktop, host) = try await openDesktop(home)
        _ = try await host.event(.problem) { $0["code"] == "database_damaged" && $0["pairings"] == "lost" }
        // As the command line does where nobody is paired. It ends nothing that the device has to hear.
        let offer = try await desktop.value(.offer(10_000))["payload"]?.string ?? ""
        let command = try Device.Command("notification.getUnreadCount", [:])
        _ = await home.device.outcome(.ask(.invoke(command), of: nil, 10_000))
        // The desktop can't prove it, so the pairing stays until the user ends it.
        _ = try await home.deviceHost.event(.peersChanged) {
            $0["desktops"]?.array?.first?["seal"]?["problem"] == "not_paired"
        }
        // It can be paired again, and stays so.
        #expect(try await home.device.value(.scan(offer, 10_000))["secure"] == true)
        try await push("Again", by: desktop, to: home.device, home.deviceHost)
        await desktop.close()
        await home.device.close()
        await home.relay.close()
    }

    @Test("a database that can be read, but says what it can't mean, is damaged, too", arguments: [true, false])
    func content(ofDesktop: Bool) async throws {
        defer { clean() }
        let home = try await home()
        try await home.pair()
        for title in ["One", "Two"] { try await push(title, by: home.desktop, to: home.device, home.deviceHost) }
        await home.desktop.close()
        await home.device.close()
        let file = ofDesktop ? desktopDirectory + "/desktop.db" : deviceDirectory + "/device.db"
        let database = try Database.open(
            path: file,
            migrations: SealStates.migrations
                + (ofDesktop ? DesktopSwitchboard.migrations : DeviceSwitchboard.migrations)
        ).database
        try database.run { (connection) throws(StoreError) in
            try connection.execute("UPDATE seal_window SET window = x'00'")
        }
        database.close()
        let (desktop, desktopHost) = try await openDesktop(home)
        let host = RecordingHost()
        let device = try AttackedHome.openDevice(home.url, ["state_dir": .string(deviceDirectory)], host)
        let problem = try await (ofDesktop ? desktopHost : host).event(.problem) { $0["code"] == "database_damaged" }
        #expect(problem["pairings"] == "restored")
        device.perform(.start)
        try await push("After", by: desktop, to: device, host)
        await device.close()
        await desktop.close()
        await home.relay.close()
    }

    @Test("a device's database is damaged: its desktop stays paired, and pushes arrive", arguments: [1, 5, 11, nil])
    func device(page: Int?) async throws {
        defer { clean() }
        let home = try await home()
        try await home.pair()
        for title in ["One", "Two"] { try await push(title, by: home.desktop, to: home.device, home.deviceHost) }
        let before = try await home.device.value(.desktops).array?.first
        await home.device.close()
        let notice = try Desktop.Notice(JSONObject(#"{"title":"Meanwhile","body":""}"#))
        _ = await home.desktop.outcome(.notify(notice, 100))
        try damage(deviceDirectory + "/device.db", page: page)

        let host = RecordingHost()
        let device = try AttackedHome.openDevice(home.url, ["state_dir": .string(deviceDirectory)], host)
        let problem = try await host.event(.problem) { $0["code"] == "database_damaged" }
        #expect(problem["pairings"] == "restored")
        device.perform(.start)
        let desktop = try await device.value(.desktops).array?.first
        for field in ["id", "name", "relayUrl", "pairedAt", "secure", "sas"] {
            #expect(desktop?[field] == before?[field])
        }
        #expect(try await host.push(from: device)["title"] == "Meanwhile")
        _ = try await home.desktopHost.event(.connectionChanged)
        try await push("After", by: home.desktop, to: device, host)
        await device.close()
        await home.desktop.close()
        await home.relay.close()
    }
}
