import Identity
import JSON
import Pairing
import Sealing
import Signalling
import Store
import TestSupport
import Testing
import Transport
import Wire

@testable import Hosting
@testable import Peering

/// The three ways to pair, both sides, over a relay in memory.
@Suite(.timeLimit(.minutes(1))) struct PairingCoordinatorTests {
    private let url = "ws://relay.test"

    init() throws { try EventLoop.start() }

    @EventLoop
    private func bench() async throws -> (relay: MemoryRelay, device: TinyDevice, desktop: TinyDesktop) {
        let relays = MemoryRelays()
        let relay = relays.relay(url)
        let (device, desktop) = (try tinyDevice(at: relays), try tinyDesktop(at: relays))
        device.routes.start()
        desktop.routes.start(standing: [url])
        let online = url
        _ = try await desktop.events.take("the relay", #_sourceLocation) {
            $0 == .linkChanged(RouteID(online), .online)
        }
        return (relay, device, desktop)
    }

    /// Both know each other, sealed, by the same short string, and hear each other.
    @EventLoop
    private func expectPaired(
        _ device: TinyDevice, _ desktop: TinyDesktop, _ location: SourceLocation = #_sourceLocation
    ) async throws {
        _ = try await desktop.reports.take("the pairing", location) { $0["state"] == "paired" }
        _ = try await device.reports.take("the pairing", location) {
            $0["state"] == "success" || $0["state"] == "completed"
        }
        let known = try #require(desktop.book.peer(device.id), sourceLocation: location)
        let paired = try #require(device.book.peer(desktop.id), sourceLocation: location)
        #expect(known.isSecure && paired.isSecure && known.shortString == paired.shortString, sourceLocation: location)
        #expect(known.shortString != nil && !device.pairing.isActive, sourceLocation: location)
        let heard = device.book[desktop.id] ?? 0
        let link = try #require(desktop.routes.bestLink(to: device.id), sourceLocation: location)
        #expect(
            desktop.channel.send(["type": "x"], to: device.id, sealed: true, over: link) == .written,
            sourceLocation: location)
        _ = try await device.events.take("a word", location) { [id = desktop.id] event in
            if case .message(let message, _) = event { message.from == id } else { false }
        }
        #expect((device.book[desktop.id] ?? 0) >= heard, sourceLocation: location)
        #expect(
            device.routes.isReachable(desktop.id) && desktop.routes.isReachable(device.id), sourceLocation: location)
        #expect(device.channel.counters == .init() && desktop.channel.counters == .init(), sourceLocation: location)
    }

    @EventLoop
    private func offer(_ desktop: TinyDesktop) -> String {
        let offer = DesktopPairingOffer(
            code: desktop.pairing.newCode(for: .offer), pcPeerID: desktop.id,
            deviceInfo: desktop.identity("Desk").deviceInfo, timestamp: .now, signalingURL: nil, relayURL: url,
            seal: PairingSeal(secret: PairingSecret.random().base64url, confirm: false))
        desktop.pairing.change(DesktopOfferStateMachine.self) { $0.show(offer) }
        return offer.serialized()
    }

    @EventLoop
    private func scan(_ text: String, _ device: TinyDevice, timeout: UInt64 = 10_000) async -> Mailbox<String> {
        let told = Mailbox<String>()
        device.pairing.wait(for: .scan, timeout) { outcome in
            let end =
                switch outcome {
                case .success: "ok"
                case .failure(let error): error.detail["reason"]?.string ?? error.code.name
                }
            EventLoop.post { told.put(end) }
        }
        device.pairing.change(DeviceScanStateMachine.self) {
            $0.scan(text, identity: device.identity("Phone"), now: .now)
        }
        return told
    }

    @Test("the desktop's code, scanned")
    @EventLoop func offerAndScan() async throws {
        let (_, device, desktop) = try await bench()
        let told = await scan(offer(desktop), device)
        #expect(try await told.next() == "ok")
        try await expectPaired(device, desktop)
        #expect(device.routes.opened == [RouteID(url)], "the link is the desktop's now")
        device.close()
        desktop.close()
        #expect(device.routes.opened.isEmpty)
    }

    @Test("the device's code, scanned and confirmed by a person")
    @EventLoop func showAndScan() async throws {
        let (_, device, desktop) = try await bench()
        let code = device.pairing.newCode(for: .show)
        let route = PairingRoute(.relay, url: url)
        device.pairing.change(DeviceShowStateMachine.self) {
            $0.show(
                code, secret: .random(), random: .random(), identity: device.identity("Phone"), over: route)
        }
        let shown = try await device.reports.take("the code", #_sourceLocation) { $0["state"] == "displaying" }
        let text = try #require(shown["payload"]?.string)
        desktop.pairing.change(DesktopScanStateMachine.self) {
            $0.scan(text, identity: desktop.identity("Desk"), now: .now)
        }
        _ = try await desktop.reports.take("the question", #_sourceLocation) { $0["state"] == "confirming" }
        let answered = Mailbox<Bool>()
        desktop.pairing.answer(nil, accept: true) { outcome in
            let isTaken = if case .success = outcome { true } else { false }
            EventLoop.post { answered.put(isTaken) }
        }
        #expect(try await answered.next())
        try await expectPaired(device, desktop)
        device.close()
        desktop.close()
    }

    @Test("a typed code")
    @EventLoop func typed() async throws {
        let (_, device, desktop) = try await bench()
        let nameplate = desktop.pairing.newCode(for: .code)
        let password = PairingCode("123456") ?? nameplate
        desktop.pairing.change(DesktopTypedCodeStateMachine.self) {
            $0.show(nameplate: nameplate, password: password, identity: desktop.identity("Desk"))
        }
        let shown = try await desktop.reports.take("the code", #_sourceLocation) { $0["state"] == "displaying" }
        let text = try #require(shown["code"]?.string)
        let route = PairingRoute(.relay, url: url)
        var generator = SecureRandomNumberGenerator()
        device.pairing.change(DeviceTypedCodeStateMachine.self) {
            $0.submit(text, identity: device.identity("Phone"), over: route, using: &generator)
        }
        try await expectPaired(device, desktop)
        device.close()
        desktop.close()
    }

    @Test("a desktop that was unpaired pairs again; a scan of nothing that answers ends with its time")
    @EventLoop func again() async throws {
        let (relay, device, desktop) = try await bench()
        #expect(try await scan(offer(desktop), device).next() == "ok")
        try await expectPaired(device, desktop)
        device.forget(desktop.id)
        desktop.forget(device.id)
        #expect(device.routes.opened.isEmpty)
        #expect(try await scan(offer(desktop), device).next() == "ok")
        try await expectPaired(device, desktop)

        relay.filter = { _ in .lose }
        let told = await scan(offer(desktop), device, timeout: 50)
        #expect(try await told.next() == "timeout")
        #expect(!device.pairing.isActive && device.pairing.isAwaited(.scan) == false)
        device.close()
        desktop.close()
    }

    @Test("frames that come while a pairing is being stored reach the peer's session after it")
    @EventLoop func faster() async throws {
        let (relay, device, desktop) = try await bench()
        // Whatever the desktop confirms with comes three times; two of them are copies.
        relay.filter = { [id = device.id] frame in
            frame.to == id && frame.type == "message" ? .replace([frame, frame, frame]) : .pass
        }
        #expect(try await scan(offer(desktop), device).next() == "ok")
        _ = try await desktop.reports.take("the pairing", #_sourceLocation) { $0["state"] == "paired" }
        try await device.events.settle(device, desktop)
        #expect(device.channel.counters.replayed == 2, "each copy is a replay, not a stranger's")
        #expect(device.channel.counters.unknownSenders == 0)
        device.close()
        desktop.close()
    }
}

/// A role that notes what it is asked for.
@EventLoop
private final class NotingRole: PairingRole {
    let relays = MemoryRelays()
    let routes: Routes
    let pairing: PairingCoordinator<StubPeer>
    var notes: [String] = []

    init() throws {
        try Identity.start()
        let key = try SigningKey.generate()
        let registration = SignallingFrame.Register(peerID: PeerID(key.did))
        routes = Routes(
            .device, of: PeerID(key.did),
            kinds: [.relays(relays.maker, registration: registration, provingWith: key)])
        let database = try Database.open(path: ":memory:", migrations: SealStates.migrations).database
        let channel = PeerChannel(key: key, seal: RoleState.Seal(epoch: 1, windows: [:]), database: database)
        pairing = PairingCoordinator([FirstStub(), CodeStub(), LastStub()], routes, channel)
        pairing.role = self
    }

    func wait(_ flow: PairingFlow, _ name: String) {
        pairing.wait(for: flow, 10_000) { outcome in
            let end = if case .failure(let error) = outcome { error.detail["reason"]?.string ?? "" } else { "ok" }
            EventLoop.assumeIsolated { self.notes.append("\(name) \(end)") }
        }
    }

    func perform(_ step: PairingStep<StubPeer>) { if case .report = step { notes.append("report") } }
    func store(_ record: PairingRecord<StubPeer>) {}
    func receive(_ message: PeerMessage, over route: RouteID) {}
}

@Suite(.timeLimit(.minutes(1))) struct PairingStepTests {
    init() throws { try EventLoop.start() }

    @Test("a report with an outcome tells those who wait for that flow, after the host")
    @EventLoop func outcome() throws {
        let role = try NotingRole()
        role.pairing.change(FirstStub.self) { $0.show() }
        role.wait(.scan, "a")
        role.wait(.code, "b")
        role.pairing.cancel()
        #expect(role.notes == ["report", "a cancelled"])
        role.pairing.stopTimers()
    }

    @Test("what a flow holds is held before it is opened, and until it is closed")
    @EventLoop func holds() throws {
        let role = try NotingRole()
        role.pairing.change(FirstStub.self) { machine in
            machine.isShown = true
            return [.open(PairingRoute(.relay, url: "ws://held.test"))]
        }
        #expect(role.routes.opened == ["ws://held.test"])
        role.pairing.change(FirstStub.self) { machine in
            machine.isShown = false
            return [.close("ws://held.test")]
        }
        #expect(role.routes.opened.isEmpty)
        role.pairing.stopTimers()
    }
}

extension Mailbox where Element == RouteEvent {
    /// Whatever the relay has sent to the device before has come.
    fileprivate func settle(_ device: TinyDevice, _ desktop: TinyDesktop) async throws {
        let link = desktop.routes.bestLink(to: device.id)
        _ = link?.send(to: device.id, payload: ["type": "mark"], sealed: false)
        _ = try await take("the mark", #_sourceLocation) { event in
            if case .message(let message, _) = event { message.payload["type"] == "mark" } else { false }
        }
    }
}
