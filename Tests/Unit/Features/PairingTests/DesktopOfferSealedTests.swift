import JSON
import Testing
import Wire

@testable import Pairing

/// An offer that Bellwire devices answer sealed (WirePairing, "The device scans").
@Suite struct DesktopOfferSealedTests {
    private static let start = Fixture.now
    private var machine = DesktopOfferStateMachine()

    private mutating func received(
        _ frame: PairingFrame, after milliseconds: EpochMilliseconds = 1_000
    ) -> [PairingStep<PairedDevice>] {
        machine.received(frame, now: Self.start + milliseconds)
    }

    private static func ack(_ ack: JSONObject = Fixture.ack(), from: PeerID = Fixture.device) -> PairingFrame {
        Fixture.sealed(ack, from: from)
    }

    @Test(
        "a sealed ack with the right proof pairs at once, whatever is allowed to others; the confirmation has its proof"
    )
    mutating func straight() throws {
        _ = machine.show(Fixture.desktopOffer(), legacy: .none)
        let actions = received(Self.ack())
        guard case .store(let device)? = actions.last else {
            Issue.record("not taken")
            return
        }
        #expect(actions == [.stopTimer, .report(.desktopOffer(.acked(device, answerBy: nil))), .store(device)])
        #expect(device.isSecure)
        #expect(device.shortString == Fixture.bond()?.shortString)
        let stored = machine.stored(device, now: Self.start + 1_500)
        guard case .send(.confirmation(let confirmation), to: Fixture.device, sealed: true, _)? = stored.last else {
            Issue.record("not confirmed")
            return
        }
        #expect(stored.first == .report(.desktopOffer(.paired(device))))
        #expect(Fixture.bond()?.proves(confirmation) == true)
        #expect(machine.reported.data["device"]?["secure"] == true)
        #expect(machine.reported.data["device"]?["sas"]?["digits"]?.string?.utf8.count == 6)
    }

    @Test("an ack that is repeated is confirmed again, once the device is stored")
    mutating func repeated() {
        _ = machine.show(Fixture.desktopOffer())
        guard case .store(let device)? = received(Self.ack()).last else {
            Issue.record("not taken")
            return
        }
        #expect(received(Self.ack()) == [])
        _ = machine.stored(device, now: Self.start)
        guard case .send(.confirmation, to: _, sealed: _, _)? = received(Self.ack()).first else {
            Issue.record("not confirmed again")
            return
        }
        #expect(machine.dropped.total == 0)
        machine.removed(Fixture.device)
        #expect(received(Self.ack()) == [])
    }

    @Test("where the host asks a person, a sealed ack waits for that as well, and a no is sealed")
    mutating func asks() {
        _ = machine.show(Fixture.desktopOffer(confirm: true))
        guard
            case .report(.desktopOffer(.acked(let device, answerBy: Self.start + 31_000)))? = received(Self.ack()).last
        else {
            Issue.record("not asked")
            return
        }
        #expect(machine.reported.data["confirm"] == true)
        #expect(
            machine.answer(accept: false, now: Self.start)
                == .taken([
                    .stopTimer,
                    .send(
                        .reject(PairingReject(code: Fixture.code("012345"))), to: device.did, sealed: true, .lastHeard()
                    ),
                    .report(.desktopOffer(.failed(PairingFailure(.rejected)))),
                ]))
    }

    @Test(
        "who knows the code but has not seen the QR: every forged ack is dropped and counted, and the offer stays open")
    mutating func forged() {
        _ = machine.show(Fixture.desktopOffer())
        let device = Fixture.device
        let forged = [
            Fixture.ack(secret: Fixture.otherSecret), Fixture.ack(desktop: Fixture.evil),
            Fixture.ack(device: Fixture.evil), Fixture.ack(code: "999999"),
        ]
        // In its own name, with another's proof.
        var borrowed = Fixture.ack()
        borrowed["mobileDid"] = .string(Fixture.evil.text)
        #expect(received(Self.ack(forged[0])) == [])
        #expect(received(Self.ack(forged[1])) == [])
        #expect(received(Self.ack(borrowed, from: Fixture.evil)) == [])
        var bare = Fixture.ack()
        bare["bw"] = nil
        #expect(received(Self.ack(bare)) == [])
        var other = Fixture.ack()
        other["timestamp"] = .integer(Self.start + 1)
        #expect(received(Self.ack(other)) == [])
        #expect(received(Self.ack(Fixture.confirmation())) == [])
        #expect(machine.dropped.wrongProof == 5)
        #expect(machine.dropped.malformed == 1)
        #expect(received(Self.ack(forged[2], from: device)) == [])
        #expect(received(Self.ack(Fixture.ack(), from: Fixture.evil)) == [])
        #expect(machine.dropped.wrongSender == 2)
        #expect(received(Self.ack(forged[3])) == [])
        #expect(machine.dropped.wrongCode == 1)
        #expect(received(Self.ack()).count == 3)
    }

    @Test("a sealed ack proves nothing where the offer had no secret")
    mutating func noSecret() {
        var offer = Fixture.desktopOffer()
        offer.seal = nil
        _ = machine.show(offer)
        #expect(received(Self.ack()) == [])
        #expect(machine.dropped.wrongProof == 1)
    }

    @Test("acks that were sent ahead and stored count for nothing")
    mutating func storedAhead() {
        _ = machine.show(Fixture.desktopOffer())
        for time in [nil, Self.start - 1, Self.start] as [EpochMilliseconds?] {
            #expect(
                received(Fixture.sealed(Fixture.ack(), from: Fixture.device, delivery: .stored(at: time))) == [])
        }
        #expect(machine.dropped.stored == 3)
        let since = SignallingDelivery.stored(at: Self.start + 1)
        #expect(received(Fixture.sealed(Fixture.ack(), from: Fixture.device, delivery: since)).count == 3)
    }

    @Test("who has seen the QR goes before a plain ack that waits for a person; never the other way round")
    mutating func precedence() {
        _ = machine.show(Fixture.desktopOffer())
        var plain = Fixture.ack(device: Fixture.evil)
        plain["bw"] = nil
        _ = received(PairingFrame(plain, from: Fixture.evil))
        #expect(machine.reported.data["device"]?["secure"] == false)
        let actions = received(Self.ack())
        #expect(
            actions.first
                == .send(
                    .reject(PairingReject(code: Fixture.code("012345"))), to: Fixture.evil, sealed: false, .lastHeard())
        )
        guard case .store(let device)? = actions.last else {
            Issue.record("not taken")
            return
        }
        #expect(device.did == Fixture.device)
        #expect(received(PairingFrame(plain, from: Fixture.evil)) == [])
        #expect(machine.dropped.notOpen == 1)
    }

    @Test("wrong codes, thousands of them, are no hindrance for who has seen the QR")
    mutating func openAfterGuesses() {
        _ = machine.show(Fixture.desktopOffer())
        for number in 0..<5_000 {
            var plain = Fixture.ack(device: Fixture.evil, code: String(String(1_100_000 + number).dropFirst()))
            plain["bw"] = nil
            #expect(received(PairingFrame(plain, from: Fixture.evil)) == [])
        }
        #expect(received(Self.ack()).count == 3)
    }

    @Test("a device that takes the place of another one: what was answered in that moment was meant for the other")
    mutating func tooFresh() {
        _ = machine.show(Fixture.desktopOffer(confirm: true))
        var plain = Fixture.ack(device: Fixture.evil)
        plain["bw"] = nil
        _ = received(PairingFrame(plain, from: Fixture.evil))
        _ = received(Self.ack(), after: 5_000)
        #expect(machine.answer(accept: true, now: Self.start + 5_999) == .nothingWaits)
        #expect(machine.answer(accept: false, now: Self.start + 5_000) == .nothingWaits)
        guard case .taken(let actions) = machine.answer(accept: true, now: Self.start + 6_000) else {
            Issue.record("not taken")
            return
        }
        guard case .store(let device)? = actions.last else {
            Issue.record("not stored")
            return
        }
        #expect(device.isSecure)
        // A clock that was set back is no reason to wait.
        _ = machine.show(Fixture.desktopOffer(confirm: true))
        _ = received(PairingFrame(plain, from: Fixture.evil))
        _ = received(Self.ack(), after: 5_000)
        #expect(machine.answer(accept: true, now: Self.start) != .nothingWaits)
    }

    @Test("an ack that is repeated after the offer's end is not confirmed any more")
    mutating func repeatedTooLate() {
        _ = machine.show(Fixture.desktopOffer())
        guard case .store(let device)? = received(Self.ack()).last else {
            Issue.record("not taken")
            return
        }
        _ = machine.stored(device, now: Self.start)
        #expect(received(Self.ack(), after: 300_000).count == 1)
        #expect(received(Self.ack(), after: 300_001) == [])
    }

    @Test("after any number of plain acks that were declined, who has seen the QR pairs")
    mutating func openAfterRefusals() {
        _ = machine.show(Fixture.desktopOffer())
        for seed in 10..<20 as Range<UInt8> {
            var plain = Fixture.ack(device: Fixture.did(seed))
            plain["bw"] = nil
            let actions = received(PairingFrame(plain, from: Fixture.did(seed)))
            #expect((actions.isEmpty ? 0 : 1) == (seed < 13 ? 1 : 0))
            _ = machine.answer(accept: false, now: Self.start)
        }
        #expect(machine.dropped.refused == 7)
        guard case .store(let device)? = received(Self.ack()).last else {
            Issue.record("not taken")
            return
        }
        #expect(device.isSecure)
    }

    @Test("names that are hostile are clean wherever they are shown")
    mutating func names() {
        for name in [
            "a\u{1B}[31m\u{202E}b\n", String(repeating: "x", count: 100_000), "<script>alert(1)</script>",
            String(repeating: "\u{0}", count: 100_000),
        ] {
            _ = machine.show(Fixture.desktopOffer())
            var ack = Fixture.ack()
            ack["deviceInfo"] = ["deviceId": "i-1", "name": .string(name), "platform": "linux"]
            _ = received(Self.ack(ack))
            guard case .acked(let device, _) = machine.reported else {
                Issue.record("not acked")
                continue
            }
            #expect(device.name == DisplayText.clean(name))
            #expect(device.name.unicodeScalars.count <= 80)
        }
    }
}
