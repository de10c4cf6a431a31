import Foundation
import Hosting
import JSON
import Sealing
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop
@testable import Device

/// The preshared key of sessions, from the pairing to what hosts see of it, at a relay that carries what it likes
/// (WireSessions, "Keys").
@Suite(.timeLimit(.minutes(2))) struct PresharedKeyTests {
    private let directory = NSTemporaryDirectory() + "bellwire-psk-\(UUID().uuidString)"
    private var deviceDirectory: String { directory + "/device" }
    private var desktopDirectory: String { directory + "/desktop" }

    private init() throws {
        for path in [deviceDirectory, desktopDirectory] {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
    }

    private func clean() { try? FileManager.default.removeItem(atPath: directory) }

    private func home() async throws -> AttackedHome {
        try await AttackedHome(
            device: ["state_dir": .string(deviceDirectory)], desktop: ["state_dir": .string(desktopDirectory)])
    }

    // MARK: What is there

    private func seal(ofDesktopAt device: Device) async throws -> JSONValue? {
        try await device.value(.desktops).array?.first?["seal"]
    }

    private func seal(ofDeviceAt desktop: Desktop) async throws -> JSONValue? {
        try await desktop.value(.devices).array?.first?["seal"]
    }

    /// Both sides list the other like that. A command and its answer are frames of both sides in the session.
    private func expectSeal(
        _ expected: JSONValue, at device: Device, _ desktop: Desktop, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let command = try Device.Command("notification.getUnreadCount", [:])
        try await until("\(expected) on both sides", sourceLocation: location) {
            if expected["version"] == 2 {
                _ = await device.outcome(.ask(.invoke(command), of: nil, 5_000))
            }
            let lists = [try await seal(ofDesktopAt: device), try await seal(ofDeviceAt: desktop)]
            return lists == [expected, expected]
        }
    }

    private func push(
        _ title: String, by desktop: Desktop, to device: Device, _ host: RecordingHost,
        _ location: SourceLocation = #_sourceLocation
    ) async throws {
        let notice = try Desktop.Notice(JSONObject(#"{"title":"\#(title)"}"#))
        async let notified = desktop.value(.notify(notice, 10_000))
        #expect(try await host.push(from: device, location)["title"]?.string == title, sourceLocation: location)
        // While the first session begins, it may take a second try.
        _ = try await notified
    }

    private func open(_ file: String) throws(StoreError) -> Database.Opened {
        let isDevice = file.hasSuffix("/device.db")
        return try Database.open(
            path: file,
            migrations: SealStates.migrations
                + (isDevice ? DeviceSwitchboard.migrations : DesktopSwitchboard.migrations))
    }

    /// The preshared keys of a role that is closed, of all of its peers.
    private func stored(_ file: String) throws -> [PresharedKeyBytes?] {
        let opened = try open(file)
        defer { opened.database.close() }
        return try opened.database.run { (connection) throws(StoreError) in
            try connection.query("SELECT psk FROM seal_peer ORDER BY peer") { (row) throws(StoreError) in
                try row.optionalBlob(0)
            }
        }
    }

    private typealias PresharedKeyBytes = [UInt8]

    private func stored() throws -> [PresharedKeyBytes?] {
        let (device, desktop) = (
            try stored(deviceDirectory + "/device.db"), try stored(desktopDirectory + "/desktop.db")
        )
        #expect(device == desktop)
        return device
    }

    private func change(_ file: String, _ sql: String) throws {
        let opened = try open(file)
        defer { opened.database.close() }
        try opened.database.run { (connection) throws(StoreError) in _ = try connection.execute(sql) }
        // As in a state directory from before there was a copy of the pairings.
        unlink(file.replacingOccurrences(of: ".db", with: ".pairings"))
    }

    // MARK: All flows

    private enum Flow: CaseIterable { case scan, show, typed }

    private func pair(_ home: AttackedHome, by flow: Flow) async throws {
        let (device, desktop) = (home.device, home.desktop)
        switch flow {
        case .scan: try await home.pair()
        case .show:
            let shown = try await device.value(.show(10_000))
            _ = try await desktop.value(.scan(shown["payload"]?.string ?? ""))
            _ = try await desktop.value(.confirm(.scan, accept: true))
            _ = try await home.desktopHost.event(.pairingChanged) { $0["state"] == "paired" }
        case .typed:
            let shown = try await desktop.value(.code(10_000))
            _ = try await device.value(.type(shown["code"]?.string ?? "", 10_000))
        }
    }

    @Test(
        "each flow: both sides store the same key, list it, and count sessions alone from the start",
        arguments: Flow.allCases)
    private func flows(flow: Flow) async throws {
        defer { clean() }
        let home = try await home()
        await home.relay.holdsHandshakes()
        try await pair(home, by: flow)
        try await expectSeal(["version": 2, "psk": true], at: home.device, home.desktop)
        await home.relay.letsHandshakesThrough()
        home.device.perform(.stop)
        home.device.perform(.start)
        try await push("Tea", by: home.desktop, to: home.device, home.deviceHost)
        try await expectSeal(["version": 2, "psk": true], at: home.device, home.desktop)
        // Hosts hear of it.
        _ = try await home.deviceHost.event(.peersChanged) {
            $0["desktops"]?.array?.first?["seal"] == ["version": 2, "psk": true]
        }
        _ = try await home.desktopHost.event(.peersChanged) {
            $0["devices"]?.array?.first?["seal"] == ["version": 2, "psk": true]
        }
        await home.close()
        let keys = try stored()
        #expect(keys.count == 1 && keys.first??.count == 32)
    }

    @Test("a pair that was made before has no preshared key, uses sessions all the same, and is shown as such")
    func before() async throws {
        defer { clean() }
        let home = try await home()
        await home.relay.holdsHandshakes()
        try await home.pair()
        await home.device.close()
        await home.desktop.close()
        for file in [deviceDirectory + "/device.db", desktopDirectory + "/desktop.db"] {
            try change(file, "DELETE FROM seal_peer")
        }
        await home.relay.letsHandshakesThrough()
        let (desktop, desktopHost) = try await openDesktop(home)
        let host = RecordingHost()
        let device = try AttackedHome.openDevice(home.url, ["state_dir": .string(deviceDirectory)], host)
        #expect(try await seal(ofDesktopAt: device) == ["version": 1, "psk": false])
        #expect(try await seal(ofDeviceAt: desktop) == ["version": 1, "psk": false])
        device.perform(.start)
        try await expectSeal(["version": 2, "psk": false], at: device, desktop)
        try await push("Tea", by: desktop, to: device, host)
        // Pairing again gives it one.
        let offer = try await desktop.value(.offer(10_000))
        _ = try await device.value(.scan(offer["payload"]?.string ?? "", 10_000))
        _ = try await desktopHost.event(.pairingChanged) { $0["state"] == "paired" }
        try await push("Milk", by: desktop, to: device, host)
        try await expectSeal(["version": 2, "psk": true], at: device, desktop)
        await device.close()
        await desktop.close()
        await home.relay.close()
        #expect(try stored().first??.count == 32)
    }

    private func openDesktop(_ home: AttackedHome) async throws -> (Desktop, RecordingHost) {
        let host = RecordingHost()
        let options: JSONObject = [
            "state_dir": .string(desktopDirectory), "name": "Desk", "relay_url": .string(home.url),
        ]
        let desktop = try Desktop.open(JSONValue.object(options).serialized(), host.channel).0
        _ = try await desktop.value(.start)
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
        return (desktop, host)
    }

    // MARK: A relay that takes the offer away

    @Test("a relay that takes the versions out of a typed code's step 2: nobody is paired, and the desktop says why")
    func strippedStep() async throws {
        defer { clean() }
        let home = try await home()
        await home.relay.carries { letter in
            var letter = letter
            if var payload = letter.payload["payload"]?.object, payload["step"] == 2, payload["share"] != nil {
                #expect(payload["seal"] == [1, 2])
                payload["seal"] = nil
                letter.payload = ["type": "bellwire:pake", "payload": .object(payload)]
            }
            return [letter]
        }
        let (device, desktop) = (home.device, home.desktop)
        let shown = try await desktop.value(.code(10_000))
        let typed = await device.outcome(.type(shown["code"]?.string ?? "", 10_000))
        #expect(typed.error?.detail["reason"] == "rejected")
        let failed = try await home.desktopHost.event(.pairingChanged) { $0["state"] == "failed" }
        #expect(failed["reason"] == "not_secure")
        try await home.expectNobodyIsPaired()
        await home.close()
    }

    @Test("a desktop's code whose versions were taken out before it was scanned: nobody is paired, and both say so")
    func strippedCode() async throws {
        defer { clean() }
        let home = try await home()
        var offer = try #require(try await home.offer().object)
        var bw = try #require(offer["bw"]?.object)
        #expect(bw["seal"] == [1, 2])
        bw["seal"] = nil
        offer["bw"] = .object(bw)
        #expect(await home.scan(.object(offer)).error?.detail["reason"] == "rejected")
        let failed = try await home.desktopHost.event(.pairingChanged) { $0["state"] == "failed" }
        #expect(failed["reason"] == "not_secure")
        try await home.expectNobodyIsPaired()
        await home.close()
    }

    @Test("a device's code whose versions were taken out: the device refuses it at once, and the desktop pairs nobody")
    func strippedOwnCode() async throws {
        defer { clean() }
        let home = try await home()
        let (device, desktop) = (home.device, home.desktop)
        let shown = try await device.value(.show(10_000))
        let text = try JSONValue(parsing: shown["payload"]?.string ?? "")
        var code = try #require(text.object)
        var bw = try #require(code["bw"]?.object)
        bw["seal"] = nil
        code["bw"] = .object(bw)
        _ = try await desktop.value(.scan(JSONValue.object(code).serialized()))
        _ = try await desktop.value(.confirm(.scan, accept: true))
        let failed = try await home.deviceHost.event(.pairingChanged) { $0["state"] == "failed" }
        #expect(failed["reason"] == "not_secure")
        desktop.perform(.cancel(.scan))
        _ = try await home.desktopHost.event(.pairingChanged) { $0["state"] == "cancelled" }
        try await home.expectNobodyIsPaired()
        await home.close()
    }

    // MARK: One side has lost something

    @Test("a device that crashed before it stored the pairing scans the same code again: the same key on both sides")
    func crash() async throws {
        defer { clean() }
        let home = try await home()
        let offer = try await home.offer()
        // The desktop has stored the device; its confirmation is lost.
        let device = home.deviceID
        let confirmed = Count()
        await home.relay.carries { letter in
            guard letter.to == device, letter.isSealed else { return [letter] }
            return confirmed.next() == 1 ? [letter] : []
        }
        async let scanned = home.scan(offer)
        _ = try await home.desktopHost.event(.pairingChanged) { $0["state"] == "paired" }
        #expect(try await seal(ofDeviceAt: home.desktop) == ["version": 2, "psk": true])
        await home.device.close()
        #expect(await scanned.error != nil)
        await home.relay.carries { [$0] }
        let host = RecordingHost()
        let again = try AttackedHome.openDevice(home.url, ["state_dir": .string(deviceDirectory)], host)
        #expect(try await again.value(.desktops).array?.isEmpty == true)
        _ = try await again.value(.scan(offer.serialized(), 10_000))
        try await push("Tea", by: home.desktop, to: again, host)
        try await expectSeal(["version": 2, "psk": true], at: again, home.desktop)
        await again.close()
        await home.desktop.close()
        await home.relay.close()
        #expect(try stored().first??.count == 32)
    }

    @Test(
        "a device restored to another key: counted, listed, no storm of handshakes, nothing in version 1; pairing heals it"
    )
    func restored() async throws {
        defer { clean() }
        let home = try await home()
        try await home.pair()
        try await push("Sugar", by: home.desktop, to: home.device, home.deviceHost)
        try await expectSeal(["version": 2, "psk": true], at: home.device, home.desktop)
        await home.device.close()
        let backup = directory + "/backup"
        try FileManager.default.copyItem(atPath: deviceDirectory, toPath: backup)
        let second = RecordingHost()
        let paired = try AttackedHome.openDevice(home.url, ["state_dir": .string(deviceDirectory)], second)
        let offer = try await home.offer()
        _ = try await paired.value(.scan(offer.serialized(), 10_000))
        try await push("Tea", by: home.desktop, to: paired, second)
        await paired.close()
        try FileManager.default.removeItem(atPath: deviceDirectory)
        try FileManager.default.copyItem(atPath: backup, toPath: deviceDirectory)

        let steps = Count()
        let desktopID = home.desktopID
        await home.relay.carries { letter in
            if letter.to == desktopID, letter.payload["payload"]?["step"] == 1 { _ = steps.next() }
            return [letter]
        }
        let host = RecordingHost()
        let device = try AttackedHome.openDevice(home.url, ["state_dir": .string(deviceDirectory)], host)
        device.perform(.start)
        let changed = try await host.event(.peersChanged) {
            $0["desktops"]?.array?.first?["seal"]?["problem"] != nil
        }
        #expect(
            changed["desktops"]?.array?.first?["seal"]
                == ["version": 2, "psk": true, "problem": "handshake_refused"])
        let state = try await device.value(.state)
        #expect(state["counters"]?["handshakesRefused"]?.integer ?? 0 >= 1)
        // Whatever the desktop sends, and asks for.
        let (desktop, deviceID) = (home.desktop, home.deviceID)
        let notice = try Desktop.Notice(JSONObject(#"{"title":"Milk"}"#))
        #expect(await desktop.outcome(.notify(notice, 1_000)).error != nil)
        for _ in 0..<20 {
            await home.relay.deliver(
                .init(
                    from: desktopID, to: deviceID,
                    payload: ["type": "bellwire:hs", "payload": ["v": 2, "step": 0]], isSealed: false))
        }
        _ = try await device.value(.state)
        #expect(await steps.value <= 3, "a first one, and repetitions")

        // A new pairing is a new key on both sides.
        let anew = try await home.offer()
        _ = try await device.value(.scan(anew.serialized(), 10_000))
        #expect(try await host.push(from: device)["title"] == "Milk")
        try await expectSeal(["version": 2, "psk": true], at: device, home.desktop)
        await device.close()
        await home.desktop.close()
        await home.relay.close()
        #expect(try stored().first??.count == 32)
    }

    @Test("paired again: another key takes the place of the first, on both sides, and sessions begin anew")
    func again() async throws {
        defer { clean() }
        let home = try await home()
        try await home.pair()
        try await push("Tea", by: home.desktop, to: home.device, home.deviceHost)
        try await expectSeal(["version": 2, "psk": true], at: home.device, home.desktop)
        await home.device.close()
        await home.desktop.close()
        let first = try stored()
        let (desktop, desktopHost) = try await openDesktop(home)
        let host = RecordingHost()
        let device = try AttackedHome.openDevice(home.url, ["state_dir": .string(deviceDirectory)], host)
        device.perform(.start)
        let offer = try await desktop.value(.offer(10_000))
        _ = try await device.value(.scan(offer["payload"]?.string ?? "", 10_000))
        _ = try await desktopHost.event(.pairingChanged) { $0["state"] == "paired" }
        try await push("Milk", by: desktop, to: device, host)
        try await expectSeal(["version": 2, "psk": true], at: device, desktop)
        await device.close()
        await desktop.close()
        await home.relay.close()
        let second = try stored()
        #expect(second.count == 1 && second.first??.count == 32 && second != first)
    }
}

/// Counts up.
@EventLoop
private final class Count {
    private(set) var value = 0

    nonisolated init() {}

    func next() -> Int {
        value += 1
        return value
    }
}
