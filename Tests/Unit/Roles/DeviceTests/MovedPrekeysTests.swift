import Hosting
import JSON
import Sealing
import Signalling
import Store
import TestSupport
import Testing
import Wire

@testable import Desktop
@testable import Device

/// What becomes of prekeys when a side takes another key (WireRekey, "Switch").
@Suite(.timeLimit(.minutes(2)))
struct MovedPrekeysTests {
    /// How many single-use prekeys of the device's the desktop has.
    private func left(_ pair: MovingPair) async throws -> Int {
        let device = PeerID(try await pair.deviceID())
        return try pair.desktop.core.store.database.run { (connection) throws(StoreError) in
            try DevicePrekeyTable(connection).stock(of: device, now: .now).left
        }
    }

    private func withPrekeys() async throws -> MovingPair {
        let pair = try await MovingPair()
        let (service, token) = (try #require(PushService("fcm")), try #require(PushToken(hex: "00ff")))
        _ = try await pair.device.value(.give(service, token))
        try await until("the desktop has prekeys") { try await left(pair) == 32 }
        return pair
    }

    /// Seals a push that no relay has carried.
    private func seal(_ title: String, _ pair: MovingPair) async throws -> (id: String, payload: JSONObject) {
        let device = try await pair.deviceID()
        await pair.record.drop { $0.to == device }
        let notice = try Desktop.Notice(JSONObject(#"{"title":"\#(title)"}"#))
        let notified = try await pair.desktop.value(.notify(notice, 10_000))
        let id = try #require(notified["notificationId"]?.string)
        let request = try Desktop.SealRequest(device: device, id: id, [:])
        return (id, try #require(try await pair.desktop.value(.sealPush(request)).object))
    }

    private func receive(_ payload: JSONObject, _ pair: MovingPair) async throws -> JSONValue {
        try await pair.device.value(.receive(service: "fcm", payload))
    }

    /// A push that was sealed before the move opens no more, and comes in the session; one that is sealed now opens.
    private func goesOn(_ pair: MovingPair, _ before: (id: String, payload: JSONObject)) async throws {
        await pair.record.drop { _ in false }
        #expect(try await pair.deviceHost.push(from: pair.device)["id"]?.string == before.id)
        // A data message that nothing authenticates: for the program to handle, and nobody's push.
        #expect(try await receive(before.payload, pair)["kind"] == "silent")
        try await until("the desktop has prekeys again") { try await left(pair) == 32 }
        let after = try await seal("after", pair)
        #expect(try await receive(after.payload, pair)["duplicate"] == false)
        let hint = try await pair.deviceHost.push(from: pair.device)
        #expect(hint["id"]?.string == after.id && hint["hint"] == true)
    }

    @Test("a device moves: what was sealed for its old key opens no more, and the new key gets prekeys of its own")
    func device() async throws {
        let pair = try await withPrekeys()
        let new = try await pair.readyDeviceMove()
        let before = try await seal("before", pair)
        try await pair.reopenDevice()
        #expect(try await pair.deviceID() == new)
        try await goesOn(pair, before)
        await pair.close()
    }

    @Test("a desktop moves: what its old key sealed opens no more, and the new key gets prekeys of its own")
    func desktop() async throws {
        let pair = try await withPrekeys()
        let new = try await pair.readyDesktopMove()
        let before = try await seal("before", pair)
        try await pair.reopenDesktop()
        #expect(try await pair.desktopID() == new)
        try await goesOn(pair, before)
        await pair.close()
    }
}
