import JSON
import Testing
import Wire

@testable import Pairing

@Suite struct DeviceScanStateMachineTests {
    private static let now: EpochMilliseconds = 1_715_760_000_000
    private static let lan = PairingRoute(.lan, url: "ws://192.168.1.5:9001")
    private static let relay = PairingRoute(.relay, url: "wss://relay.example/ws")
    private static let own = PairingRoute(.relay, url: "wss://own.example")
    private static let identity = PairingIdentity(
        did: "did:key:zMe", deviceInfo: PairingDeviceInfo(deviceID: "i", name: "Me", platform: "linux"))

    private var machine = DeviceScanStateMachine()
    private var now = Self.now

    private static func offer(
        lan: Bool = true, relay: Bool = true, code: String = "012345", pcPeerID: PeerID = "pc", at time: Int64 = now
    ) throws -> DesktopPairingOffer {
        DesktopPairingOffer(
            code: try #require(PairingCode(code)), pcPeerID: pcPeerID,
            deviceInfo: PairingDeviceInfo(name: "PC", platform: "win32", version: "1"), timestamp: time,
            signalingURL: lan ? Self.lan.url : nil, relayURL: relay ? Self.relay.url : nil,
            iceServersJSON: "[]", iceExpiry: 5)
    }

    private mutating func scan(_ offer: DesktopPairingOffer, relayURL: String? = nil) -> [DeviceScanAction] {
        machine.scan(offer.serialized(), identity: Self.identity, relayURL: relayURL, now: now)
    }

    private func reason(_ actions: [DeviceScanAction]) -> PairingReason? {
        guard case .report(.failed(let failure))? = actions.last else { return nil }
        return failure.reason
    }

    private func desktop(_ offer: DesktopPairingOffer, relayURL: String?) -> PairedDesktop {
        PairedDesktop(
            address: offer.pcPeerID, pcPeerID: offer.pcPeerID, name: "PC", platform: "win32",
            lanSignalingURL: offer.signalingURL, relayURL: relayURL, iceServersJSON: "[]", iceExpiry: 5,
            pairedAt: now, lastSeenAt: now)
    }

    /// Scans, and takes the ack to where it was written over the first route.
    private mutating func sendAck(_ offer: DesktopPairingOffer, over route: PairingRoute = lan) {
        _ = scan(offer)
        _ = machine.routeOnline(route, now: now)
        #expect(machine.ackSent(true, over: route) == [.startTimer(after: 2_000)])
    }

    @Test("the straight way: open the local relay, send the ack, wait two seconds, store, success")
    mutating func straight() throws {
        let offer = try Self.offer()
        #expect(machine.reported == .scanning)
        #expect(
            scan(offer) == [.report(.sending(offer)), .startTimer(after: 5_000), .open(Self.lan)])
        let ack = PairAck(
            code: offer.code, mobileDID: "did:key:zMe", deviceInfo: Self.identity.deviceInfo, timestamp: now)
        #expect(machine.routeOnline(Self.lan, now: now) == [.sendAck(ack, to: "pc", over: Self.lan)])
        #expect(machine.ackSent(true, over: Self.lan) == [.startTimer(after: 2_000)])
        let desktop = desktop(offer, relayURL: Self.relay.url)
        #expect(machine.stepTimedOut(now: now) == [.stopTimer, .store(desktop)])
        #expect(machine.reported == .sending(offer))
        #expect(machine.isActive)
        #expect(machine.stored(desktop) == [.report(.success(desktop))])
        #expect(!machine.isActive)
    }

    @Test("any frame of the desktop is a success before the two seconds are over; a stranger's is not")
    mutating func confirmedByFrame() throws {
        let offer = try Self.offer()
        #expect(machine.received(from: "pc", type: nil, now: now) == [])
        _ = scan(offer)
        #expect(machine.received(from: "pc", type: "chainlesschain:event", now: now) == [])
        _ = machine.routeOnline(Self.lan, now: now)
        _ = machine.ackSent(true, over: Self.lan)
        #expect(machine.received(from: "other", type: nil, now: now) == [])
        #expect(
            machine.received(from: "pc", type: "chainlesschain:ice:config", now: now)
                == [.stopTimer, .store(desktop(offer, relayURL: Self.relay.url))])
        #expect(machine.received(from: "pc", type: nil, now: now) == [])
    }

    @Test("a rejection of the desktop ends it; a stranger's does not")
    mutating func rejected() throws {
        sendAck(try Self.offer())
        #expect(machine.received(from: "other", type: "pairing:reject", now: now) == [])
        #expect(reason(machine.received(from: "pc", type: "pairing:reject", now: now)) == .rejected)
    }

    @Test("the local relay that cannot be reached: the other one, then the host's own, then relay_unreachable")
    mutating func fallsBack() throws {
        let offer = try Self.offer()
        _ = scan(offer, relayURL: Self.own.url)
        #expect(
            machine.routeFailed(Self.lan, detail: "x") == [
                .close(Self.lan), .startTimer(after: 15_000), .open(Self.relay),
            ])
        #expect(machine.routeFailed(Self.lan, detail: "late") == [])
        #expect(
            machine.stepTimedOut(now: now) == [.close(Self.relay), .startTimer(after: 15_000), .open(Self.own)])
        let failure = PairingFailure(.relayUnreachable, detail: "y")
        #expect(
            machine.routeFailed(Self.own, detail: "y") == [.stopTimer, .close(Self.own), .report(.failed(failure))])
        #expect(machine.reported == .failed(failure))
    }

    @Test("an ack that comes back goes once over the relay; when that one comes back too, the desktop is offline")
    mutating func ackComesBack() throws {
        let offer = try Self.offer()
        sendAck(offer)
        #expect(machine.peerOffline("other", over: Self.lan) == [])
        #expect(machine.peerOffline("pc", over: Self.relay) == [])
        #expect(
            machine.peerOffline("pc", over: Self.lan) == [
                .close(Self.lan), .startTimer(after: 15_000), .open(Self.relay),
            ])
        guard case .sendAck(_, "pc", Self.relay)? = machine.routeOnline(Self.relay, now: now).first else {
            Issue.record("no second ack")
            return
        }
        _ = machine.ackSent(true, over: Self.relay)
        #expect(
            machine.peerOffline("pc", over: Self.relay)
                == [.stopTimer, .close(Self.relay), .report(.failed(PairingFailure(.desktopOffline)))])
    }

    @Test("an `error` for the ack falls back as well")
    mutating func ackRefused() throws {
        sendAck(try Self.offer())
        #expect(machine.relayRefused(over: Self.lan, detail: "no").first == .close(Self.lan))
        _ = machine.routeOnline(Self.relay, now: now)
        _ = machine.ackSent(true, over: Self.relay)
        #expect(reason(machine.relayRefused(over: Self.relay, detail: "no")) == .relayUnreachable)
    }

    @Test("where one relay knew the desktop absent and the next did not answer, the desktop is offline")
    mutating func betterReason() throws {
        sendAck(try Self.offer())
        _ = machine.peerOffline("pc", over: Self.lan)
        #expect(reason(machine.stepTimedOut(now: now)) == .desktopOffline)
    }

    @Test("a route that breaks under the ack is used again when it is back, twice; then it is given up")
    mutating func routeBreaks() throws {
        let offer = try Self.offer(lan: false)
        sendAck(offer, over: Self.relay)
        for _ in 0..<2 {
            #expect(machine.routeFailed(Self.relay, detail: "x") == [.startTimer(after: 15_000), .open(Self.relay)])
            #expect(machine.routeFailed(Self.relay, detail: "still") == [])
            #expect(machine.peerOffline("pc", over: Self.relay) == [])
            #expect(machine.routeOnline(Self.relay, now: now).count == 1)
            _ = machine.ackSent(true, over: Self.relay)
        }
        #expect(reason(machine.routeFailed(Self.relay, detail: "x")) == .relayUnreachable)
    }

    @Test("an ack that could not be written is sent again when the route is back")
    mutating func notWritten() throws {
        let offer = try Self.offer(lan: false)
        _ = scan(offer)
        _ = machine.routeOnline(Self.relay, now: now)
        #expect(machine.ackSent(false, over: Self.relay) == [.startTimer(after: 15_000), .open(Self.relay)])
        #expect(machine.routeOnline(Self.relay, now: now).count == 1)
    }

    @Test("the checks come in their order, and each has its reason")
    mutating func checks() throws {
        func scan(_ text: String, _ identity: PairingIdentity? = Self.identity, plain: Bool = true) -> PairingReason? {
            var machine = DeviceScanStateMachine()
            return reason(machine.scan(text, identity: identity, acceptsPlain: plain, now: Self.now))
        }
        #expect(scan("x") == .notJSON)
        #expect(scan("{}", nil) == .wrongType)
        #expect(scan(try Self.offer(at: Self.now - 301_000).serialized(), nil) == .expired)
        #expect(scan(try Self.offer(lan: false, relay: false).serialized(), nil) == .noIdentity)
        #expect(scan(try Self.offer(lan: false, relay: false).serialized(), plain: false) == .notSecure)
        #expect(scan(try Self.offer(lan: false, relay: false).serialized()) == .noRelay)
    }

    @Test("a code without addresses uses the host's own relay, which is kept for the desktop")
    mutating func ownRelay() throws {
        let offer = try Self.offer(lan: false, relay: false)
        #expect(scan(offer, relayURL: Self.own.url).contains(.open(Self.own)))
        _ = machine.routeOnline(Self.own, now: now)
        _ = machine.ackSent(true, over: Self.own)
        #expect(machine.stepTimedOut(now: now) == [.stopTimer, .store(desktop(offer, relayURL: Self.own.url))])
    }

    @Test("the host's own relay is not kept where the desktop was reached on the local network")
    mutating func ownRelayUnused() throws {
        let offer = try Self.offer(relay: false)
        _ = scan(offer, relayURL: Self.own.url)
        _ = machine.routeOnline(Self.lan, now: now)
        _ = machine.ackSent(true, over: Self.lan)
        #expect(machine.stepTimedOut(now: now) == [.stopTimer, .store(desktop(offer, relayURL: nil))])
    }

    @Test("one address in two places is one route")
    mutating func sameAddress() throws {
        var offer = try Self.offer()
        offer.relayURL = offer.signalingURL
        _ = scan(offer, relayURL: offer.signalingURL)
        #expect(reason(machine.routeFailed(Self.lan, detail: nil)) == .relayUnreachable)
    }

    @Test("the same code twice pairs once: while it is sent, while it is stored, and afterwards")
    mutating func twice() throws {
        let offer = try Self.offer()
        sendAck(offer)
        #expect(scan(offer) == [])
        _ = machine.stepTimedOut(now: now)
        #expect(scan(offer) == [])
        let desktop = desktop(offer, relayURL: Self.relay.url)
        _ = machine.stored(desktop)
        now += 60_000
        #expect(scan(offer) == [.report(.success(desktop))])
        machine.removed("other")
        #expect(scan(offer) == [.report(.success(desktop))])
        machine.removed("pc")
        #expect(scan(offer).contains(.open(Self.lan)))
    }

    @Test("another code replaces the one before, whose connection is given back")
    mutating func replaces() throws {
        sendAck(try Self.offer())
        let other = try Self.offer(lan: false, code: "999999", pcPeerID: "pc-2")
        #expect(
            scan(other) == [
                .stopTimer, .close(Self.lan), .report(.sending(other)), .startTimer(after: 15_000), .open(Self.relay),
            ])
        #expect(machine.received(from: "pc", type: nil, now: now) == [])
    }

    @Test("a code that grows too old while its relay is sought is expired")
    mutating func expiresMeanwhile() throws {
        _ = scan(try Self.offer(at: now - 299_999))
        #expect(reason(machine.routeOnline(Self.lan, now: now + 2)) == .expired)
    }

    @Test("cancel ends each step but the storing, and leaves finished scans alone")
    mutating func cancel() throws {
        let offer = try Self.offer()
        #expect(machine.cancel() == [])
        _ = scan(offer)
        #expect(machine.cancel() == [.stopTimer, .close(Self.lan), .report(.failed(PairingFailure(.cancelled)))])
        #expect(machine.cancel() == [])
        #expect(machine.routeOnline(Self.lan, now: now) == [])
        sendAck(offer)
        #expect(reason(machine.cancel(.timeout)) == .timeout)
        sendAck(offer)
        _ = machine.stepTimedOut(now: now)
        #expect(machine.cancel() == [])
        _ = machine.stored(desktop(offer, relayURL: Self.relay.url))
        #expect(machine.cancel() == [])
    }

    @Test("what cannot be stored is not paired")
    mutating func storeFails() throws {
        sendAck(try Self.offer())
        _ = machine.stepTimedOut(now: now)
        #expect(machine.storeFailed("other", detail: nil) == [])
        #expect(reason(machine.storeFailed("pc", detail: "disk full")) == .storeFailed)
    }

    @Test("no sequence of events breaks it, and every scan ends: 300 seeds of 300 events", arguments: 0..<300)
    func model(seed: Int) throws {
        var model = ScanModel(
            seed: UInt64(seed),
            offers: [
                try Self.offer(), try Self.offer(lan: false), try Self.offer(relay: false),
                try Self.offer(lan: false, relay: false), try Self.offer(code: "999999", pcPeerID: "pc-2"),
                try Self.offer(at: Self.now - 290_000),
            ], now: Self.now)
        for _ in 0..<300 { model.step() }
        model.finish()
    }
}

/// The owner, as the machine believes it to be.
private struct ScanModel {
    private var machine = DeviceScanStateMachine()
    private var random: SeededGenerator
    private let offers: [DesktopPairingOffer]
    private var now: EpochMilliseconds
    private var held: PairingRoute?
    private var timer: UInt64?
    private var storing: PairedDesktop?
    private var acks = 0

    init(seed: UInt64, offers: [DesktopPairingOffer], now: EpochMilliseconds) {
        random = SeededGenerator(seed: seed)
        self.offers = offers
        self.now = now
    }

    private mutating func carryOut(_ actions: [DeviceScanAction]) {
        for (index, action) in actions.enumerated() {
            switch action {
            case .open(let route):
                #expect(index == actions.count - 1, "more follows what may cause the next event")
                #expect(held == nil || held == route, "a second route is open")
                held = route
            case .close(let route):
                #expect(held == route, "a route is closed that is not open")
                held = nil
            case .sendAck(let ack, let peer, let route):
                #expect(index == actions.count - 1, "more follows what may cause the next event")
                #expect(held == route)
                #expect(offers.contains { $0.code == ack.code && $0.pcPeerID == peer })
                acks += 1
                let isWritten = Bool.random(using: &random)
                carryOut(machine.ackSent(isWritten, over: route))
            case .startTimer(let wait):
                #expect(wait <= 15_000)
                timer = wait
            case .stopTimer: timer = nil
            case .store(let desktop):
                #expect(index == actions.count - 1, "more follows what may cause the next event")
                storing = desktop
                held = nil  // the desktop's now
            case .report(let state):
                #expect(state == machine.reported)
            }
        }
        if machine.isActive, storing == nil { #expect(timer != nil, "a step without a limit") }
        if !machine.isActive {
            #expect(held == nil, "a route is kept")
            #expect(timer == nil, "a timer is kept")
        }
    }

    mutating func step() {
        now += Int64.random(in: 0...1_000, using: &random)
        let route =
            held.flatMap { Int.random(in: 0..<4, using: &random) > 0 ? $0 : nil } ?? PairingRoute(.relay, url: "ws://x")
        let peer: PeerID = ["pc", "pc-2", "stranger"].randomElement(using: &random) ?? "pc"
        switch Int.random(in: 0..<24, using: &random) {
        case 0, 1:
            let text = offers.randomElement(using: &random)?.serialized() ?? ""
            scan(text)
        case 2: scan(["", "{}", "[", #"{"type":"desktop-pairing"}"#].randomElement(using: &random) ?? "")
        case 3: carryOut(machine.cancel())
        case 4...9: carryOut(machine.routeOnline(route, now: now))
        case 10, 11: carryOut(machine.routeFailed(route, detail: nil))
        case 12, 13: carryOut(machine.peerOffline(peer, over: route))
        case 14: carryOut(machine.relayRefused(over: route, detail: nil))
        case 15: carryOut(machine.received(from: peer, type: "pairing:reject", now: now))
        case 16: carryOut(machine.received(from: peer, type: nil, now: now))
        case 17: machine.removed(peer)
        case 18, 19, 20: finishStoring()
        default: fire()
        }
    }

    private mutating func scan(_ text: String) {
        // A newer scan does not wait for the store.
        storing = machine.isActive ? storing : nil
        let actions = machine.scan(
            text, identity: PairingIdentity(did: "d", deviceInfo: PairingDeviceInfo(name: "", platform: "")),
            relayURL: Bool.random(using: &random) ? "wss://own" : nil, now: now)
        if !actions.isEmpty { storing = nil }
        carryOut(actions)
    }

    private mutating func finishStoring() {
        guard let desktop = storing else { return }
        storing = nil
        carryOut(
            Bool.random(using: &random) ? machine.stored(desktop) : machine.storeFailed(desktop.id, detail: nil))
    }

    private mutating func fire() {
        guard let wait = timer else { return }
        timer = nil
        now += Int64(wait)
        carryOut(machine.stepTimedOut(now: now))
    }

    /// With no help at all, only its own timers and the store, each scan comes to its end.
    mutating func finish() {
        for _ in 0..<20 where machine.isActive {
            fire()
            finishStoring()
        }
        #expect(!machine.isActive)
    }
}
