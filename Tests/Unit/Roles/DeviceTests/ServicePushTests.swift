import Desktop
import Foundation
import Hosting
import JSON
import TestSupport
import Testing
import Wire

@testable import Device

/// What a push service, or whoever has its token, can make a device believe (WirePushServices, "Whose push it is").
@Suite(.timeLimit(.minutes(2)))
struct ServicePushTests {
    private func receive(_ payload: JSONObject, on device: Device) async throws -> JSONValue {
        try await device.value(.receive(service: "fcm", payload))
    }

    private func rows(of device: Device) async throws -> [JSONValue] {
        let query = try Device.InboxQuery([:])
        return try await device.value(.loadInbox(query))["notifications"]?.array ?? []
    }

    private func payload(_ id: String, desktop: String, title: String, collapseKey: String? = nil) -> JSONObject {
        [
            "data": [
                "notificationId": .string(id), "desktop": .string(desktop), "title": .string(title),
                "collapseKey": collapseKey.map(JSONValue.string),
            ]
        ]
    }

    @Test(
        "a payload that names a sealed desktop is not its push: the genuine one with the same id arrives and is shown")
    func genuineArrives() async throws {
        let home = try await AttackedHome()
        try await home.pair()
        let (device, desktop) = (home.deviceID, home.desktopID)
        // The push service is faster than the relay, and has seen the id.
        await home.relay.carries { $0.to == device ? [] : [$0] }
        let notice = try Desktop.Notice(JSONObject(#"{"title":"Genuine","body":"","collapseKey":"k"}"#))
        async let notified = home.desktop.value(.notify(notice, 10_000))
        let genuine = try await home.relay.letter { $0.to == device }
        let query = try Desktop.HistoryQuery([:])
        let history = try await home.desktop.value(.history(query))
        let id = try #require(history["notifications"]?.array?.first?["id"]?.string)
        let got = try await receive(payload(id, desktop: desktop, title: "Forged"), on: home.device)
        #expect(got["kind"] == "push" && got["duplicate"] == false)
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "Forged")
        await home.relay.carries { [$0] }
        await home.relay.deliver(genuine)
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "Genuine")
        _ = try await notified

        // Nor does one take its place by its collapse key, or come as the same push.
        let second = try await receive(payload(id, desktop: desktop, title: "Again"), on: home.device)
        #expect(second["duplicate"] == true, "of the payload before")
        _ = try await receive(
            payload("n-2", desktop: desktop, title: "Instead", collapseKey: "k"), on: home.device)
        #expect(try await home.deviceHost.push(from: home.device)["title"] == "Instead")
        let rows = try await rows(of: home.device)
        let sources = Dictionary(uniqueKeysWithValues: rows.map { ($0["title"]?.string ?? "", $0["desktop"]?.string) })
        #expect(sources == ["Forged": "push:fcm", "Genuine": desktop, "Instead": "push:fcm"])
        await home.close()
    }

    @Test("silent work is no word of the named desktop either")
    func silent() async throws {
        let home = try await AttackedHome()
        try await home.pair()
        let payload: JSONObject = [
            "data": ["notificationId": "s-1", "desktop": .string(home.desktopID), "sync": "all"]
        ]
        #expect(try await receive(payload, on: home.device)["kind"] == "silent")
        let source = try #require(home.device.sources.first { $0.name == .notificationSilent })
        let event = try #require(try source.take(limit: 1).first).event
        #expect(event.desktop == "push:fcm")
        await home.close()
    }

    @Test("a desktop that was paired without sealing proves nothing: what names it is its push, and comes once")
    func plain() async throws {
        let home = try await AttackedHome()
        let shown = try await home.device.value(.show(10_000))
        await home.relay.deliver(
            .init(
                from: "pc-1", to: home.deviceID,
                payload: [
                    "type": "pairing:confirmation", "pairingCode": shown["code"], "pcPeerId": "pc-1",
                    "deviceInfo": ["name": "PC", "platform": "win32"], "timestamp": 1,
                ], isSealed: false))
        try await home.acceptDesktop()
        _ = try await home.deviceHost.event(.pairingChanged) { $0["state"] == "completed" }
        let got = try await receive(payload("n-1", desktop: "pc-1", title: "Tea"), on: home.device)
        #expect(got["duplicate"] == false)
        let tea = try await home.deviceHost.push(from: home.device)
        #expect(tea["title"] == "Tea")
        #expect(try await receive(payload("n-1", desktop: "pc-1", title: "Tea"), on: home.device)["duplicate"] == true)
        #expect(try await rows(of: home.device).map { $0["desktop"] } == ["pc-1"])
        // Whoever is not paired at all.
        _ = try await receive(payload("n-1", desktop: "pc-2", title: "Else"), on: home.device)
        #expect(try await rows(of: home.device).contains { $0["desktop"] == "push:fcm" })
        await home.close()
    }
}
