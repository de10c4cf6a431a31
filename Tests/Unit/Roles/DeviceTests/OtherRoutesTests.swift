import Delivery
import Hosting
import JSON
import Notifications
import Peering
import Signalling
import TestSupport
import Testing
import Transport
import Wire

@testable import Desktop
@testable import Device

/// A device and a desktop over routes of another kind than relays, which only Peering knows of.
@Suite(.timeLimit(.minutes(1))) struct OtherRoutesTests {
    private struct Bench {
        let device: Device
        let desktop: Desktop
        let host = RecordingHost()
        let desktopHost = RecordingHost()
        let desktopID: PeerID

        /// Opens and pairs both. The address is in the desktop's code.
        init(at address: String, links: RelayLinkMaker, kinds: [RouteKind]) async throws {
            let options = #"{"state_dir":":memory:","name":"Phone","follow_system":false}"#
            let desktopOptions =
                #"{"state_dir":":memory:","name":"Desk","follow_system":false,"relay_url":"\#(address)"}"#
            let device = try Device.open(options, host.channel, links: links, kinds: kinds).0
            let desktop = try Desktop.open(desktopOptions, desktopHost.channel, links: links, kinds: kinds).0
            (self.device, self.desktop) = (device, desktop)
            let offer = try await desktop.value(.offer(10_000))
            let paired = try await device.value(.scan(offer["payload"]?.string ?? "", 10_000))
            #expect(paired["secure"] == true)
            desktopID = PeerID(try #require(paired["id"]?.string))
            // The last of what a device asks by itself.
            _ = try await host.event(.settingsChanged)
        }

        /// A push, from the desktop's program to the device's, and its acknowledgement.
        func push(_ title: String, _ location: SourceLocation = #_sourceLocation) async throws -> String {
            let notice = try Desktop.Notice(["title": .string(title)])
            let sent = try await desktop.value(.notify(notice, 10_000))
            let push = try await host.push(from: device, location)
            #expect(push["title"] == .string(title), sourceLocation: location)
            try await until("the acknowledgement", sourceLocation: location) { [desktop] in
                await desktop.core.isAcknowledged
            }
            return sent["notificationId"]?.string ?? ""
        }

        /// A command of the device's, which the desktop carries out.
        func markAsRead(_ id: String) async throws {
            let command = try Device.Command("notification.markAsRead", ["notificationId": .string(id)])
            _ = try await device.value(.ask(.invoke(command), of: nil, 10_000))
            #expect(try await desktopHost.event(.notificationRead)["ids"] == [.string(id)])
        }

        func bestRoute() async -> RouteID? { await device.core.routes.bestRoute(of: desktopID) }

        func close() async {
            await device.close()
            await desktop.close()
        }
    }

    /// Whoever asks for a relay fails the test.
    private static let noRelays = RelayLinkMaker { (request, _) throws(TransportError) in
        Issue.record("a relay is asked for: \(request.url)")
        throw TransportError(.invalidURL, "there are no relays")
    }

    @Test("without any relay: pairing, a push and its acknowledgement, a command, and unpairing")
    func noRelay() async throws {
        let address = "ws://meeting.test"
        let routes = TestRoutes()
        let bench = try await Bench(at: address, links: Self.noRelays, kinds: [routes.meetings(address)])
        #expect(await bench.bestRoute() == RouteID(address))
        let id = try await bench.push("One")
        try await bench.markAsRead(id)
        let state = try await bench.device.value(.state)
        let connection = state["connection"]?.array?.first
        #expect(connection?["online"] == true)
        #expect(
            connection?["routes"] == [["url": .string(address), "state": "online", "forgeable": false]],
            "nobody can send in another's name where there is no relay")
        // Away and back: what was sent meanwhile comes.
        await routes.cut(true)
        _ = try await bench.host.event(.connectionChanged) { $0["online"] == false }
        let notice = try Desktop.Notice(["title": "Two"])
        _ = try await bench.desktop.value(.notify(notice, 10_000))
        await routes.cut(false)
        #expect(try await bench.host.push(from: bench.device)["title"] == "Two")
        _ = try await bench.device.value(.unpair(bench.desktopID.text))
        _ = try await bench.desktopHost.event(.peersChanged) { $0["devices"] == [] }
        await bench.close()
    }

    @Test("the route of the higher rank is taken while it is up, and the relay otherwise")
    func ranks() async throws {
        let (relay, routes) = (await BenchRelay(), TestRoutes())
        let url = await relay.url
        let bench = try await Bench(at: url, links: BenchRelay.links, kinds: [routes.direct()])
        let direct = RouteID("direct:\(bench.desktopID.text)")
        try await until("the direct route") { await bench.bestRoute() == direct }
        // Nothing but the direct route delivers anything now.
        await relay.memory.loseMessages(true)
        let id = try await bench.push("Direct")
        try await bench.markAsRead(id)
        #expect(await routes.carried > 0)
        await relay.memory.loseMessages(false)

        await routes.cut(true)
        try await until("the relay's route") { await bench.bestRoute() == RouteID(url) }
        let before = await routes.carried
        try await bench.markAsRead(try await bench.push("Relayed"))
        #expect(await routes.carried == before)

        await routes.cut(false)
        try await until("the direct route again") { await bench.bestRoute() == direct }
        await relay.memory.loseMessages(true)
        _ = try await bench.push("Direct again")
        await bench.close()
        await relay.stop()
    }
}

extension DesktopSwitchboard {
    /// Whether its devices have acknowledged every push.
    fileprivate var isAcknowledged: Bool {
        devices.ids.allSatisfy { id in
            devices.session(id).map { $0.outbox.position.acknowledged == $0.outbox.position.last } ?? false
        }
    }
}

extension MemoryRelay {
    fileprivate func loseMessages(_ loses: Bool) {
        filter = { loses && $0.type == "message" ? .lose : .pass }
    }
}
