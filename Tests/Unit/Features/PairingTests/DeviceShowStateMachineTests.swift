import JSON
import Testing
import Wire

@testable import Pairing

/// The code that a device shows (WirePairing, "The desktop scans").
@Suite struct DeviceShowStateMachineTests {
    private static let start = Fixture.now
    private static let relay = Fixture.relay
    private var machine = DeviceShowStateMachine()

    private mutating func show(
        legacy: LegacyPairing = .qr, over route: PairingRoute? = relay,
        as identity: PairingIdentity? = Fixture.deviceIdentity
    ) -> [PairingStep<PairedDesktop>] {
        machine.show(
            Fixture.code("012345"), secret: Fixture.secret, random: nil, identity: identity, over: route,
            legacy: legacy)
    }

    private mutating func display(legacy: LegacyPairing = .qr) {
        _ = show(legacy: legacy)
        _ = machine.routeOnline(Self.relay.id, now: Self.start)
    }

    private mutating func received(
        _ frame: PairingFrame, after milliseconds: EpochMilliseconds = 1_000
    ) -> [PairingStep<PairedDesktop>] {
        machine.received(frame, now: Self.start + milliseconds)
    }

    /// A person accepts the desktop that is asked about.
    private mutating func accept(after milliseconds: EpochMilliseconds = 2_000) -> [PairingStep<PairedDesktop>] {
        guard case .taken(let actions) = machine.answer(accept: true, now: Self.start + milliseconds) else { return [] }
        return actions
    }

    private func reason(_ actions: [PairingStep<PairedDesktop>]) -> PairingReason? {
        guard case .report(.deviceShow(.failed(let failure)))? = actions.last else { return nil }
        return failure.reason
    }

    @Test("the straight way, sealed: registered, displayed, confirmed, stored, and the desktop hears a hello")
    mutating func straight() throws {
        #expect(
            show(legacy: .none) == [.report(.deviceShow(.connecting)), .startTimer(after: 15_000), .open(Self.relay)])
        let offer = Fixture.deviceOffer(at: Self.start)
        let shown = DeviceShowState.displaying(offer, expiresAt: Self.start + 300_000)
        #expect(
            machine.routeOnline(Self.relay.id, now: Self.start) == [
                .startTimer(after: 300_000), .report(.deviceShow(shown)),
            ])
        #expect(try DevicePairingOffer(parsing: offer.serialized(), now: Self.start) == offer)
        #expect(machine.reported.data["payload"] == .string(offer.serialized()))
        #expect(machine.reported.data["expiresAt"] == .integer(Self.start + 300_000))
        let actions = received(Fixture.sealed(Fixture.confirmation(), from: Fixture.desktop))
        guard case .store(let desktop)? = actions.last else {
            Issue.record("not confirmed")
            return
        }
        #expect(actions.first == .stopTimer)
        #expect(desktop.isSecure)
        #expect(desktop.name == "PC")
        #expect(desktop.relayURL == Self.relay.url)
        #expect(desktop.relayWorkedAt == Self.start + 1_000)
        #expect(desktop.shortString == Fixture.bond()?.shortString)
        #expect(
            machine.stored(desktop)
                == [.report(.deviceShow(.completed(desktop))), .sendHello(to: Fixture.desktop, over: Self.relay.id)])
        #expect(machine.heldRoute == nil)
        #expect(machine.dropped.total == 0)
    }

    @Test("a confirmation that is repeated gets its hello again, another desktop's comes too late")
    mutating func repeated() {
        display()
        let frame = Fixture.sealed(Fixture.confirmation(), from: Fixture.desktop)
        guard case .store(let desktop)? = received(frame).last else {
            Issue.record("not confirmed")
            return
        }
        #expect(received(frame) == [])
        _ = machine.stored(desktop)
        #expect(received(frame) == [.sendHello(to: Fixture.desktop, over: Self.relay.id)])
        #expect(received(frame, after: 900_000) == [.sendHello(to: Fixture.desktop, over: Self.relay.id)])
        #expect(received(Fixture.sealed(Fixture.confirmation(desktop: Fixture.evil), from: Fixture.evil)) == [])
        #expect(machine.dropped.notOpen == 1)
        machine.removed(Fixture.desktop)
        #expect(received(frame) == [])
    }

    @Test(
        "a deployed desktop's plain confirmation: the relay's from is its address, its own name a second key; no hello")
    mutating func deployed() {
        for legacy in [LegacyPairing.qr, .all] {
            display(legacy: legacy)
            _ = received(PairingFrame(Fixture.plainConfirmation(), from: "pc"))
            guard case .store(let desktop)? = accept().last else {
                Issue.record("not confirmed")
                return
            }
            #expect(!desktop.isSecure && desktop.shortString == nil)
            #expect(desktop.address == "pc")
            #expect(desktop.pcPeerID == "desktop-unknown")
            #expect(desktop.name == "My PC")
            #expect(machine.stored(desktop) == [.report(.deviceShow(.completed(desktop)))])
            #expect(received(PairingFrame(Fixture.plainConfirmation(), from: "pc")) == [])
        }
        display()
        _ = received(PairingFrame(Fixture.plainConfirmation(pcPeerID: nil), from: "pc"))
        guard case .store(let desktop)? = accept().last else {
            Issue.record("not confirmed")
            return
        }
        #expect(desktop.pcPeerID == "pc")
    }

    @Test("a plain confirmation counts for nothing with legacy none, or of a desktop that is paired sealed")
    mutating func notSecure() {
        display(legacy: .none)
        #expect(received(PairingFrame(Fixture.plainConfirmation(), from: "pc")) == [])
        #expect(received(PairingFrame(Fixture.confirmation(), from: Fixture.desktop)) == [])
        display()
        let known = PairingFrame(Fixture.plainConfirmation(), from: Fixture.desktop, isOfSecurePeer: true)
        #expect(received(known) == [])
        #expect(machine.dropped.notSecure == 3)
        #expect(machine.isActive)
    }

    @Test(
        "wrong codes: thousands are dropped and counted, nothing grows; after ten the right plain one counts no more, the sealed one does"
    )
    mutating func wrongCodes() {
        display()
        let before = MemoryLayout.size(ofValue: machine)
        for number in 0..<5_000 {
            let code = String(String(1_100_000 + number).dropFirst())
            #expect(received(PairingFrame(Fixture.plainConfirmation(code: code), from: "pc")) == [])
        }
        #expect(machine.dropped.wrongCode == 10)
        #expect(machine.dropped.notSecure == 4_990)
        #expect(MemoryLayout.size(ofValue: machine) == before)
        #expect(received(PairingFrame(Fixture.plainConfirmation(), from: "pc")) == [])
        #expect(received(PairingFrame(Fixture.reject(), from: "pc")) == [], "nor ends a guessed rejection it")
        #expect(received(Fixture.sealed(Fixture.confirmation(), from: Fixture.desktop)).count == 2)
        // The next code begins anew.
        display()
        for code in ["111111", "222222", "333333"] {
            #expect(received(PairingFrame(Fixture.plainConfirmation(code: code), from: "pc")) == [])
        }
        #expect(received(PairingFrame(Fixture.plainConfirmation(), from: "pc")).count == 2)
    }

    @Test("what is neither a confirmation nor a rejection is not looked at; a sender that cannot be shown is malformed")
    mutating func others() {
        display()
        #expect(received(PairingFrame(["type": "chainlesschain:event"], from: "pc")) == [])
        #expect(received(Fixture.sealed(Fixture.hello, from: Fixture.desktop)) == [])
        #expect(machine.dropped.total == 0)
        for sender in ["", "a b", "pc\u{1B}[2J", "pc\u{202E}", String(repeating: "x", count: 257)] {
            #expect(received(PairingFrame(Fixture.plainConfirmation(), from: PeerID(sender))) == [])
        }
        #expect(machine.dropped.malformed == 5)
        #expect(machine.isActive)
    }

    @Test("who knows the code but has not seen the QR cannot seal a confirmation")
    mutating func forged() {
        display()
        let wrong = Fixture.confirmation(secret: Fixture.otherSecret, desktop: Fixture.evil)
        #expect(received(Fixture.sealed(wrong, from: Fixture.evil)) == [])
        // The desktop's own proof, in another's seal: a relay that swaps keys.
        #expect(received(Fixture.sealed(Fixture.confirmation(), from: Fixture.evil)) == [])
        #expect(received(Fixture.sealed(Fixture.confirmation(), from: "no-key")) == [])
        #expect(received(Fixture.sealed(Fixture.plainConfirmation(), from: Fixture.evil)) == [])
        #expect(machine.dropped.wrongProof == 4)
        let ahead = Fixture.sealed(Fixture.confirmation(), from: Fixture.desktop, delivery: .stored(at: Self.start))
        #expect(received(ahead) == [])
        #expect(machine.dropped.stored == 1)
        #expect(received(Fixture.sealed(["type": "pairing:confirmation"], from: Fixture.desktop)) == [])
        #expect(machine.dropped.malformed == 1)
    }

    @Test("a rejection of the right code ends it")
    mutating func rejected() {
        display()
        #expect(received(PairingFrame(Fixture.reject("999999"), from: "pc")) == [])
        #expect(machine.dropped.wrongCode == 1)
        #expect(reason(received(PairingFrame(Fixture.reject(), from: "pc"))) == .rejected)
        display(legacy: .none)
        #expect(received(PairingFrame(Fixture.reject(), from: "pc")) == [])
        #expect(reason(received(Fixture.sealed(Fixture.reject(), from: Fixture.desktop))) == .rejected)
    }

    @Test("without an identity, without a relay, with one that does not answer or whose address is none")
    mutating func noRelay() {
        #expect(show(as: nil) == [.report(.deviceShow(.failed(PairingFailure(.noIdentity))))])
        #expect(show(over: nil) == [.report(.deviceShow(.failed(PairingFailure(.noRelay))))])
        _ = show()
        #expect(machine.routeFailed(Self.relay.id, detail: "refused") == [])
        #expect(machine.reported == .connecting)
        #expect(
            machine.timedOut(now: Self.start) == [
                .stopTimer, .close(Self.relay.id),
                .report(.deviceShow(.failed(PairingFailure(.relayUnreachable, detail: "refused")))),
            ])
        _ = show()
        #expect(reason(machine.routeFailed(Self.relay.id, detail: "none", isFinal: true)) == .relayUnreachable)
    }

    @Test("five minutes from when it was displayed, by the clock handed in, also when the timer is late")
    mutating func expiry() {
        display()
        #expect(
            machine.timedOut(now: Self.start) == [.stopTimer, .close(Self.relay.id), .report(.deviceShow(.expired))])
        #expect(received(Fixture.sealed(Fixture.confirmation(), from: Fixture.desktop)) == [])
        #expect(machine.dropped.notOpen == 1)
        display()
        #expect(
            received(Fixture.sealed(Fixture.confirmation(), from: Fixture.desktop), after: 300_001).last
                == .report(.deviceShow(.expired)))
        #expect(machine.reported.data["reason"] == "expired")
    }

    @Test("sleep gives the connection back and keeps the time at which the code ends")
    mutating func sleeps() {
        _ = show()
        #expect(machine.suspended() == [.stopTimer, .close(Self.relay.id)])
        #expect(machine.resumed(now: Self.start) == [.startTimer(after: 15_000), .open(Self.relay)])
        _ = machine.routeOnline(Self.relay.id, now: Self.start)
        let shown = machine.reported
        #expect(machine.suspended() == [.stopTimer, .close(Self.relay.id)])
        #expect(machine.reported == shown)
        #expect(machine.routeOnline(Self.relay.id, now: Self.start) == [])
        #expect(
            machine.resumed(now: Self.start + 100_000) == [.startTimer(after: 200_000), .open(Self.relay)])
        #expect(machine.reported == shown)
        _ = machine.suspended()
        #expect(machine.resumed(now: Self.start - 100_000) == [.startTimer(after: 300_000), .open(Self.relay)])
        _ = machine.suspended()
        #expect(machine.resumed(now: Self.start + 300_001) == [.report(.deviceShow(.expired))])
    }

    @Test("a newer code replaces the one before; a relay that breaks meanwhile does no harm")
    mutating func replaces() {
        display()
        #expect(machine.routeFailed(Self.relay.id, detail: "x") == [])
        #expect(
            show(over: Fixture.own) == [
                .stopTimer, .close(Self.relay.id), .report(.deviceShow(.connecting)), .startTimer(after: 15_000),
                .open(Fixture.own),
            ])
    }

    @Test("cancel ends each step but the storing")
    mutating func cancel() {
        #expect(machine.cancel() == [])
        _ = show()
        #expect(reason(machine.cancel()) == .cancelled)
        _ = show()
        _ = machine.routeFailed(Self.relay.id, detail: "unknown authority")
        let unreached = PairingFailure(.relayUnreachable, detail: "unknown authority")
        #expect(machine.cancel(.timeout).last == .report(.deviceShow(.failed(unreached))), "the relay's fault is told")
        display()
        #expect(reason(machine.cancel(.timeout)) == .timeout)
        display()
        _ = machine.suspended()
        #expect(machine.cancel() == [.report(.deviceShow(.failed(PairingFailure(.cancelled))))])
        display()
        _ = received(PairingFrame(Fixture.plainConfirmation(), from: "pc"))
        guard case .store(let desktop)? = accept().last else {
            Issue.record("not confirmed")
            return
        }
        #expect(machine.cancel() == [])
        #expect(machine.storeFailed("other", detail: nil) == [])
        #expect(
            machine.storeFailed(desktop.id, detail: nil)
                == [.close(Self.relay.id), .report(.deviceShow(.failed(PairingFailure(.storeFailed))))])
    }

    // MARK: Plain confirmations

    private func stores(_ actions: [PairingStep<PairedDesktop>]) -> Bool {
        actions.contains { if case .store = $0 { true } else { false } }
    }

    @Test("a plain confirmation alone pairs nothing: a person is asked, for 30 s")
    mutating func asks() {
        display()
        let frame = PairingFrame(Fixture.plainConfirmation(), from: "pc")
        let asked = received(frame)
        #expect(!stores(asked))
        guard case .report(.deviceShow(.confirming(let desktop, let answerBy)))? = asked.last else {
            Issue.record("nobody was asked")
            return
        }
        #expect(asked.first == .startTimer(after: 30_000))
        #expect(desktop.address == "pc" && !desktop.isSecure && answerBy == Self.start + 31_000)
        #expect(machine.reported.data["state"] == "confirming" && machine.reported.data["desktop"]?["id"] == "pc")
        #expect(machine.isActive && machine.heldRoute == Self.relay)
        // Once; and nobody else is asked about meanwhile.
        #expect(received(frame) == [])
        #expect(received(PairingFrame(Fixture.plainConfirmation(), from: "pc-2")) == [])
        #expect(received(PairingFrame(Fixture.reject(), from: "pc-2")) == [])
        #expect(accept() == [.stopTimer, .store(desktop)])
        #expect(machine.answer(accept: true, now: Self.start) == .nothingWaits)
        #expect(machine.stored(desktop) == [.report(.deviceShow(.completed(desktop)))])
    }

    @Test("a sealed confirmation takes the place of the plain one that is asked about, and asks nobody")
    mutating func displaced() {
        display()
        _ = received(PairingFrame(Fixture.plainConfirmation(), from: "pc"))
        let forged = Fixture.sealed(Fixture.confirmation(secret: Fixture.otherSecret), from: Fixture.desktop)
        #expect(received(forged) == [])
        let actions = received(Fixture.sealed(Fixture.confirmation(), from: Fixture.desktop))
        guard case .store(let desktop)? = actions.last else {
            Issue.record("the real one was dropped")
            return
        }
        #expect(actions.first == .stopTimer && desktop.isSecure && desktop.address == Fixture.desktop)
        #expect(machine.answer(accept: true, now: Self.start) == .nothingWaits)
        #expect(machine.stored(desktop).first == .report(.deviceShow(.completed(desktop))))
    }

    @Test("a no, or no answer, leaves the code open for the desktop that saw it; nobody is asked about twice")
    mutating func declined() {
        display()
        for (number, sender) in (["pc-1", "pc-2", "pc-3"] as [PeerID]).enumerated() {
            #expect(received(PairingFrame(Fixture.plainConfirmation(), from: sender)).count == 2)
            let after = Self.start + 2_000
            let shown: [PairingStep<PairedDesktop>] = [
                .startTimer(after: 298_000),
                .report(.deviceShow(.displaying(Fixture.deviceOffer(at: Self.start), expiresAt: Self.start + 300_000))),
            ]
            if number == 1 {
                #expect(machine.timedOut(now: after) == shown)
            } else {
                #expect(machine.answer(accept: false, now: after) == .taken(shown))
            }
            #expect(received(PairingFrame(Fixture.plainConfirmation(), from: sender)) == [])
        }
        #expect(received(PairingFrame(Fixture.plainConfirmation(), from: "pc-4")) == [], "three are enough")
        #expect(machine.dropped.refused == 4)
        #expect(stores(received(Fixture.sealed(Fixture.confirmation(), from: Fixture.desktop))))
    }

    @Test("asked too late, the code has ended; asleep, whoever was asked about may confirm again")
    mutating func asksLate() {
        display()
        _ = received(PairingFrame(Fixture.plainConfirmation(), from: "pc"), after: 299_000)
        #expect(
            machine.answer(accept: false, now: Self.start + 300_001)
                == .taken([.stopTimer, .close(Self.relay.id), .report(.deviceShow(.expired))]))
        display()
        let shown = machine.reported
        _ = received(PairingFrame(Fixture.plainConfirmation(), from: "pc"))
        #expect(machine.suspended() == [.stopTimer, .close(Self.relay.id), .report(.deviceShow(shown))])
        #expect(machine.resumed(now: Self.start) == [.startTimer(after: 300_000), .open(Self.relay)])
        #expect(received(PairingFrame(Fixture.plainConfirmation(), from: "pc")).count == 2)
        #expect(reason(machine.cancel()) == .cancelled)
    }
}
