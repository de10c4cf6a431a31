@testable import Desktop
import Foundation
import Hosting
import Identity
import JSON
import Peering
import Sealing
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Device

/// A device and a desktop of ours at one relay that is not.
struct AttackedHome {
    let relay: HostileRelay
    let url: String
    let deviceHost = RecordingHost()
    let desktopHost = RecordingHost()
    let device: Device
    let desktop: Desktop
    let deviceID: String
    let desktopID: String

    init(device deviceOptions: JSONObject = [:], desktop desktopOptions: JSONObject = [:]) async throws {
        let relay = try await HostileRelay()
        let url = await relay.url
        let device = try AttackedHome.openDevice(url, deviceOptions, deviceHost)
        var options: JSONObject = ["state_dir": ":memory:", "name": "Desk", "relay_url": .string(url)]
        options.merge(desktopOptions)
        let desktop = try Desktop.open(JSONValue.object(options).serialized(), desktopHost.channel).0
        let ofDevice = try await device.value(.state)
        let ofDesktop = try await desktop.value(.state)
        deviceID = try #require(ofDevice["id"]?.string)
        desktopID = try #require(ofDesktop["id"]?.string)
        (self.relay, self.url, self.device, self.desktop) = (relay, url, device, desktop)
        _ = try await desktop.value(.start)
        _ = try await desktopHost.event(.connectionChanged) { $0["online"] == true }
    }

    static func openDevice(_ url: String, _ more: JSONObject, _ host: RecordingHost) throws -> Device {
        try openDevice(url, more, host.channel)
    }

    static func openDevice(_ url: String, _ more: JSONObject, _ channel: HostChannel) throws -> Device {
        var options: JSONObject = [
            "state_dir": ":memory:", "name": "Phone", "relay_url": .string(url), "follow_system": false,
        ]
        options.merge(more)
        return try Device.open(JSONValue.object(options).serialized(), channel).0
    }

    func offer() async throws -> JSONValue {
        let offer = try await desktop.value(.offer(10_000))
        return try JSONValue(parsing: try #require(offer["payload"]?.string))
    }

    func scan(_ offer: JSONValue, timeout: CallTimeout = 10_000) async -> Result<JSONValue, HostError> {
        await device.outcome(.scan(offer.serialized(), timeout))
    }

    func pair() async throws {
        _ = try await scan(try await offer()).get()
        _ = try await desktopHost.event(.pairingChanged) { $0["state"] == "paired" }
    }

    /// Pairs as two peers that knew no sessions: there is no preshared key, and version 1 counts until the first session.
    func pairOld() async throws {
        try await pair()
        try await makeOld(device.core.channel, device.core.context.database, of: PeerID(desktopID))
        try await makeOld(desktop.core.channel, desktop.core.store.database, of: PeerID(deviceID))
    }

    @EventLoop
    private func makeOld(_ channel: PeerChannel, _ database: Database, of peer: PeerID) async throws {
        channel.keep(peer, since: nil, presharedKey: nil)
        try database.run { (connection) throws(StoreError) in
            try SealPeers(connection).begin(peer, presharedKey: nil)
        }
    }

    /// The device registers anew, which says hello.
    func register() async throws {
        device.perform(.stop)
        _ = try await device.value(.state)
        device.perform(.start)
        let core = device.core
        try await until("the device is online") { await core.routes.isAnyOnline }
    }

    /// The device's user accepts the desktop that can prove nothing.
    func acceptDesktop() async throws {
        _ = try await deviceHost.event(.pairingChanged) { $0["state"] == "confirming" }
        _ = try await device.value(.confirm(.show, accept: true))
    }

    /// A push of the desktop's, as the relay was given it.
    func push(_ title: String) async throws -> HostileRelay.Letter {
        let notice = try Desktop.Notice(JSONObject(#"{"title":"\#(title)"}"#))
        async let notified = desktop.value(.notify(notice, 10_000))
        let letter = try await relay.letter { $0.to == deviceID }
        _ = try await notified
        return letter
    }

    func unread() async throws -> JSONValue? {
        let command = try Device.Command("notification.getUnreadCount", [:])
        return try await device.value(.ask(.invoke(command), of: nil, 10_000))["count"]
    }

    /// How many of those frames the device has counted; it has taken all that came before.
    func onDevice(_ counter: String) async throws -> Int64? {
        try await device.value(.state)["counters"]?[counter]?.integer
    }

    func onDesktop(_ counter: String) async throws -> Int64? {
        try await desktop.value(.state)["counters"]?[counter]?.integer
    }

    func expectNobodyIsPaired(_ location: SourceLocation = #_sourceLocation) async throws {
        #expect(try await device.value(.desktops).array?.isEmpty == true, sourceLocation: location)
        #expect(try await desktop.value(.devices).array?.isEmpty == true, sourceLocation: location)
    }

    func close() async {
        await device.close()
        await desktop.close()
        await relay.close()
    }
}

/// Whoever runs the relay has a key of its own, and knows the digits of a code, but has not seen its secret.
@EventLoop
final class Swapper {
    let id: String
    private let sealer: Sealer
    private let secret = PairingSecret.random()

    init() throws {
        try Identity.start()
        let key = try SigningKey.generate()
        id = key.did
        sealer = Sealer(key: key, epoch: 1)
    }

    func letter(_ body: JSONObject, to peer: String, from: String? = nil) -> [HostileRelay.Letter] {
        guard let payload = try? sealer.seal(body, to: PeerID(peer), now: 1) else { return [] }
        return [HostileRelay.Letter(from: from ?? id, to: peer, payload: .object(payload))]
    }

    func ack(_ code: String, to desktop: String, from device: String? = nil) -> [HostileRelay.Letter] {
        let mac = PairingProof.mac(
            secret, kind: .ack, deviceID: device ?? id, desktopID: desktop, code: code, timestamp: 1)
        let body: JSONObject = [
            "type": "pair-ack", "pairingCode": .string(code), "mobileDid": .string(device ?? id), "timestamp": 1,
            "deviceInfo": ["deviceId": "x", "name": "Phone", "platform": "linux"], "bw": ["mac": .string(mac)],
        ]
        return letter(body, to: desktop, from: device)
    }

    func confirmation(_ code: String, to device: String, from desktop: String? = nil) -> [HostileRelay.Letter] {
        let mac = PairingProof.mac(
            secret, kind: .confirmation, deviceID: device, desktopID: desktop ?? id, code: code, timestamp: 1)
        let body: JSONObject = [
            "type": "pairing:confirmation", "pairingCode": .string(code), "pcPeerId": .string(desktop ?? id),
            "deviceInfo": ["name": "Desk", "platform": "linux"], "timestamp": 1, "bw": ["mac": .string(mac)],
        ]
        return letter(body, to: device, from: desktop)
    }
}
