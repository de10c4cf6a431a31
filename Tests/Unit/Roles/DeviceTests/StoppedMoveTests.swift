import Foundation
import Hosting
import Identity
import JSON
import Pairing
import Peering
import Sealing
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop
@testable import Device

/// Moves to another key that something stops (WireRekey, "Overview").
@Suite(.timeLimit(.minutes(2)))
struct StoppedMoveTests {
    @Test("a peer that can't store the move has the old key again, and is told until it has stored the new one")
    func notStored() async throws {
        let pair = try await MovingPair()
        let old = try await pair.deviceID()
        let new = try await pair.readyDeviceMove()
        let database = await store(of: pair.desktop.core)
        try database.run { (connection) throws(StoreError) in
            try connection.executeScript(
                "CREATE TRIGGER refuse BEFORE INSERT ON revoked_key BEGIN SELECT RAISE(ABORT, 'refused'); END")
        }
        try await pair.reopenDevice()
        _ = try await pair.desktopHost.event(.problem) { $0["code"] == "store_failed" }
        let stored = try database.run { (connection) throws(StoreError) in
            try PairedDevices(connection).all().map(\.did.text)
        }
        #expect(stored == [old])
        // Each announcement that is repeated is another try, during which the list has the new key.
        try await until("the desktop has the old key again") { try await pair.devices() == [old] }
        #expect(try await pair.deviceState()["state"] == "switched")
        try database.run { (connection) throws(StoreError) in try connection.executeScript("DROP TRIGGER refuse") }
        try await pair.reopenDevice()
        try await until("the desktop has the new key") { try await pair.devices() == [new] }
        try await pair.push("under the new key")
        try await until("the move is complete") { try await pair.deviceState()["state"] == "none" }
        await pair.close()
    }

    @Test("a peer that can refuse no more keys moves nobody, and its host hears what to do")
    func fullList() async throws {
        let pair = try await MovingPair()
        let old = try await pair.deviceID()
        let keys = try (0..<RevokedKeys.limit).map { _ in try SigningKey.generate().did }
        // Not one by one: those that come while a transaction runs share the next one, and so its disk sync.
        let desktop = pair.desktop
        try await withThrowingTaskGroup(of: Void.self) { group in
            for key in keys { group.addTask { _ = try await desktop.value(.key(.revoke(key))) } }
            try await group.waitForAll()
        }
        let new = try await pair.readyDeviceMove()
        try await pair.reopenDevice()
        let problem = try await pair.desktopHost.event(.problem) { $0["code"] == "store_failed" }
        #expect(problem["message"]?.string?.contains("readmit some") == true)
        #expect(try await pair.devices() == [old])
        _ = try await pair.desktop.value(.key(.readmit(keys[0])))
        try await pair.reopenDevice()
        try await until("the desktop has the new key") { try await pair.devices() == [new] }
        try await pair.push("under the new key")
        await pair.close()
    }

    @Test("a push that is made while a move fails comes under the old key, in order")
    func pushWhileFailing() async throws {
        let pair = try await MovingPair()
        let core = pair.desktop.core
        let (old, owner) = (PeerID(try await pair.deviceID()), PeerID(try await pair.desktopID()))
        // Nobody has approved it, so the store refuses.
        let move = PeerMove(
            old: old, new: PeerID(try SigningKey.generate().did), receiver: owner, timestamp: 1, state: .approved)
        let notices = try ["between", "also between"].map { try Desktop.Notice(JSONObject(#"{"title":"\#($0)"}"#)) }
        EventLoop.post {
            core.carryOut(.switched(move))
            for notice in notices { core.execute { $0.notify(notice, timeout: 10_000) { _ in } } }
        }
        _ = try await pair.desktopHost.event(.problem) { $0["code"] == "store_failed" }
        let first = try await pair.deviceHost.push(from: pair.device)
        #expect(first["title"] == "between")
        let second = try await pair.deviceHost.push(from: pair.device)
        #expect(second["title"] == "also between")
        try await pair.push("afterwards")
        // Nothing keeps the device from moving there.
        let database = await store(of: core)
        let rows = try database.run { (connection) throws(StoreError) in
            try connection.integer("SELECT count(*) FROM peer WHERE id = ?", [.text(move.new.text)])
        }
        #expect(rows == 0)
        await pair.close()
    }

    @Test("the announcements end with the confirmation alone: when it is lost, they and it are repeated")
    func unconfirmed() async throws {
        let pair = try await MovingPair()
        let desktop = try await pair.desktopID()
        let new = try await pair.readyDeviceMove()
        // All that the desktop says in sessions of the new key is lost.
        await pair.record.drop { $0.from == desktop && $0.to == new && $0.payload["type"] == "bellwire:s2" }
        try await pair.reopenDevice()
        try await until("the desktop has the new key") { try await pair.devices() == [new] }
        #expect(try await pair.deviceState()["state"] == "switched")
        await pair.record.drop { _ in false }
        try await pair.reopenDevice()
        try await until("the move is complete") { try await pair.deviceState()["state"] == "none" }
        try await pair.push("second")
        await pair.close()
    }

    @Test("a next key that was lost ends the move; the old key works on")
    func lostNextKey() async throws {
        let pair = try await MovingPair()
        let old = try await pair.deviceID()
        let new = try await pair.readyDeviceMove()
        await pair.device.close()
        try FileManager.default.removeItem(atPath: pair.folder + "/device/identity.next.key")
        try await pair.reopenDevice()
        #expect(try await pair.deviceID() == old)
        #expect(try await pair.deviceState()["state"] == "none")
        try await pair.push("second")
        // A new attempt has another key, and is asked about.
        let other = try await pair.rekeyDevice()
        #expect(other != new)
        try await pair.approveDevice(other)
        _ = try await pair.deviceHost.event(.rekeyChanged) { $0["state"] == "ready" }
        try await pair.reopenDevice()
        try await until("the desktop has the newer key") { try await pair.devices() == [other] }
        try await pair.push("third")
        await pair.close()
    }
}
