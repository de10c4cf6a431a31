@testable import Desktop
import Foundation
import Hosting
import JSON
import Notifications
import Sealing
import Store
import TestSupport
import Testing
import Transport
import Wire

/// The table of all devices' tokens.
@Suite struct DeviceTokensTests {
    private func store() throws -> Database {
        try Database.open(path: ":memory:", migrations: DeviceTokens.migrations).database
    }

    private func say(
        _ service: String, _ hex: String?, of device: PeerID, _ epoch: Int64, _ seq: Int64, _ store: Database
    )
        throws
    {
        let statement = PushTokenStatement(
            try #require(PushService(service)), try hex.map { try #require(PushToken(hex: $0)) })
        let mark = SealMark(peer: device, epoch: epoch, seq: seq)
        try store.run { (connection) throws(StoreError) in
            try DeviceTokens(connection).apply(statement, mark, deviceID: "bw-" + device.text, now: 5)
        }
    }

    private func all(_ store: Database) throws -> [String] {
        try store.run { (connection) throws(StoreError) in try DeviceTokens(connection).all() }.map {
            "\($0["device"]?.string ?? "") \($0["service"]?.string ?? "") \($0["token"]?.string ?? "")"
        }
    }

    @Test("one for each device and service: the newest replaces, and is listed with what the device calls itself")
    func replaced() throws {
        let store = try store()
        defer { store.close() }
        try say("fcm", "01", of: "a", 1, 1, store)
        try say("fcm", "02", of: "a", 1, 2, store)
        try say("apns", "03", of: "a", 1, 3, store)
        try say("fcm", "04", of: "b", 1, 1, store)
        #expect(try all(store) == ["a apns 03", "a fcm 02", "b fcm 04"])
        let rows = try store.run { (connection) throws(StoreError) in try DeviceTokens(connection).all() }
        #expect(
            rows.first?.serialized()
                == #"{"device":"a","deviceId":"bw-a","service":"apns","token":"03","receivedAt":5}"#)
    }

    @Test("a token that moves to another device leaves the first; the same bytes of another service stay")
    func moves() throws {
        let store = try store()
        defer { store.close() }
        try say("fcm", "01", of: "a", 1, 1, store)
        try say("apns", "01", of: "a", 1, 2, store)
        try say("fcm", "01", of: "b", 1, 1, store)
        #expect(try all(store) == ["a apns 01", "b fcm 01"])
        // What the first said before, and comes late, does not take it back; what it says now does.
        try say("fcm", "01", of: "a", 1, 1, store)
        #expect(try all(store) == ["a apns 01", "b fcm 01"])
        try say("fcm", "01", of: "a", 1, 3, store)
        #expect(try all(store) == ["a apns 01", "a fcm 01"])
    }

    @Test("an older frame that comes later changes nothing: neither a token nor what was taken back")
    func late() throws {
        let store = try store()
        defer { store.close() }
        try say("fcm", "02", of: "a", 6, 1, store)
        try say("fcm", "01", of: "a", 5, 900, store)
        #expect(try all(store) == ["a fcm 02"])
        try say("fcm", nil, of: "a", 6, 5, store)
        try say("fcm", "03", of: "a", 6, 4, store)
        #expect(try all(store) == [])
        try say("fcm", "04", of: "a", 7, 1, store)
        #expect(try all(store) == ["a fcm 04"])
        try say("fcm", nil, of: "a", 6, 6, store)
        #expect(try all(store) == ["a fcm 04"])
    }

    @Test("a device has 16 services at most: the one that it spoke of longest ago gives way, and no other device's")
    func limit() throws {
        let store = try store()
        defer { store.close() }
        try say("s1", "ff", of: "b", 1, 1, store)
        for number in 1...20 { try say("s\(number)", "0\(number % 10)", of: "a", 1, Int64(number), store) }
        let tokens = try all(store)
        #expect(tokens.filter { $0.hasPrefix("a ") }.count == DeviceTokens.serviceLimit)
        #expect(!tokens.contains { $0.hasPrefix("a s1 ") || $0.hasPrefix("a s4 ") })
        #expect(tokens.contains("b s1 ff"))
    }

    @Test("a device that is forgotten has none")
    func forgotten() throws {
        let store = try store()
        defer { store.close() }
        try say("fcm", "01", of: "a", 1, 1, store)
        try say("fcm", "02", of: "b", 1, 1, store)
        try store.run { (connection) throws(StoreError) in try DeviceTokens(connection).forget("a") }
        #expect(try all(store) == ["b fcm 02"])
    }
}

/// What devices say of tokens and receipts, and others in their name.
@Suite(.timeLimit(.minutes(1)))
struct TokenStatementTests {
    private func tokens(_ desktop: Desktop) async throws -> [JSONValue] {
        try await desktop.value(.tokens).array ?? []
    }

    private func token(_ hex: String, _ device: String = "linux-1") -> JSONValue {
        ["service": "fcm", "token": .string(hex), "deviceId": .string(device)]
    }

    @Test(
        "a sealed device's token is kept; malformed ones, and those of another device, are counted and have no effect")
    func hostile() async throws {
        let bench = try await Bench()
        let (device, id) = try await bench.device()
        try await device.say("bellwire:token", token("0102"), to: id)
        for hostile in [
            token("0103", "linux-2"), token("xyz"), token(String(repeating: "00", count: 5_000)), token(""),
            ["service": "../..", "token": "00", "deviceId": "linux-1"], [:],
            ["service": 1, "token": [], "deviceId": [:]],
        ] as [JSONValue] {
            try await device.say("bellwire:token", hostile, to: id)
        }
        try await device.say("bellwire:token.remove", ["service": "fcm", "deviceId": "linux-2"], to: id)
        try await device.say("bellwire:receipt", ["id": "", "presented": true, "at": 1], to: id)
        try await device.say("bellwire:receipt", ["id": "n", "presented": "yes", "at": 1], to: id)
        try await device.say("bellwire:receipt", ["id": "n-9", "presented": false, "at": 77], to: id)
        let event = try await bench.host.event(.notificationPresented)
        #expect(event["id"] == "n-9" && event["presented"] == false && event["at"] == 77)
        #expect(event["device"]?.string == device.id)
        let kept = try await tokens(bench.desktop)
        #expect(kept.count == 1 && kept.first?["token"] == "0102" && kept.first?["device"]?.string == device.id)
        #expect(try await bench.counter("malformedPayloads") == 10)
        await bench.end()
    }

    @Test("in plain text in a sealed device's name, played back, and from a phone without a seal: nothing")
    func plain() async throws {
        let bench = try await Bench()
        let (device, id) = try await bench.device()
        let first = try await device.say("bellwire:token", token("01"), to: id)
        try await device.say("bellwire:token", token("02"), to: id)
        await device.send(first, to: id)
        await device.sendPlain(["type": "bellwire:token", "payload": token("03")], to: id)
        let phone = try await bench.phone("did:key:zPhone", platform: "ios")
        await phone.peer.message(id, ["type": "bellwire:token", "payload": token("04", "ios-1")])
        await phone.peer.message(
            id, ["type": "bellwire:receipt", "payload": ["id": "n-1", "presented": true, "at": 1]])
        try await device.say("bellwire:receipt", ["id": "n-2", "presented": true, "at": 1], to: id)
        #expect(try await bench.host.event(.notificationPresented)["id"] == "n-2")
        #expect(try await tokens(bench.desktop).map { $0["token"] } == ["02"])
        await bench.end()
    }

    @Test("receipts count as commands do: a flood of them is no flood of events")
    func flood() async throws {
        let bench = try await Bench(["max_commands_per_second": 1])
        let (device, id) = try await bench.device()
        for number in 0..<200 {
            try await device.say(
                "bellwire:receipt", ["id": .string("n-\(number)"), "presented": true, "at": 1], to: id)
        }
        try await device.seal(["type": "last:one"], to: id)
        _ = try await bench.host.event(.command) { $0["type"] == "last:one" }
        #expect(try await bench.counter("limitedCommands") ?? 0 > 150)
        await bench.end()
    }
}
