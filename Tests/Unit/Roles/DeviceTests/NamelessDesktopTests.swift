import Foundation
import Hosting
import JSON
import Pairing
import Peering
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Device

/// Desktops that a device paired with by six typed digits: the frame that completes it has no name.
@Suite(.timeLimit(.minutes(1)))
struct NamelessDesktopTests {
    @Test(
        "its name is taken from its next frame that has one, and never from a later one",
        arguments: [
            #"{"type":"pairing:confirmation","pairingCode":"004217","pcPeerId":"desktop-1","deviceInfo":{"name":"Office PC","platform":"win32"},"timestamp":1735689600000}"#,
            #"{"type":"chainlesschain:device:info","payload":{"deviceInfo":{"name":"Office PC","platform":"win32"}}}"#,
        ])
    func named(frame: String) async throws {
        let relay = await BenchRelay()
        let url = await relay.url
        let host = RecordingHost()
        let options: JSONValue = [
            "state_dir": ":memory:", "name": "Phone", "relay_url": .string(url), "legacy": "all",
            "follow_system": false,
        ]
        let device = try Device.open(options.serialized(), host.channel, links: BenchRelay.links).0
        let alias = try await RawPeer.register("pairing-code:004217", at: url)
        let desktop = try await RawPeer.register("desktop-1", at: url)
        async let paired = device.value(.type("004217", 10_000))
        let ack = try await alias.payload("pair-ack")
        let did = try #require(ack["mobileDid"]?.string)
        await desktop.send(
            text:
                #"{"type":"message","to":"\#(did)","payload":{"type":"chainlesschain:ice:config","payload":{"pcPeerId":"desktop-1","iceServers":[],"iceExpiry":0}}}"#
        )
        #expect(try await paired["name"] == "")
        let other = frame.replacingOccurrences(of: "Office PC", with: "Another")
        await desktop.send(text: #"{"type":"message","to":"\#(did)","payload":\#(frame)}"#)
        let named = try await host.event(.peersChanged) { $0["desktops"]?.array?.first?["name"] != "" }
        #expect(named["desktops"]?.array?.first?["name"] == "Office PC")
        #expect(named["desktops"]?.array?.first?["platform"] == "win32")
        await desktop.send(text: #"{"type":"message","to":"\#(did)","payload":\#(other)}"#)
        await desktop.message(did, event("after"))
        _ = try await host.push(from: device)
        let list = try await device.value(.desktops)
        #expect(list.array?.first?["name"] == "Office PC")
        await device.close()
        await relay.stop()
    }

    @Test(
        "its relay knows its name: from its registration, or as it registers again",
        arguments: [true, false])
    func namedByRelay(asks: Bool) async throws {
        let relay = try await NodeRelay(.standAlone)
        let url = await relay.url
        let host = RecordingHost()
        let options: JSONValue = [
            "state_dir": ":memory:", "name": "Phone", "relay_url": .string(url), "legacy": "all",
            "follow_system": false,
        ]
        let device = try Device.open(options.serialized(), host.channel).0
        let info: JSONValue = ["name": "Office PC", "platform": "win32"]
        let alias = try await RawPeer.register("pairing-code:004217", at: url)
        let desktop = try await RawPeer.register("desktop-1", at: url, info: asks ? info : nil)
        async let paired = device.value(.type("004217", 10_000))
        let did = try #require(try await alias.payload("pair-ack")["mobileDid"]?.string)
        await desktop.send(
            text:
                #"{"type":"message","to":"\#(did)","payload":{"type":"chainlesschain:ice:config","payload":{"pcPeerId":"desktop-1","iceServers":[],"iceExpiry":0}}}"#
        )
        #expect(try await paired["name"] == "")
        if !asks { _ = try await RawPeer.register("desktop-1", at: url, info: info) }
        let named = try await host.event(.peersChanged) { $0["desktops"]?.array?.first?["name"] != "" }
        #expect(named["desktops"]?.array?.first?["name"] == "Office PC")
        await device.close()
        await relay.close()
    }

    @Test("a confirmed pairing stays confirmed, whatever was read from the store before")
    func confirmed() async throws {
        let bench = try await Bench()
        let (_, did) = try await bench.pairedDesktop()
        _ = did
        let core = bench.device.core
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            EventLoop.post {
                guard var desktop = core.desktops.peers.first else { return continuation.resume() }
                desktop.isConfirmed = false
                core.desktops.add(desktop)
                let unconfirmed = desktop
                // An update that was read earlier comes in after the confirmation.
                core.context.store { (connection) throws(StoreError) in
                    _ = try PairedDesktops(connection).upsert(unconfirmed)
                } then: { _ in
                }
                core.desktops.update(desktop.id, ICEConfig(pcPeerID: nil, iceServersJSON: "[]", iceExpiry: nil), nil)
                core.desktops.confirmed(desktop.id)
                core.context.store { (_) throws(StoreError) in
                } then: { _ in
                    continuation.resume()
                }
            }
        }
        let list = try await bench.device.value(.desktops)
        #expect(list.array?.first?["unconfirmed"] == nil)
        await bench.device.close()
        await bench.relay.stop()
    }
}
