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

@EventLoop
func store(of core: DesktopSwitchboard) -> Database { core.store.database }

/// A stolen key is refused in every way, at a relay that says anything in its name (WireRekey, "Revocation").
@Suite(.timeLimit(.minutes(2)))
struct RevocationTests {
    /// Everything that the relay was given in each direction, to be said again.
    @EventLoop
    private final class Record {
        private(set) var letters: [HostileRelay.Letter] = []
        let added = Mailbox<HostileRelay.Letter>()

        func carry(_ letter: HostileRelay.Letter) -> [HostileRelay.Letter] {
            letters.append(letter)
            added.put(letter)
            return [letter]
        }
    }

    private func begin(_ home: AttackedHome) async throws -> Record {
        let record = Record()
        await home.relay.carries { record.carry($0) }
        try await home.pair()
        _ = try await home.push("one")
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "one")
        return record
    }

    /// Plain and sealed frames that a stolen key's owner could make, besides the recorded ones.
    private func forgeries(from thief: String, to victim: String) -> [HostileRelay.Letter] {
        let bodies: [JSONValue] = [
            ["type": "bellwire:unpair", "payload": [:]],
            ["type": "bellwire:hs", "payload": ["v": 2, "step": 0]],
            ["type": "bellwire:rekey", "payload": ["v": 1]],
            ["type": "bellwire:pake", "payload": ["v": 1, "step": 1]],
            ["type": "pair-ack", "pairingCode": "123456", "mobileDid": .string(thief), "timestamp": 1],
            ["type": "pairing:confirmation", "pairingCode": "123456", "pcPeerId": .string(thief), "timestamp": 1],
            ["type": "chainlesschain:command:request", "payload": ["id": "1", "method": "notification.getSettings"]],
            ["type": "chainlesschain:event", "event": "notification.received", "title": "forged"],
        ]
        return bodies.flatMap { body in
            [false, true].map { HostileRelay.Letter(from: thief, to: victim, payload: body, isSealed: $0) }
        }
    }

    @Test("a revoked device: nothing of it is accepted, answered or reminded, also after a restart")
    func device() async throws {
        let folder = NSTemporaryDirectory() + "bellwire-revoked-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let home = try await AttackedHome(desktop: ["state_dir": .string(folder)])
        let record = try await begin(home)
        let (thief, victim) = (home.deviceID, home.desktopID)
        _ = try await home.desktop.value(.key(.revoke(thief)))
        #expect(try await home.desktop.value(.devices).array?.isEmpty == true)
        let list = try await home.desktop.value(.key(.revoked)).array
        #expect(list?.count == 1)
        #expect(list?.first?["id"]?.string == thief)
        #expect(list?.first?["name"] == "Phone")
        #expect(list?.first?["movedTo"] == nil)

        func attack(_ desktop: Desktop) async throws {
            let letters = await record.letters.filter { $0.from == thief } + forgeries(from: thief, to: victim)
            _ = await home.relay.keptLetters()
            await home.relay.carries { $0.to == thief ? [] : [$0] }
            let before = try await desktop.value(.state)["counters"]?["revoked"]?.integer ?? 0
            for letter in letters {
                await home.relay.deliver(letter)
                await home.relay.deliver(letter, storedAt: 1)
            }
            try await until("all of it is counted") {
                let counters = try await desktop.value(.state)["counters"]
                return counters?["revoked"]?.integer ?? 0 >= before + Int64(2 * letters.count)
            }
            #expect(try await desktop.value(.devices).array?.isEmpty == true)
            // No answer and no reminder: its holder learns nothing.
            #expect(await home.relay.keptLetters().filter { $0.from == victim && $0.to == thief }.isEmpty)
        }
        home.device.perform(.stop)
        try await attack(home.desktop)
        await home.desktop.close()

        let host = RecordingHost()
        let options: JSONObject = ["state_dir": .string(folder), "name": "Desk", "relay_url": .string(home.url)]
        let again = try Desktop.open(JSONValue.object(options).serialized(), host.channel).0
        _ = try await again.value(.start)
        _ = try await host.event(.connectionChanged) { $0["online"] == true }
        try await attack(again)

        // A pairing that knows the code's secret is refused all the same; one with a new key works.
        await home.relay.carries { [$0] }
        let offer = try await again.value(.offer(10_000))["payload"]?.string ?? ""
        guard case .failure(let failure) = await home.device.outcome(.scan(offer, 3_000)) else {
            Issue.record("a revoked key was paired")
            return
        }
        #expect(failure.code == .pairing)
        #expect(try await again.value(.devices).array?.isEmpty == true)
        let fresh = try AttackedHome.openDevice(home.url, [:], RecordingHost())
        let next = try await again.value(.offer(10_000))["payload"]?.string ?? ""
        _ = try await fresh.value(.scan(next, 10_000))
        #expect(try await again.value(.devices).array?.count == 1)
        await fresh.close()
        await again.close()
        await home.device.close()
        await home.relay.close()
    }

    @Test("a revoked desktop: its pushes are not taken, its code is refused by name, and a scan of ours leads nowhere")
    func desktop() async throws {
        let folder = NSTemporaryDirectory() + "bellwire-revoked-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let home = try await AttackedHome(device: ["state_dir": .string(folder)])
        let record = try await begin(home)
        _ = try await home.device.value(.key(.revoke(home.desktopID)))
        #expect(try await home.device.value(.desktops).array?.isEmpty == true)
        #expect(try await home.device.value(.key(.revoked)).array?.map { $0["name"] } == ["Desk"])
        await home.device.close()

        let host = RecordingHost()
        let device = try AttackedHome.openDevice(home.url, ["state_dir": .string(folder)], host)
        let offer = try await home.offer().serialized()
        guard case .failure(let refusal) = await device.outcome(.scan(offer, 10_000)) else {
            Issue.record("a revoked desktop's code was taken")
            return
        }
        #expect(refusal.code == .denied && refusal.detail["reason"] == "revoked")

        // Its holder scans the device's own code, and has its secret.
        let shown = try await device.value(.show(10_000))["payload"]?.string ?? ""
        _ = try await home.desktop.value(.scan(shown))
        _ = try await home.desktop.value(.confirm(.scan, accept: true))
        let letters =
            await record.letters.filter { $0.from == home.desktopID }
            + forgeries(from: home.desktopID, to: home.deviceID)
        for letter in letters { await home.relay.deliver(letter) }
        try await until("all of it is counted") {
            let counters = try await device.value(.state)["counters"]
            return counters?["revoked"]?.integer ?? 0 > Int64(letters.count)
        }
        #expect(try await device.value(.desktops).array?.isEmpty == true)
        #expect(try await device.value(.state)["unread"] == 1)
        await device.close()
        await home.desktop.close()
        await home.relay.close()
    }

    @Test("a key that is removed from the list can be paired again; the device hears that it is not paired")
    func readmitted() async throws {
        let home = try await AttackedHome()
        _ = try await begin(home)
        home.device.perform(.stop)
        _ = try await home.desktop.value(.key(.revoke(home.deviceID)))
        guard case .failure(let unknown) = await home.desktop.outcome(.key(.readmit("did:key:zNobody"))) else {
            Issue.record("an unknown key was readmitted")
            return
        }
        #expect(unknown.code == .notFound)
        home.device.perform(.start)
        // What it sent before its end is counted as well, and the relay keeps nothing for those who are away.
        try await until("the device is back") {
            let routes = try await home.device.value(.state)["connection"]?.array?.first?["routes"]?.array
            return routes?.contains { $0["state"] == "online" } == true
        }
        try await until("the device speaks") { try await home.onDesktop("revoked") ?? 0 > 0 }
        _ = try await home.desktop.value(.key(.readmit(home.deviceID)))
        #expect(try await home.desktop.value(.key(.revoked)).array?.isEmpty == true)
        try await until("the device hears that it is not paired") {
            try await home.device.value(.desktops).array?.isEmpty == true
        }
        try await home.pair()
        #expect(try await home.desktop.value(.devices).array?.count == 1)
        await home.close()
    }

    @Test("an unpaired device that is revoked is not reminded any more")
    func unpairedBefore() async throws {
        let home = try await AttackedHome()
        _ = try await begin(home)
        home.device.perform(.stop)
        _ = try await home.desktop.value(.unpair(home.deviceID))
        _ = try await home.desktop.value(.key(.revoke(home.deviceID)))
        _ = await home.relay.keptLetters()
        home.device.perform(.start)
        try await until("the device's frames are counted") { try await home.onDesktop("revoked") ?? 0 > 0 }
        #expect(await home.relay.keptLetters().filter { $0.to == home.deviceID }.isEmpty)
        await home.close()
    }

    @Test("a revoked device types the right digits in vain: at the alias, too, nothing of it counts")
    func typedCode() async throws {
        let home = try await AttackedHome()
        _ = try await begin(home)
        _ = try await home.desktop.value(.key(.revoke(home.deviceID)))
        _ = try await home.device.value(.unpairAll)
        let code = try await home.desktop.value(.code(10_000))["code"]?.string ?? ""
        let before = try await home.onDesktop("revoked") ?? 0
        guard case .failure(let error) = await home.device.outcome(.type(code, 3_000)) else {
            Issue.record("a revoked key was paired")
            return
        }
        #expect(error.code == .pairing)
        #expect(try await home.onDesktop("revoked") ?? 0 > before)
        try await home.expectNobodyIsPaired()
        await home.close()
    }

    @Test("a full list refuses a revocation on both sides, and nothing of the pairing is lost")
    func full() async throws {
        let home = try await AttackedHome()
        _ = try await begin(home)
        let fill: @Sendable (Connection) throws(StoreError) -> Void = { (connection) throws(StoreError) in
            for number in 0..<RevokedKeys.limit {
                _ = try RevokedKeys(connection).add(RevokedKey(id: PeerID("did:key:z\(number)"), name: "", at: 1))
            }
        }
        try await store(of: home.desktop.core).run(fill)
        try home.device.core.context.database.run(fill)
        let seal = try await home.desktop.value(.devices).array?.first?["seal"]
        // A change that waits for the desktop.
        home.device.perform(.stop)
        let change = try Device.Command("notification.markAllAsRead", [:])
        let queued = try await home.device.value(.ask(.invoke(change), of: nil, 10_000))
        #expect(queued["queued"] == true)
        guard case .failure(let ofDesktop) = await home.desktop.outcome(.key(.revoke(home.deviceID))),
            case .failure(let ofDevice) = await home.device.outcome(.key(.revoke(home.desktopID)))
        else {
            Issue.record("a full list took another key")
            return
        }
        #expect(ofDesktop.code == .limit && ofDevice.code == .limit)
        #expect(try await home.device.value(.queue).array?.count == 1)
        #expect(try await home.desktop.value(.devices).array?.first?["seal"] == seal)
        home.device.perform(.start)
        _ = try await home.push("two")
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "two")
        await home.close()
    }

    @Test("only a paired peer's key or a did:key can be revoked, never one's own")
    func refused() async throws {
        let home = try await AttackedHome()
        for id in ["", "nobody", "did:key:z", home.desktopID, String(repeating: "x", count: 100_000)] {
            guard case .failure(let error) = await home.desktop.outcome(.key(.revoke(id))) else {
                Issue.record("revoked: \(id.prefix(20))")
                continue
            }
            #expect(error.code == .invalid && error.detail["field"] == "device")
        }
        guard case .failure(let own) = await home.device.outcome(.key(.revoke(home.deviceID))) else {
            Issue.record("revoked its own key")
            return
        }
        #expect(own.code == .invalid)
        // A key that was never paired, before it is used.
        _ = try await home.device.value(.key(.revoke(home.desktopID)))
        _ = try await home.device.value(.key(.revoke(home.desktopID)))
        #expect(try await home.device.value(.key(.revoked)).array?.count == 1)
        await home.close()
    }
}
