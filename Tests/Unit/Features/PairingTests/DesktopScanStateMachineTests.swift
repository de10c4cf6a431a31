import JSON
import Testing
import Wire

@testable import Pairing

/// A device's code that a desktop scans (WirePairing, "The desktop scans").
@Suite struct DesktopScanStateMachineTests {
    private var now = Fixture.now
    private var machine = DesktopScanStateMachine()

    private mutating func scan(
        _ offer: DevicePairingOffer = Fixture.deviceOffer(), legacy: LegacyPairing = .qr
    ) -> [PairingStep<PairedDevice>] {
        machine.scan(offer.serialized(), identity: Fixture.desktopIdentity, legacy: legacy, now: now)
    }

    private mutating func accept() -> [PairingStep<PairedDevice>] {
        guard case .taken(let actions) = machine.answer(accept: true, now: now) else { return [] }
        return actions
    }

    /// Scans, accepts, and writes the confirmation to so many relays.
    private mutating func send(_ offer: DevicePairingOffer = Fixture.deviceOffer(), relays: Int = 1) {
        _ = scan(offer)
        _ = accept()
        _ = machine.confirmationSent(toRelays: relays, now: now)
    }

    private func reason(_ actions: [PairingStep<PairedDevice>]) -> PairingReason? {
        guard case .report(.desktopScan(.failed(let failure)))? = actions.last else { return nil }
        return failure.reason
    }

    @Test(
        "the straight way, sealed: scanned, accepted by the user, sent with its proof, and paired when the hello comes")
    mutating func straight() throws {
        let offer = Fixture.deviceOffer()
        #expect(
            scan(offer, legacy: .none) == [
                .startTimer(after: 30_000), .report(.desktopScan(.scanned(offer))),
                .report(.desktopScan(.confirming(offer, answerBy: now + 30_000))),
            ])
        #expect(machine.reported.data["device"]?["name"] == "Phone")
        let actions = accept()
        guard case .send(.confirmation(let confirmation), to: Fixture.device, sealed: true, .everywhere)? = actions.last
        else {
            Issue.record("not sent")
            return
        }
        #expect(actions.first == .report(.desktopScan(.sending(offer))))
        #expect(Fixture.bond()?.proves(confirmation) == true)
        #expect(confirmation.pcPeerID == Fixture.desktop)
        #expect(machine.confirmationSent(toRelays: 2, now: now) == [.startTimer(after: 2_500)])
        let paired = machine.received(Fixture.sealed(Fixture.hello, from: Fixture.device), now: now)
        guard case .store(let device)? = paired.last else {
            Issue.record("not paired")
            return
        }
        #expect(device.isSecure)
        #expect(device.deviceID == "i-1")
        #expect(device.shortString == Fixture.bond()?.shortString)
        #expect(machine.stored(device, now: now) == [.report(.desktopScan(.paired(device)))])
        #expect(scan(offer) == [.report(.desktopScan(.paired(device)))])
        machine.removed(Fixture.device)
        #expect(scan(offer).count == 3)
    }

    @Test("a hello that is not sealed, was stored, is another's or none counts for nothing")
    mutating func forgedHello() {
        send()
        #expect(machine.received(PairingFrame(Fixture.hello, from: Fixture.device), now: now) == [])
        #expect(machine.received(Fixture.sealed(Fixture.hello, from: Fixture.evil), now: now) == [])
        let old = Fixture.sealed(Fixture.hello, from: Fixture.device, delivery: .stored(at: now))
        #expect(machine.received(old, now: now) == [])
        #expect(machine.received(Fixture.sealed(["type": "bellwire:hello"], from: Fixture.device), now: now) == [])
        #expect(machine.received(Fixture.sealed(Fixture.iceConfig, from: Fixture.device), now: now) == [])
        #expect(machine.dropped.notSecure == 1)
        #expect(machine.dropped.stored == 1)
        #expect(machine.dropped.malformed == 1)
    }

    @Test(
        "the confirmation is repeated for half a minute while the hello is awaited; then the device is told that it is not paired"
    )
    mutating func waits() {
        send()
        for _ in 0..<11 {
            now += 2_500
            guard case .send(.confirmation, to: _, sealed: _, _)? = machine.timedOut(now: now).last else {
                Issue.record("not repeated")
                return
            }
            #expect(machine.confirmationSent(toRelays: 1, now: now) == [.startTimer(after: 2_500)])
        }
        #expect(
            machine.timedOut(now: now)
                == [.stopTimer, .withdraw(Fixture.device), .report(.desktopScan(.failed(PairingFailure(.timeout))))])
    }

    @Test("whoever may have taken a confirmation is told when the scan ends; nobody else is")
    mutating func withdraws() {
        func isWithdrawn(_ actions: [PairingStep<PairedDevice>]) -> Bool { actions.contains(.withdraw(Fixture.device)) }
        // Asked about, or handed out and not written: it knows of nothing.
        _ = scan()
        #expect(!isWithdrawn(machine.cancel()))
        _ = scan()
        _ = accept()
        #expect(!isWithdrawn(machine.cancel()))
        send(relays: 0)
        #expect(!isWithdrawn(machine.cancel()))
        // Written, then cancelled, replaced, or found to be too old.
        send()
        #expect(isWithdrawn(machine.cancel()))
        send()
        #expect(isWithdrawn(scan(Fixture.deviceOffer(did: Fixture.evil))))
        send(Fixture.deviceOffer(at: now - 299_000))
        now += 2_000
        #expect(isWithdrawn(machine.timedOut(now: now)))
        #expect(machine.reported == .expired)
        // It has said no itself; or it cannot be told.
        send()
        #expect(!isWithdrawn(machine.received(Fixture.sealed(Fixture.reject(), from: Fixture.device), now: now)))
        send(Fixture.deviceOffer(sealed: false))
        #expect(!isWithdrawn(machine.cancel()))
        // Not stored.
        send()
        guard
            case .store(let device)? = machine.received(
                Fixture.sealed(Fixture.hello, from: Fixture.device), now: now
            ).last
        else {
            Issue.record("not paired")
            return
        }
        #expect(isWithdrawn(machine.storeFailed(device, detail: nil)))
    }

    @Test("a device that was paired before greets by itself: one more confirmation settles which pairing it is in")
    mutating func pairedBefore() {
        let offer = Fixture.deviceOffer()
        _ = machine.scan(
            offer.serialized(), identity: Fixture.desktopIdentity, securePeers: [Fixture.device], now: now)
        _ = accept()
        _ = machine.confirmationSent(toRelays: 1, now: now)
        let taken = machine.received(Fixture.sealed(Fixture.hello, from: Fixture.device), now: now)
        guard case .store(let device)? = taken.last else {
            Issue.record("not paired")
            return
        }
        let told = machine.stored(device, now: now)
        #expect(told.first == .report(.desktopScan(.paired(device))))
        guard case .send(.confirmation(let confirmation), to: Fixture.device, sealed: true, _)? = told.last else {
            Issue.record("not settled")
            return
        }
        #expect(Fixture.bond()?.proves(confirmation) == true)
    }

    @Test("a scan that is replaced while its device is being stored is still said to be paired, or not")
    mutating func replacedWhileStoring() {
        func store() -> PairedDevice? {
            send()
            let actions = machine.received(Fixture.sealed(Fixture.hello, from: Fixture.device), now: now)
            guard case .store(let device)? = actions.last else { return nil }
            _ = scan(Fixture.deviceOffer(did: Fixture.evil))
            return device
        }
        guard let device = store() else {
            Issue.record("not paired")
            return
        }
        let current = machine.reported
        #expect(
            machine.stored(device, now: now) == [
                .report(.desktopScan(.paired(device))), .report(.desktopScan(current)),
            ])
        guard let device = store() else {
            Issue.record("not paired")
            return
        }
        #expect(
            machine.storeFailed(device, detail: nil)
                == [
                    .withdraw(Fixture.device), .report(.desktopScan(.failed(PairingFailure(.storeFailed)))),
                    .report(.desktopScan(machine.reported)),
                ])
    }

    @Test("a deployed phone: no proof, no seal, and two seconds without peer-offline")
    mutating func deployed() {
        let offer = Fixture.deviceOffer(sealed: false)
        _ = scan(offer)
        guard
            case .send(.confirmation(let confirmation), to: Fixture.device, sealed: false, .everywhere)? = accept().last
        else {
            Issue.record("not sent")
            return
        }
        #expect(confirmation.mac == nil)
        #expect(machine.confirmationSent(toRelays: 1, now: now) == [.startTimer(after: 2_000)])
        #expect(machine.peerOffline(Fixture.evil) == [])
        guard case .store(let device)? = machine.timedOut(now: now).last else {
            Issue.record("not paired")
            return
        }
        #expect(!device.isSecure)
        #expect(scan(Fixture.deviceOffer(sealed: false), legacy: .none) == [], "the same code joins")
    }

    @Test("a deployed phone that no relay knows is offline; one that some relay knows is not")
    mutating func absent() {
        send(Fixture.deviceOffer(sealed: false), relays: 2)
        #expect(machine.peerOffline(Fixture.device) == [])
        #expect(reason(machine.peerOffline(Fixture.device)) == .desktopOffline)
        send(Fixture.deviceOffer(sealed: false))
        #expect(reason(machine.relayRefused(detail: "no")) == .relayUnreachable)
    }

    @Test("a Bellwire device that no relay knows is tried for ten seconds more: it may be on its way back")
    mutating func comesBack() {
        send()
        for _ in 0..<5 {
            #expect(machine.peerOffline(Fixture.device) == [.startTimer(after: 2_000)])
            #expect(machine.peerOffline(Fixture.device) == [])
            _ = machine.timedOut(now: now)
            _ = machine.confirmationSent(toRelays: 1, now: now)
        }
        #expect(reason(machine.peerOffline(Fixture.device)) == .desktopOffline)
        // No relay at all.
        send(relays: 0)
        for _ in 0..<5 {
            _ = machine.timedOut(now: now)
            _ = machine.confirmationSent(toRelays: 0, now: now)
        }
        #expect(reason([.report(.desktopScan(machine.reported))]) == .relayUnreachable)
    }

    @Test("the user declines, or does not answer in 30 s, or answers when the code is too old")
    mutating func notAccepted() {
        #expect(machine.answer(accept: true, now: now) == .nothingWaits)
        _ = scan()
        guard case .taken(let actions) = machine.answer(accept: false, now: now) else {
            Issue.record("nothing waits")
            return
        }
        #expect(reason(actions) == .rejected)
        _ = scan()
        #expect(reason(machine.timedOut(now: now)) == .timeout)
        _ = scan(Fixture.deviceOffer(at: now - 299_000))
        now += 2_000
        #expect(accept() == [.stopTimer, .report(.desktopScan(.expired))])
    }

    @Test("a device that declines: sealed where it can seal")
    mutating func rejected() {
        send()
        #expect(machine.received(PairingFrame(Fixture.reject(), from: Fixture.device), now: now) == [])
        #expect(machine.received(Fixture.sealed(Fixture.reject("999999"), from: Fixture.device), now: now) == [])
        #expect(reason(machine.received(Fixture.sealed(Fixture.reject(), from: Fixture.device), now: now)) == .rejected)
        send(Fixture.deviceOffer(sealed: false))
        #expect(reason(machine.received(PairingFrame(Fixture.reject(), from: Fixture.device), now: now)) == .rejected)
    }

    @Test("the checks come in their order, and each has its reason")
    func checks() {
        func scan(
            _ text: String, _ identity: PairingIdentity? = Fixture.desktopIdentity, legacy: LegacyPairing = .qr,
            secure: Set<PeerID> = []
        ) -> PairingReason? {
            var machine = DesktopScanStateMachine()
            let actions = machine.scan(
                text, identity: identity, legacy: legacy, securePeers: secure, now: Fixture.now)
            return reason(actions)
        }
        #expect(scan("x") == .notJSON)
        #expect(scan("{}", nil) == .wrongType)
        #expect(scan(Fixture.desktopOffer().serialized()) == .wrongType)
        #expect(scan(Fixture.deviceOffer().serialized(), nil) == .noIdentity)
        #expect(scan(Fixture.deviceOffer(did: "phone").serialized()) == .badField)
        #expect(scan(Fixture.deviceOffer(sealed: false).serialized(), legacy: .none) == .notSecure)
        #expect(scan(Fixture.deviceOffer(sealed: false).serialized(), secure: [Fixture.device]) == .notSecure)
        #expect(scan(Fixture.deviceOffer(sealed: false, did: "phone").serialized()) == nil)
        var machine = DesktopScanStateMachine()
        let old = Fixture.deviceOffer(at: Fixture.now - 300_001).serialized()
        #expect(
            machine.scan(old, identity: Fixture.desktopIdentity, now: Fixture.now) == [.report(.desktopScan(.expired))])
    }

    @Test("cancel ends each step but the storing, and the same code joins the scan that is under way")
    mutating func cancel() {
        #expect(machine.cancel() == [])
        _ = scan()
        #expect(scan() == [])
        #expect(machine.cancel() == [.stopTimer, .report(.desktopScan(.cancelled))])
        send()
        #expect(scan() == [])
        #expect(reason(machine.cancel(.timeout)) == .timeout)
        send()
        guard
            case .store(let device)? = machine.received(
                Fixture.sealed(Fixture.hello, from: Fixture.device), now: now
            ).last
        else {
            Issue.record("not paired")
            return
        }
        #expect(scan() == [])
        #expect(machine.cancel() == [])
        #expect(reason(machine.storeFailed(device, detail: "full")) == .storeFailed)
        _ = scan()
        #expect(scan(Fixture.deviceOffer(code: "999999")).count == 3, "another code replaces it")
    }
}
