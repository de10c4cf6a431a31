import Foundation
import Hosting
import JSON
import TestSupport
import Testing
import Transport

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
}
