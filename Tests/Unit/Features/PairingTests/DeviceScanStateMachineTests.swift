import JSON
import Testing
import Wire

@testable import Pairing

/// A scan of a deployed desktop's code, and what all scans have in common.
@Suite struct DeviceScanStateMachineTests {
    private static let now = Fixture.now
    private static let lan = Fixture.lan
    private static let relay = Fixture.relay
    private static let own = Fixture.own
    private static let identity = PairingIdentity(
        did: "did:key:zMe", deviceInfo: PairingDeviceInfo(deviceID: "i", name: "Me", platform: "linux"))

    private var machine = DeviceScanStateMachine()
    private var now = Self.now

    private static func offer(
        lan: Bool = true, relay: Bool = true, code: String = "012345", pcPeerID: PeerID = "pc", at time: Int64 = now
    ) -> DesktopPairingOffer {
        DesktopPairingOffer(
            code: Fixture.code(code), pcPeerID: pcPeerID,
            deviceInfo: PairingDeviceInfo(name: "PC", platform: "win32", version: "1"), timestamp: time,
            signalingURL: lan ? Self.lan.url : nil, relayURL: relay ? Self.relay.url : nil,
            iceServersJSON: "[]", iceExpiry: 5)
    }

    private mutating func scan(_ offer: DesktopPairingOffer, relayURL: String? = nil) -> [PairingStep<PairedDesktop>] {
        machine.scan(offer.serialized(), identity: Self.identity, relayURL: relayURL, now: now)
    }

    private func reason(_ actions: [PairingStep<PairedDesktop>]) -> PairingReason? {
        guard case .report(.deviceScan(.failed(let failure)))? = actions.last else { return nil }
        return failure.reason
    }

    private func ack(_ offer: DesktopPairingOffer) -> PairAck {
        PairAck(code: offer.code, mobileDID: "did:key:zMe", deviceInfo: Self.identity.deviceInfo, timestamp: now)
    }

    /// What is to be stored when nothing has come from the desktop; `lan` and `relay` say which of them had us registered.
    private func desktop(
        _ offer: DesktopPairingOffer, relayURL: String?, lan: Bool = false, relay: Bool = false,
        isConfirmed: Bool = false
    ) -> PairedDesktop {
        PairedDesktop(
            address: offer.pcPeerID, pcPeerID: offer.pcPeerID, name: "PC", platform: "win32",
            lanSignalingURL: offer.signalingURL, relayURL: relayURL, lanWorkedAt: lan ? now : nil,
            relayWorkedAt: relay ? now : nil, iceServersJSON: "[]", iceExpiry: 5, pairedAt: now, lastSeenAt: now,
            isConfirmed: isConfirmed)
    }

    private mutating func received(from peer: PeerID, type: String?) -> [PairingStep<PairedDesktop>] {
        machine.received(PairingFrame(["type": type.map(JSONValue.string)], from: peer), now: now)
    }

    /// Scans, and takes the ack to where it was written over the first route.
    private mutating func sendAck(_ offer: DesktopPairingOffer, over route: PairingRoute = lan) {
        _ = scan(offer)
        _ = machine.routeOnline(route.id, now: now)
        #expect(machine.ackSent(true, over: route.id, now: now) == [.startTimer(after: 10_000)])
    }

    @Test("open the local relay, send the ack, wait ten seconds: the desktop is stored, unconfirmed")
    mutating func straight() {
        let offer = Self.offer()
        #expect(machine.reported == .scanning)
        #expect(scan(offer) == [.report(.deviceScan(.sending(offer))), .startTimer(after: 1_500), .open(Self.lan)])
        #expect(
            machine.routeOnline(Self.lan.id, now: now) == [
                .startTimer(after: 5_000), .send(.ack(ack(offer)), to: "pc", sealed: false, .over(Self.lan.id)),
            ])
        #expect(machine.ackSent(true, over: Self.lan.id, now: now) == [.startTimer(after: 10_000)])
        let desktop = desktop(offer, relayURL: Self.relay.url, lan: true)
        #expect(machine.timedOut(now: now) == [.stopTimer, .store(desktop)])
        #expect(machine.reported == .sending(offer))
        #expect(machine.isActive)
        #expect(machine.heldRoutes == [Self.lan])
        #expect(machine.stored(desktop) == [.report(.deviceScan(.success(desktop)))])
        #expect(!machine.isActive)
        #expect(machine.heldRoutes.isEmpty)
    }

    @Test("the relay is asked 1.5 s after the local one; the first registration wins, and both are kept")
    mutating func headStart() {
        let offer = Self.offer()
        _ = scan(offer)
        #expect(machine.timedOut(now: now) == [.startTimer(after: 15_000), .open(Self.relay)])
        #expect(machine.heldRoutes == [Self.lan, Self.relay])
        #expect(
            machine.routeOnline(Self.relay.id, now: now).last
                == .send(.ack(ack(offer)), to: "pc", sealed: false, .over(Self.relay.id)))
        #expect(machine.routeOnline(Self.lan.id, now: now) == [])
        _ = machine.ackSent(true, over: Self.relay.id, now: now)
        let desktop = desktop(offer, relayURL: Self.relay.url, lan: true, relay: true)
        #expect(machine.timedOut(now: now) == [.stopTimer, .store(desktop)])
        #expect(machine.heldRoutes == [Self.lan, Self.relay])
    }

    @Test("the relay is asked at once when the local one fails, which may still come back and carry the ack")
    mutating func comesBack() {
        let offer = Self.offer()
        _ = scan(offer)
        #expect(
            machine.routeFailed(Self.lan.id, detail: "x", now: now) == [.startTimer(after: 15_000), .open(Self.relay)])
        #expect(machine.routeFailed(Self.lan.id, detail: "again", now: now) == [])
        #expect(
            machine.routeOnline(Self.lan.id, now: now).last
                == .send(.ack(ack(offer)), to: "pc", sealed: false, .over(Self.lan.id)))
    }

    @Test("the host's own relay comes last; where all have failed they have three seconds to come back")
    mutating func allFail() {
        _ = scan(Self.offer(), relayURL: Self.own.url)
        #expect(
            machine.routeFailed(Self.lan.id, detail: "x", now: now) == [.startTimer(after: 1_500), .open(Self.relay)])
        #expect(machine.timedOut(now: now) == [.startTimer(after: 15_000), .open(Self.own)])
        #expect(machine.routeFailed(Self.relay.id, detail: "y", now: now) == [])
        #expect(machine.routeFailed(Self.own.id, detail: "z", now: now) == [.startTimer(after: 3_000)])
        #expect(machine.routeFailed(Self.own.id, detail: "z", now: now) == [])
        let actions = machine.timedOut(now: now)
        #expect(
            machine.reported == .failed(PairingFailure(.relayUnreachable, detail: "z")),
            "the reason says what the relay said")
        #expect(actions.dropLast() == [.stopTimer, .close(Self.lan.id), .close(Self.relay.id), .close(Self.own.id)])
    }

    @Test("an address that is none is not waited for")
    mutating func badAddress() {
        _ = scan(Self.offer())
        #expect(
            machine.routeFailed(Self.lan.id, detail: "x", isFinal: true, now: now)
                == [.startTimer(after: 15_000), .open(Self.relay)])
        #expect(machine.routeOnline(Self.lan.id, now: now) == [])
        machine = DeviceScanStateMachine()
        _ = scan(Self.offer(lan: false))
        #expect(reason(machine.routeFailed(Self.relay.id, detail: "x", isFinal: true, now: now)) == .relayUnreachable)
    }

    @Test("relays that never answer are given 15 s")
    mutating func silence() {
        _ = scan(Self.offer())
        _ = machine.timedOut(now: now)
        #expect(reason(machine.timedOut(now: now)) == .relayUnreachable)
    }

    @Test("any frame of the desktop confirms the pairing before the ten seconds are over; a stranger's doesn't")
    mutating func confirmedByFrame() {
        let offer = Self.offer()
        #expect(received(from: "pc", type: nil) == [])
        _ = scan(offer)
        #expect(received(from: "pc", type: "chainlesschain:event") == [])
        _ = machine.routeOnline(Self.lan.id, now: now)
        _ = machine.ackSent(true, over: Self.lan.id, now: now)
        #expect(received(from: "other", type: nil) == [])
        #expect(
            machine.received(PairingFrame([:], from: "pc", delivery: .stored(at: now + 1)), now: now) == [],
            "what was stored says nothing about the ack")
        #expect(
            received(from: "pc", type: "chainlesschain:ice:config")
                == [.stopTimer, .store(desktop(offer, relayURL: Self.relay.url, lan: true, isConfirmed: true))])
        #expect(received(from: "pc", type: nil) == [])
    }

    @Test("a rejection of the desktop ends it; a stranger's does not")
    mutating func rejected() {
        sendAck(Self.offer())
        #expect(received(from: "other", type: "pairing:reject") == [])
        #expect(reason(received(from: "pc", type: "pairing:reject")) == .rejected)
    }

    @Test("an ack that comes back goes once over the relay; when that one comes back too, the desktop is offline")
    mutating func ackComesBack() {
        sendAck(Self.offer())
        #expect(machine.peerOffline("other", over: Self.lan.id, now: now) == [])
        #expect(machine.peerOffline("pc", over: Self.relay.id, now: now) == [])
        #expect(
            machine.peerOffline("pc", over: Self.lan.id, now: now) == [.startTimer(after: 15_000), .open(Self.relay)])
        guard
            case .send(.ack(_), to: "pc", sealed: false, .over(Self.relay.id))? = machine.routeOnline(
                Self.relay.id, now: now
            ).last
        else {
            Issue.record("no second ack")
            return
        }
        _ = machine.ackSent(true, over: Self.relay.id, now: now)
        #expect(
            machine.peerOffline("pc", over: Self.relay.id, now: now) == [
                .stopTimer, .close(Self.lan.id), .close(Self.relay.id),
                .report(.deviceScan(.failed(PairingFailure(.desktopOffline)))),
            ])
    }

    @Test("an `error` for the ack falls back as well")
    mutating func ackRefused() {
        sendAck(Self.offer())
        #expect(machine.relayRefused(over: Self.lan.id, detail: "no", now: now).last == .open(Self.relay))
        _ = machine.routeOnline(Self.relay.id, now: now)
        _ = machine.ackSent(true, over: Self.relay.id, now: now)
        #expect(reason(machine.relayRefused(over: Self.relay.id, detail: "no", now: now)) == .relayUnreachable)
    }

    @Test("where one relay knew the desktop absent and the next did not answer, the desktop is offline")
    mutating func betterReason() {
        sendAck(Self.offer())
        _ = machine.peerOffline("pc", over: Self.lan.id, now: now)
        #expect(reason(machine.timedOut(now: now)) == .desktopOffline)
    }

    @Test("where one relay knew the desktop absent, the silence of the next one is no answer; a frame is")
    mutating func silentRelay() {
        let offer = Self.offer()
        sendAck(offer)
        _ = machine.peerOffline("pc", over: Self.lan.id, now: now)
        _ = machine.routeOnline(Self.relay.id, now: now)
        _ = machine.ackSent(true, over: Self.relay.id, now: now)
        var other = machine
        #expect(reason(machine.timedOut(now: now)) == .desktopOffline)
        let frame = PairingFrame(["type": "chainlesschain:ice:config"], from: "pc")
        let stored = desktop(offer, relayURL: Self.relay.url, lan: true, relay: true, isConfirmed: true)
        #expect(other.received(frame, now: now) == [.stopTimer, .store(stored)])
    }

    @Test("a route that breaks under the ack is used again when it is back, twice; then it is given up")
    mutating func routeBreaks() {
        sendAck(Self.offer(lan: false), over: Self.relay)
        for _ in 0..<2 {
            #expect(
                machine.routeFailed(Self.relay.id, detail: "x", now: now)
                    == [.startTimer(after: 15_000), .open(Self.relay)])
            #expect(machine.peerOffline("pc", over: Self.relay.id, now: now) == [])
            #expect(machine.routeOnline(Self.relay.id, now: now).count == 2)
            _ = machine.ackSent(true, over: Self.relay.id, now: now)
        }
        let actions = machine.routeFailed(Self.relay.id, detail: "x", now: now)
        #expect(actions.first == .close(Self.relay.id))
        #expect(reason(actions) == .relayUnreachable)
    }

    @Test("a route that breaks under the ack gives way to one that is there")
    mutating func routeGivesWay() {
        let offer = Self.offer()
        _ = scan(offer)
        _ = machine.timedOut(now: now)
        _ = machine.routeOnline(Self.lan.id, now: now)
        _ = machine.ackSent(true, over: Self.lan.id, now: now)
        _ = machine.routeOnline(Self.relay.id, now: now)
        #expect(
            machine.routeFailed(Self.lan.id, detail: "x", now: now) == [
                .startTimer(after: 5_000), .send(.ack(ack(offer)), to: "pc", sealed: false, .over(Self.relay.id)),
            ])
    }

    @Test("an ack that could not be written is sent again when the route is back; one that is never written fails")
    mutating func notWritten() {
        _ = scan(Self.offer(lan: false))
        _ = machine.routeOnline(Self.relay.id, now: now)
        #expect(
            machine.ackSent(false, over: Self.relay.id, now: now) == [.startTimer(after: 15_000), .open(Self.relay)])
        #expect(machine.routeOnline(Self.relay.id, now: now).count == 2)
        #expect(reason(machine.timedOut(now: now)) == .relayUnreachable)
    }

    @Test("the checks come in their order, and each has its reason")
    func checks() {
        func scan(
            _ text: String, _ identity: PairingIdentity? = Self.identity, legacy: LegacyPairing = .qr
        ) -> PairingReason? {
            var machine = DeviceScanStateMachine()
            return reason(machine.scan(text, identity: identity, legacy: legacy, now: Self.now))
        }
        #expect(scan("x") == .notJSON)
        #expect(scan("{}", nil) == .wrongType)
        #expect(scan(Self.offer(at: Self.now - 301_000).serialized(), nil) == .expired)
        #expect(scan(Self.offer(lan: false, relay: false).serialized(), nil) == .noIdentity)
        #expect(scan(Self.offer(lan: false, relay: false).serialized(), legacy: .none) == .notSecure)
        #expect(scan(Self.offer(lan: false, relay: false).serialized()) == .noRelay)
        #expect(scan(Self.offer(lan: false, relay: false).serialized(), legacy: .all) == .noRelay)
    }

    @Test("a code without a secret leads nowhere with a desktop that is paired sealed")
    mutating func noWayBack() {
        let text = Self.offer().serialized()
        let actions = machine.scan(text, identity: Self.identity, legacy: .all, securePeers: ["pc"], now: now)
        #expect(reason(actions) == .notSecure)
    }

    @Test("a code without addresses uses the host's own relay, which is kept for the desktop")
    mutating func ownRelay() {
        let offer = Self.offer(lan: false, relay: false)
        #expect(scan(offer, relayURL: Self.own.url).contains(.open(Self.own)))
        _ = machine.routeOnline(Self.own.id, now: now)
        _ = machine.ackSent(true, over: Self.own.id, now: now)
        #expect(
            machine.timedOut(now: now)
                == [.stopTimer, .store(desktop(offer, relayURL: Self.own.url, relay: true))])
    }

    @Test("the host's own relay is not kept where the desktop was reached on the local network")
    mutating func ownRelayUnused() {
        let offer = Self.offer(relay: false)
        _ = scan(offer, relayURL: Self.own.url)
        _ = machine.routeOnline(Self.lan.id, now: now)
        _ = machine.ackSent(true, over: Self.lan.id, now: now)
        #expect(
            machine.timedOut(now: now) == [.stopTimer, .store(desktop(offer, relayURL: nil, lan: true))])
    }

    @Test("one address in two places is one route")
    mutating func sameAddress() {
        var offer = Self.offer()
        offer.relayURL = offer.signalingURL
        #expect(scan(offer, relayURL: offer.signalingURL).contains(.startTimer(after: 15_000)))
        #expect(machine.routeFailed(Self.lan.id, detail: nil, now: now) == [.startTimer(after: 3_000)])
    }

    @Test("the same code twice pairs once: while it is sent, while it sleeps, while it is stored, and afterwards")
    mutating func twice() {
        let offer = Self.offer()
        sendAck(offer)
        #expect(scan(offer) == [])
        _ = machine.suspended()
        #expect(scan(offer) == [])
        _ = machine.resumed(now: now)
        _ = machine.routeOnline(Self.lan.id, now: now)
        _ = machine.ackSent(true, over: Self.lan.id, now: now)
        _ = machine.timedOut(now: now)
        #expect(scan(offer) == [])
        let desktop = desktop(offer, relayURL: Self.relay.url, lan: true)
        _ = machine.stored(desktop)
        now += 60_000
        #expect(scan(offer) == [.report(.deviceScan(.success(desktop)))])
        machine.removed("other")
        #expect(scan(offer) == [.report(.deviceScan(.success(desktop)))])
        machine.removed("pc")
        #expect(scan(offer).contains(.open(Self.lan)))
    }

    @Test("another code replaces the one before, whose connection is given back")
    mutating func replaces() {
        sendAck(Self.offer())
        let other = Self.offer(lan: false, code: "999999", pcPeerID: "pc-2")
        #expect(
            scan(other) == [
                .stopTimer, .close(Self.lan.id), .report(.deviceScan(.sending(other))), .startTimer(after: 15_000),
                .open(Self.relay),
            ])
        #expect(received(from: "pc", type: nil) == [])
    }

    @Test("a code that grows too old while its relay is sought is expired")
    mutating func expiresMeanwhile() {
        _ = scan(Self.offer(at: now - 299_999))
        #expect(reason(machine.routeOnline(Self.lan.id, now: now + 2)) == .expired)
    }

    @Test("sleep gives every connection back; after it the ack is sent again, if the code still holds")
    mutating func sleeps() {
        let offer = Self.offer()
        #expect(machine.suspended() == [])
        #expect(machine.resumed(now: now) == [])
        sendAck(offer)
        #expect(machine.suspended() == [.stopTimer, .close(Self.lan.id)])
        #expect(machine.isActive)
        #expect(machine.reported == .sending(offer))
        #expect(machine.heldRoutes.isEmpty)
        #expect(machine.routeOnline(Self.lan.id, now: now) == [])
        #expect(machine.timedOut(now: now) == [])
        now += 60_000
        #expect(machine.resumed(now: now) == [.startTimer(after: 1_500), .open(Self.lan)])
        #expect(
            machine.routeOnline(Self.lan.id, now: now).last
                == .send(.ack(ack(offer)), to: "pc", sealed: false, .over(Self.lan.id)))
        _ = machine.suspended()
        #expect(machine.resumed(now: now + 300_000) == [.report(.deviceScan(.failed(PairingFailure(.expired))))])
        _ = scan(offer)
        _ = machine.suspended()
        #expect(machine.cancel() == [.report(.deviceScan(.failed(PairingFailure(.cancelled))))])
    }

    @Test("cancel ends each step but the storing, and leaves finished scans alone")
    mutating func cancel() {
        let offer = Self.offer()
        #expect(machine.cancel() == [])
        _ = scan(offer)
        #expect(
            machine.cancel() == [
                .stopTimer, .close(Self.lan.id), .report(.deviceScan(.failed(PairingFailure(.cancelled)))),
            ])
        #expect(machine.cancel() == [])
        #expect(machine.routeOnline(Self.lan.id, now: now) == [])
        sendAck(offer)
        #expect(reason(machine.cancel(.timeout)) == .timeout)
        sendAck(offer)
        _ = machine.timedOut(now: now)
        #expect(machine.cancel() == [])
        _ = machine.stored(desktop(offer, relayURL: Self.relay.url))
        #expect(machine.cancel() == [])
    }

    @Test("what cannot be stored is not paired, and its connections are given back")
    mutating func storeFails() {
        sendAck(Self.offer())
        _ = machine.timedOut(now: now)
        #expect(machine.storeFailed("other", detail: nil) == [])
        let actions = machine.storeFailed("pc", detail: "disk full")
        #expect(actions.first == .close(Self.lan.id))
        #expect(reason(actions) == .storeFailed)
    }

    @Test("hosts see each state with its data")
    mutating func data() {
        #expect(machine.reported.data == ["flow": "scan", "state": "scanning"])
        _ = scan(Self.offer())
        #expect(
            machine.reported.data
                == ["flow": "scan", "state": "sending", "desktop": ["id": "pc", "name": "PC"]])
        _ = machine.cancel()
        #expect(machine.reported.data["reason"] == "cancelled")
        #expect(machine.reported.data["message"]?.string?.isEmpty == false)
    }
}
