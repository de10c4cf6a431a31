import Calendar
@testable import History
import JSON
@testable import Notifications
import Store
import Testing
import Wire

/// Whom a `deviceId` names, where devices say what they like of themselves.
@Suite struct NamedDeviceTests {
    private func peers(_ id: String, among devices: [MethodHandler.PairedDevice]) throws -> [PeerID]? {
        let database = try Database.open(path: ":memory:", migrations: History.migrations).database
        let context = MethodHandler.Context(now: 100, newID: "n", devices: devices, clock: WallClock { _ in 720 })
        let handled = try database.run { connection throws(StoreError) in
            try MethodHandler(caller: .host, context: context, on: connection).handle(
                "notification.sendToMobile", ["title": "T", "body": "", "deviceId": .string(id)])
        }
        for case .push(_, let peers) in handled.effects { return peers }
        return nil
    }

    @Test("a device that says another one's id for itself, or its DID, gets nothing that is meant for that one")
    func impostors() throws {
        let impostor = MethodHandler.PairedDevice(peer: "did:key:evil", deviceID: "did:key:a")
        let twin = MethodHandler.PairedDevice(peer: "did:key:twin", deviceID: "phone-a")
        let own = MethodHandler.PairedDevice(peer: "did:key:a", deviceID: "phone-a")
        for devices in [[impostor, twin, own], [own, twin, impostor]] {
            #expect(try peers("did:key:a", among: devices) == ["did:key:a"])
            #expect(try peers("did:key:twin", among: devices) == ["did:key:twin"])
            #expect(try peers("phone-a", among: devices) == nil)
        }
        #expect(try peers("phone-a", among: [impostor, own]) == ["did:key:a"])
    }
}
