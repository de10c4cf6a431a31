import Foundation
import Hosting
import JSON
import Peering
import Sealing
import Signalling
import Store
import TestSupport
import Testing
import Wire

@testable import Desktop
@testable import Device

/// Pushes that a desktop seals for a push service, and what becomes of them at the device (WirePrekeys, "Overview").
@Suite(.timeLimit(.minutes(2)))
struct SealedServicePushTests {
    // MARK: What the program does

    private func token(_ home: AttackedHome) async throws {
        let (service, token) = (try #require(PushService("fcm")), try #require(PushToken(hex: "00ff")))
        _ = try await home.device.value(.give(service, token))
    }

    /// How many single-use prekeys of the device's the desktop has.
    private func left(_ desktop: Desktop, _ device: String) async throws -> Int {
        try desktop.core.store.database.run { (connection) throws(StoreError) in
            try DevicePrekeyTable(connection).stock(of: PeerID(device), now: .now).left
        }
    }

    /// Paired, with prekeys at the desktop.
    private func paired(
        device deviceOptions: JSONObject = [:], desktop desktopOptions: JSONObject = [:]
    ) async throws -> AttackedHome {
        let home = try await AttackedHome(device: deviceOptions, desktop: desktopOptions)
        try await token(home)
        try await home.pair()
        try await until("the desktop has prekeys") { try await left(home.desktop, home.deviceID) == 32 }
        return home
    }

    /// A push that the relay keeps back: it waits in the outbox. Gives its id.
    private func keepBack(
        _ home: AttackedHome, _ params: JSONObject, by desktop: Desktop? = nil
    ) async throws -> String {
        let (device, desktop) = (home.deviceID, desktop ?? home.desktop)
        await home.relay.carries { $0.to == device ? [] : [$0] }
        let notice = try Desktop.Notice(params)
        let notified = try await desktop.value(.notify(notice, 10_000))
        #expect(notified["deliveredCount"] == 0)
        return try #require(notified["notificationId"]?.string)
    }

    private func seal(
        _ id: String, by desktop: Desktop, for device: String, _ options: String? = nil
    ) async throws -> JSONObject {
        let request = try Desktop.SealRequest(device: device, id: id, JSONObject(parameter: "options_json", options))
        return try #require(try await desktop.value(.sealPush(request)).object)
    }

    private func receive(_ payload: JSONObject, on device: Device) async throws -> JSONValue {
        try await device.value(.receive(service: "fcm", payload))
    }

    private func rows(of device: Device) async throws -> [JSONValue] {
        let query = try Device.InboxQuery([:])
        return try await device.value(.loadInbox(query))["notifications"]?.array ?? []
    }

    /// Everything gets through again; the device begins a session.
    private func reconnect(_ home: AttackedHome) async throws {
        await home.relay.carries { [$0] }
        home.device.perform(.stop)
        home.device.perform(.start)
    }

    // MARK: Tests

    @Test("a sealed push is shown once, as its desktop's hint, until the session brings it: that is not shown again")
    func confirmed() async throws {
        let home = try await paired()
        let id = try await keepBack(
            home,
            [
                "title": "Tea", "body": "is ready", "priority": "high",
                "data": ["n": [1, 2.5], "deepLink": "app://tea"],
                "collapseKey": "k",
            ])
        let payload = try await seal(id, by: home.desktop, for: home.deviceID)
        #expect(JSONValue.object(payload).serialized().utf8.count <= 4_096)
        #expect(!JSONValue.object(payload).serialized().contains("Tea"))
        let got = try await receive(payload, on: home.device)
        #expect(got == ["kind": "push", "id": .string(id), "duplicate": false])
        let hint = try await home.deviceHost.push(from: home.device)
        #expect(hint["id"]?.string == id && hint["title"] == "Tea" && hint["body"] == "is ready")
        #expect(hint["hint"] == true && hint["priority"] == "high" && hint["data"]?["deepLink"] == "app://tea")
        let stored = try await rows(of: home.device)
        #expect(stored.map { $0["desktop"]?.string } == [home.desktopID] && stored.first?["hint"] == true)

        // Neither a second copy nor another seal of it is another push.
        #expect(try await receive(payload, on: home.device)["duplicate"] == true)
        let again = try await seal(id, by: home.desktop, for: home.deviceID)
        #expect(again != payload)
        #expect(try await receive(again, on: home.device)["duplicate"] == true)

        try await reconnect(home)
        try await until("the session confirms it") { try await rows(of: home.device).first?["hint"] == nil }
        let notice = try Desktop.Notice(JSONObject(#"{"title":"Next"}"#))
        let notified = try await home.desktop.value(.notify(notice, 10_000))
        #expect(notified["deliveredCount"] == 1)
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "Next")
        #expect(try await rows(of: home.device).count == 2)
        #expect(try await home.device.value(.state)["unread"] == 2)
        #expect(try await home.onDevice("admitted") == 2)
        for copy in [payload, again] {
            #expect(try await receive(copy, on: home.device)["duplicate"] == true)
        }
        // The device has it: there is nothing to be sealed any more.
        try await until("the desktop knows") {
            let request = try Desktop.SealRequest(device: home.deviceID, id: id, [:])
            return await home.desktop.outcome(.sealPush(request)).error?.code == .notFound
        }
        await home.close()
    }

    @Test("a sealed push that comes behind the session's is a duplicate, also when it was deleted meanwhile")
    func late() async throws {
        let home = try await paired()
        let id = try await keepBack(home, ["title": "Tea"])
        let copies = [
            try await seal(id, by: home.desktop, for: home.deviceID),
            try await seal(id, by: home.desktop, for: home.deviceID),
        ]
        try await reconnect(home)
        #expect(try await home.deviceHost.push(from: home.device)["id"]?.string == id)
        #expect(try await receive(copies[0], on: home.device)["duplicate"] == true)
        let request = try Device.InboxRequest.delete(id)
        _ = await home.device.outcome(.ask(.change(request), of: nil, 10_000))
        try await until("it is deleted") { try await rows(of: home.device).isEmpty }
        // A later run knows neither of the push nor of its id.
        #expect(try await receive(copies[1], on: home.device)["duplicate"] == true)
        #expect(try await rows(of: home.device).isEmpty)
        await home.close()
    }

    @Test("what cannot be opened is a payload like any other, and never the desktop's")
    func unopened() async throws {
        let home = try await paired()
        let id = try await keepBack(home, ["title": "Tea"])
        let payload = try await seal(id, by: home.desktop, for: home.deviceID, #"{"service":"apns","alert":"Hello"}"#)
        #expect(payload["aps"]?["alert"]?["title"] == "Hello")
        let text = try #require(payload["bellwire"]?.string)
        var changed = payload
        changed["bellwire"] = .string(String(text.dropLast()) + (text.hasSuffix("A") ? "Q" : "A"))
        let got = try await receive(changed, on: home.device)
        #expect(got["kind"] == "push" && got["duplicate"] == false && got["id"]?.string != id)
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "Hello")
        #expect(try await rows(of: home.device).map { $0["desktop"]?.string } == ["push:fcm"])

        let garbage: [JSONValue] = [
            "", "x", .string(String(repeating: "A", count: 100_000)), .string(text + "=="), 1, [],
        ]
        for value in garbage {
            #expect(try await receive(["data": ["bellwire": value]], on: home.device)["kind"] == "silent")
            let alone = await home.device.outcome(.receive(service: "x", ["bellwire": value]))
            #expect(alone.error?.code == .undecodable)
        }
        #expect(try await home.onDevice("unopenedPushes") == 9)
        // Another device of the same desktop.
        let host = RecordingHost()
        let other = try AttackedHome.openDevice(home.url, ["name": "Other"], host)
        #expect(try await receive(payload, on: other)["kind"] == "push")
        #expect(try await host.push(from: other)["title"] == "Hello")
        await other.close()
        // The right one still opens.
        #expect(try await receive(payload, on: home.device)["id"]?.string == id)
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "Tea")
        await home.close()
    }

    @Test("an expired push is not shown; one that is too large is refused with its size, and uses no prekey")
    func limits() async throws {
        let home = try await paired()
        let expiresAt = EpochMilliseconds.now + 2_500
        let short = try await keepBack(
            home, ["title": "Soon over", "expiresAt": .integer(expiresAt), "answerWhen": "stored"])
        let payload = try await seal(short, by: home.desktop, for: home.deviceID)
        try await until("it is over") { EpochMilliseconds.now > expiresAt }
        let got = try await receive(payload, on: home.device)
        #expect(got == ["kind": "push", "id": .string(short), "duplicate": false, "expired": true])
        try await until("its prekey is used") { try await receive(payload, on: home.device)["duplicate"] == true }
        #expect(try await rows(of: home.device).isEmpty)

        let before = try await left(home.desktop, home.deviceID)
        let large = try await keepBack(
            home, ["title": "Large", "body": .string(String(repeating: "x", count: 2_815))])
        let request = try Desktop.SealRequest(device: home.deviceID, id: large, [:])
        let error = try #require(await home.desktop.outcome(.sealPush(request)).error)
        #expect(error.code == .limit && error.detail["limit"] == 2_815)
        #expect(error.detail["size"]?.integer ?? 0 > 2_815)
        #expect(try await left(home.desktop, home.deviceID) == before)
        for options in [#"{"x":1}"#, #"{"service":""}"#, #"{"alert":""}"#, #"{"service":5}"#, "[]", "{"] {
            #expect(throws: HostError.self) {
                try Desktop.SealRequest(device: home.deviceID, id: "n", JSONObject(parameter: "options_json", options))
            }
        }
        for (device, id, code) in [
            ("did:key:zNobody", large, HostError.Code.notFound), (home.deviceID, "none", .notFound),
        ] {
            let request = try Desktop.SealRequest(device: device, id: id, [:])
            #expect(await home.desktop.outcome(.sealPush(request)).error?.code == code)
        }
        await home.close()
    }

    @Test("when the prekeys are used up the last resort serves, for each push once; a session brings new ones")
    func lastResort() async throws {
        let home = try await paired()
        // The desktop's requests for more don't get through either.
        let id = try await keepBack(home, ["title": "Tea"])
        var copies: [JSONObject] = []
        for _ in 0..<34 { copies.append(try await seal(id, by: home.desktop, for: home.deviceID)) }
        #expect(try await left(home.desktop, home.deviceID) == 0)
        #expect(Set(copies.suffix(2).map { $0["data"]?["bellwire"]?.string?.prefix(16) }).count == 1)
        #expect(try await receive(copies[33], on: home.device)["duplicate"] == false)
        #expect(try await home.deviceHost.push(from: home.device)["hint"] == true)
        for copy in copies.suffix(2) + copies.prefix(2) {
            #expect(try await receive(copy, on: home.device)["duplicate"] == true)
        }
        let second = try await keepBack(home, ["title": "Two"])
        let other = try await seal(second, by: home.desktop, for: home.deviceID)
        #expect(try await receive(other, on: home.device)["duplicate"] == false)
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "Two")
        try await reconnect(home)
        try await until("new prekeys") { try await left(home.desktop, home.deviceID) == 32 }
        await home.close()
    }

    @Test("a desktop that runs low while the device is there gets new ones at once")
    func shortage() async throws {
        let home = try await paired()
        let (device, held) = (home.deviceID, Mailbox<HostileRelay.Letter>())
        // The push arrives, its acknowledgement doesn't yet: so prekeys are used up within the session.
        await home.relay.carries { letter in
            guard letter.from == device else { return [letter] }
            held.put(letter)
            return []
        }
        let notice = try Desktop.Notice(JSONObject(#"{"title":"Tea"}"#))
        let notified = try await home.desktop.value(.notify(notice, 10_000))
        let id = try #require(notified["notificationId"]?.string)
        for _ in 0..<17 { _ = try await seal(id, by: home.desktop, for: device) }
        // A statement is longer than everything else.
        let statement = try await held.take("a statement", #_sourceLocation) {
            $0.payload["payload"]?["box"]?.string?.utf8.count ?? 0 > 2_000
        }
        await home.relay.deliver(statement)
        try await until("new prekeys") { try await left(home.desktop, device) == 32 }
        await home.close()
    }

    @Test("a desktop that has lost the statement asks for another when it is to seal a push")
    func noneLeft() async throws {
        let home = try await paired()
        let (device, held) = (home.deviceID, Mailbox<HostileRelay.Letter>())
        await home.relay.carries { letter in
            guard letter.from == device else { return [letter] }
            held.put(letter)
            return []
        }
        let notice = try Desktop.Notice(JSONObject(#"{"title":"Tea"}"#))
        let notified = try await home.desktop.value(.notify(notice, 10_000))
        let id = try #require(notified["notificationId"]?.string)
        try home.desktop.core.store.database.run { (connection) throws(StoreError) in
            try DevicePrekeyTable(connection).forget(PeerID(device))
        }
        let request = try Desktop.SealRequest(device: device, id: id, [:])
        #expect(await home.desktop.outcome(.sealPush(request)).error?.detail["reason"] == "no_prekeys")
        // A statement is longer than everything else.
        let statement = try await held.take("a statement", #_sourceLocation) {
            $0.payload["payload"]?["box"]?.string?.utf8.count ?? 0 > 2_000
        }
        await home.relay.deliver(statement)
        try await until("prekeys") { try await left(home.desktop, device) == 32 }
        await home.close()
    }

    @Test("without a token of a push service, and without sessions, nothing is published")
    func unpublished() async throws {
        for hasToken in [false, true] {
            let home = try await AttackedHome()
            if hasToken {
                await home.relay.holdsHandshakes()
                try await token(home)
            }
            try await home.pair()
            if !hasToken {
                try await until("a session") {
                    await home.device.core.channel.sessions?.hasSession(with: PeerID(home.desktopID)) == true
                }
            }
            let id = try await keepBack(home, ["title": "Tea"])
            let request = try Desktop.SealRequest(device: home.deviceID, id: id, [:])
            let error = await home.desktop.outcome(.sealPush(request)).error
            #expect(error?.code == .unsupported && error?.detail["reason"] == "no_prekeys")
            if !hasToken {
                // A token that comes later publishes at once.
                await home.relay.carries { [$0] }
                try await token(home)
                try await until("prekeys") { try await left(home.desktop, home.deviceID) == 32 }
            }
            await home.close()
        }
    }

    @Test("with the last token taken back nothing is published, and nothing opens; a new token publishes again")
    func tokenTakenBack() async throws {
        let home = try await paired()
        let id = try await keepBack(home, ["title": "Tea"])
        let payload = try await seal(id, by: home.desktop, for: home.deviceID)
        _ = try await home.device.value(.takeBackToken(PushService("fcm")))
        #expect(try await receive(payload, on: home.device)["kind"] == "silent")
        try await until("the desktop has no prekeys of it") { try await left(home.desktop, home.deviceID) == 0 }
        try await reconnect(home)
        #expect(try await home.deviceHost.push(from: home.device)["hint"] == nil)
        let second = try await keepBack(home, ["title": "Two"])
        let request = try Desktop.SealRequest(device: home.deviceID, id: second, [:])
        #expect(await home.desktop.outcome(.sealPush(request)).error?.detail["reason"] == "no_prekeys")
        await home.relay.carries { [$0] }
        try await token(home)
        try await until("prekeys") { try await left(home.desktop, home.deviceID) == 32 }
        await home.close()
    }

    @Test("with the pairing both sides forget: what was sealed before opens no more, also after pairing anew")
    func unpaired() async throws {
        let home = try await paired()
        let id = try await keepBack(home, ["title": "Tea"])
        let payload = try await seal(id, by: home.desktop, for: home.deviceID)
        await home.relay.carries { [$0] }
        _ = try await home.device.value(.unpairAll)
        try await until("the desktop knows") {
            try await home.desktop.value(.devices).array?.isEmpty == true
        }
        #expect(try await left(home.desktop, home.deviceID) == 0)
        #expect(try await receive(payload, on: home.device)["kind"] == "silent")
        try await home.pair()
        try await until("prekeys") { try await left(home.desktop, home.deviceID) == 32 }
        #expect(try await receive(payload, on: home.device)["kind"] == "silent")
        await home.close()
    }

    @Test("a restored device publishes none that it has published before, and the next sealed push opens")
    func restoredDevice() async throws {
        let folder = NSTemporaryDirectory() + "bellwire-prekeys-\(UUID().uuidString)"
        defer { for path in [folder, folder + "-backup"] { try? FileManager.default.removeItem(atPath: path) } }
        let home = try await paired(device: ["state_dir": .string(folder)])
        func stock() async throws -> [PrekeyStock.Entry] {
            try home.desktop.core.store.database.run { (connection) throws(StoreError) in
                try DevicePrekeyTable(connection).stock(of: PeerID(home.deviceID), now: .now).entries
            }
        }
        let before = Set(try await stock().map { PrekeyID($0.key) })
        let id = try await keepBack(home, ["title": "Tea"])
        let payload = try await seal(id, by: home.desktop, for: home.deviceID)
        await home.device.close()
        try FileManager.default.copyItem(atPath: folder, toPath: folder + "-backup")
        let host = RecordingHost()
        let first = try AttackedHome.openDevice(home.url, ["state_dir": .string(folder)], host)
        #expect(try await receive(payload, on: first)["duplicate"] == false)
        #expect(try await host.push(from: first)["hint"] == true)
        #expect(try await receive(payload, on: first)["duplicate"] == true)
        await first.close()
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.copyItem(atPath: folder + "-backup", toPath: folder)

        let again = RecordingHost()
        let restored = try AttackedHome.openDevice(home.url, ["state_dir": .string(folder)], again)
        await home.relay.carries { [$0] }
        restored.perform(.start)
        try await until("other prekeys") {
            let entries = try await stock()
            return !entries.isEmpty && entries.allSatisfy { !before.contains(PrekeyID($0.key)) }
        }
        // The session has brought it, so a replay is nothing.
        #expect(try await again.push(from: restored)["hint"] == nil)
        #expect(try await receive(payload, on: restored)["duplicate"] == true)
        let next = try await keepBack(home, ["title": "Next"])
        let sealed = try await seal(next, by: home.desktop, for: home.deviceID)
        #expect(try await receive(sealed, on: restored)["duplicate"] == false)
        #expect(try await again.push(from: restored)["title"] == "Next")
        await restored.close()
        await home.desktop.close()
        await home.relay.close()
    }

    @Test("a desktop put back from a backup seals to prekeys that its device still has after the next session")
    func restoredDesktop() async throws {
        let folder = NSTemporaryDirectory() + "bellwire-prekeys-\(UUID().uuidString)"
        defer { for path in [folder, folder + "-backup"] { try? FileManager.default.removeItem(atPath: path) } }
        let home = try await paired(desktop: ["state_dir": .string(folder)])
        await home.desktop.close()
        try FileManager.default.copyItem(atPath: folder, toPath: folder + "-backup")
        func open(_ host: RecordingHost) async throws -> Desktop {
            let options: JSONObject = ["state_dir": .string(folder), "name": "Desk", "relay_url": .string(home.url)]
            let desktop = try Desktop.open(JSONValue.object(options).serialized(), host.channel).0
            _ = try await desktop.value(.start)
            _ = try await host.event(.connectionChanged) { $0["online"] == true }
            return desktop
        }
        let first = try await open(RecordingHost())
        let id = try await keepBack(home, ["title": "Tea"], by: first)
        let payload = try await seal(id, by: first, for: home.deviceID)
        #expect(try await receive(payload, on: home.device)["duplicate"] == false)
        #expect(try await home.deviceHost.push(from: home.device)["hint"] == true)
        await first.close()
        try FileManager.default.removeItem(atPath: folder)
        try FileManager.default.copyItem(atPath: folder + "-backup", toPath: folder)

        let desktop = try await open(RecordingHost())
        // The first prekey is unused here, and used up at the device: it opens nothing, and the push itself comes later.
        let second = try await keepBack(home, ["title": "Two"], by: desktop)
        let lost = try await seal(second, by: desktop, for: home.deviceID)
        #expect(try await receive(lost, on: home.device)["duplicate"] == true)
        try await reconnect(home)
        var titles: [String] = []
        while !titles.contains("Two") {
            titles.append(try await home.deviceHost.push(from: home.device)["title"]?.string ?? "")
        }
        try await until("the statement") { try await left(desktop, home.deviceID) == 31 }
        let third = try await keepBack(home, ["title": "Three"], by: desktop)
        let sealed = try await seal(third, by: desktop, for: home.deviceID)
        #expect(try await receive(sealed, on: home.device)["duplicate"] == false)
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "Three")
        await home.device.close()
        await desktop.close()
        await home.relay.close()
    }
}
