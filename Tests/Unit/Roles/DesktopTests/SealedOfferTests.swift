import Foundation
import Hosting
import Identity
import JSON
import Peering
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop

extension Bench {
    /// A device that is paired sealed, and the id of the desktop.
    func device(_ epoch: Int64 = 1) async throws -> (SealedPeer, desktop: String) {
        let device = try await SealedPeer.register(at: url, epoch: epoch)
        let offer = try await offer()
        await device.acknowledge(offer)
        _ = try await device.body("pairing:confirmation")
        _ = try await host.event(.pairingChanged) { $0["state"] == "paired" }
        return (device, try #require(offer["pcPeerId"]?.string))
    }

    var devices: [JSONValue] {
        get async throws { try await desktop.value(.devices).array ?? [] }
    }
}

/// The device scans what a desktop shows, sealed and plain.
@Suite(.timeLimit(.minutes(1)))
struct SealedOfferTests {
    @Test("a device that has seen the code pairs at once, and all that follows is sealed")
    func sealed() async throws {
        let bench = try await Bench()
        let offer = try await bench.offer()
        let code = try #require(offer["code"]?.string)
        let desktop = try #require(offer["pcPeerId"]?.string)
        #expect(offer["bw"]?["v"] == 1 && offer["bw"]?["confirm"] == nil)
        let device = try await SealedPeer.register(at: bench.url)
        await device.acknowledge(offer)
        let confirmation = try await device.body("pairing:confirmation")
        #expect(await device.proves(confirmation, code: code, desktop: desktop))
        #expect(confirmation["pcPeerId"] == .string(desktop))
        let paired = try await bench.host.event(.pairingChanged) { $0["state"] == "paired" }
        #expect(paired["device"]?["secure"] == true)
        let changed = try await bench.host.event(.peersChanged)
        #expect(changed["devices"]?.array?.count == 1)

        let record = try #require(try await bench.devices.first)
        #expect(record["id"] == .string(device.id) && record["secure"] == true)
        // It answers without `rev`: its digits could be imitated, so there are none.
        #expect(record["sas"] == nil && record["sasMissing"] == "older_peer")

        try await device.command("notification.getUnreadCount", id: "a", to: desktop)
        #expect(try await device.answer("a")["result"]?["count"] == 0)
        async let notified = bench.notify(#"{"title":"Tea","data":{"n":1}}"#)
        let event = try await device.body("chainlesschain:event")["payload"]
        #expect(event?["title"] == "Tea" && event?["data"] == ["n": 1])
        #expect(try await notified.get()["deliveredCount"] == 1)

        // The confirmation may have been lost: the same ack, sealed anew, gets it again.
        await device.acknowledge(offer)
        _ = try await device.body("pairing:confirmation")
        #expect(await device.allPlain.isEmpty)
        await bench.end()
    }

    @Test("who does not know the secret is dropped and counted, and the code stays open")
    func wrongProof() async throws {
        let bench = try await Bench()
        let offer = try await bench.offer()
        let guesser = try await SealedPeer.register(at: bench.url)
        await guesser.acknowledge(offer, secret: .random())
        let device = try await SealedPeer.register(at: bench.url)
        await device.acknowledge(offer)
        _ = try await device.body("pairing:confirmation")
        #expect(try await bench.counter("droppedAcks") == 1)
        #expect(try await bench.devices.map { $0["id"] } == [.string(device.id)])
        #expect(await guesser.allBodies.isEmpty)
        #expect(await guesser.allPlain.isEmpty)
        await bench.end()
    }

    @Test("with confirm a device that has proved itself waits for the user as well; no is told to it, sealed")
    func confirm() async throws {
        let bench = try await Bench(["confirm": true])
        #expect(await bench.desktop.outcome(.confirm(nil, accept: true)).error?.code == .notFound)
        let offer = try await bench.offer()
        #expect(offer["bw"]?["confirm"] == true)
        let declined = try await SealedPeer.register(at: bench.url)
        await declined.acknowledge(offer)
        let asked = try await bench.host.event(.pairingChanged) { $0["state"] == "acked" }
        #expect(asked["confirm"] == true && asked["device"]?["name"] == "My phone")
        _ = try await bench.desktop.value(.confirm(nil, accept: false))
        _ = try await declined.body("pairing:reject")
        #expect(try await bench.devices.isEmpty)
        let accepted = try await SealedPeer.register(at: bench.url)
        await accepted.acknowledge(try await bench.offer())
        _ = try await bench.host.event(.pairingChanged) { $0["state"] == "acked" }
        _ = try await bench.desktop.value(.confirm(.offer, accept: true))
        _ = try await accepted.body("pairing:confirmation")
        #expect(await accepted.allPlain.isEmpty)
        await bench.end()
    }

    @Test("a phone that cannot prove itself always waits for the user, who sees its name")
    func plain() async throws {
        let bench = try await Bench()
        let declined = try await bench.ack(try await bench.offer(), iOS, platform: "ios")
        let asked = try await bench.host.event(.pairingChanged) { $0["state"] == "acked" }
        #expect(asked["confirm"] == true && asked["device"]?["name"] == "My phone" && asked["expiresAt"] != nil)
        #expect(try await bench.state["offer"]?["state"] == "acked")
        _ = try await bench.desktop.value(.confirm(nil, accept: false))
        _ = try await declined.peer.payload("pairing:reject")
        #expect(try await bench.state["offer"]?["state"] == "displaying")
        let phone = try await bench.ack(try await bench.offer(), android, platform: "android")
        _ = try await bench.host.event(.pairingChanged) { $0["state"] == "acked" }
        _ = try await bench.desktop.value(.confirm(.offer, accept: true))
        _ = try await phone.peer.payload("chainlesschain:ice:config")
        #expect(try await bench.devices.map { $0["id"] } == [.string(android)])
        #expect(try await bench.devices.first?["secure"] == false)
        await bench.end()
    }

    @Test("a phone that was declined does not use up the code: who has seen it pairs with the same one")
    func declinedIsNoEnd() async throws {
        let bench = try await Bench()
        let offer = try await bench.offer()
        let declined = try await bench.ack(offer, iOS, platform: "ios")
        _ = try await bench.host.event(.pairingChanged) { $0["state"] == "acked" }
        _ = try await bench.desktop.value(.confirm(nil, accept: false))
        _ = try await declined.peer.payload("pairing:reject")
        _ = try await bench.host.event(.pairingChanged) { $0["flow"] == "offer" && $0["state"] == "displaying" }
        let device = try await SealedPeer.register(at: bench.url)
        await device.acknowledge(offer)
        _ = try await device.body("pairing:confirmation")
        #expect(try await bench.devices.map { $0["id"] } == [.string(device.id)])
        await bench.end()
    }

    @Test("without legacy pairing a plain ack is nothing")
    func noLegacy() async throws {
        let bench = try await Bench(["legacy": "none"])
        let phone = try await bench.ack(try await bench.offer(), iOS, platform: "ios")
        try await phone.peer.settle()
        let device = try await SealedPeer.register(at: bench.url)
        await device.acknowledge(try await bench.offer())
        _ = try await device.body("pairing:confirmation")
        #expect(try await bench.devices.map { $0["id"] } == [.string(device.id)])
        #expect(try await bench.counter("droppedAcks") == 1)
        await bench.end()
    }

    @Test("a device that was paired in plain text becomes a sealed one, and never the other way")
    func upgrade() async throws {
        let bench = try await Bench()
        let device = try await SealedPeer.register(at: bench.url)
        let first = try await bench.offer()
        let desktop = try #require(first["pcPeerId"]?.string)
        let code = try #require(first["code"]?.string)
        await device.sendPlain(device.ack(code, of: desktop, secret: nil, name: "Before"), to: desktop)
        _ = try await bench.host.event(.pairingChanged) { $0["state"] == "acked" }
        _ = try await bench.desktop.value(.confirm(nil, accept: true))
        _ = try await device.plain("chainlesschain:ice:config")
        #expect(try await bench.devices.first?["secure"] == false)
        await device.acknowledge(try await bench.offer())
        _ = try await device.body("pairing:confirmation")
        #expect(try await bench.devices.map { $0["secure"] } == [true])

        // Plaintext in its name: an ack that knows the code, and a command.
        let record = try await bench.devices.first
        let third = try await bench.offer()
        let again = try #require(third["code"]?.string)
        await device.sendPlain(device.ack(again, of: desktop, secret: nil, name: "Evil"), to: desktop)
        await device.sendPlain(
            device.request("notification.send", ["title": "Evil", "body": ""], id: "evil"), to: desktop)
        await device.sendPlain(["type": "bellwire:unpair", "payload": [:]], to: desktop)
        try await device.command("notification.getHistory", id: "b", to: desktop)
        #expect(try await device.answer("b")["result"]?["total"] == 0)
        #expect(try await bench.devices.map { $0["name"] } == ["My phone"])
        #expect(try await bench.devices.first?["pairedAt"] == record?["pairedAt"])
        #expect(try await bench.counter("plainOfSecure") == 3)
        #expect(await bench.desktop.outcome(.confirm(nil, accept: true)).error?.code == .notFound)
        #expect(await device.allPlain.isEmpty)
        await bench.end()
    }

    @Test("a new offer waits until the device that has taken the one before has its confirmation")
    func offerWhileStoring() async throws {
        let bench = try await Bench()
        let first = try await bench.offer()
        let gate = DispatchSemaphore(value: 0)
        bench.desktop.core.store.database.submit { _ in
            gate.wait()
        } then: { _ in
        }
        let device = try await SealedPeer.register(at: bench.url)
        await device.acknowledge(first)
        _ = try await bench.host.event(.pairingChanged) { $0["state"] == "acked" }
        async let second = bench.desktop.value(.offer(10_000))
        try await until("the second offer waits") { await bench.desktop.core.pairing.isAwaited(.offer) }
        gate.signal()
        _ = try await device.body("pairing:confirmation")
        #expect(try await second["payload"]?.string?.isEmpty == false)
        #expect(try await bench.devices.count == 1)
        await bench.end()
    }
}
