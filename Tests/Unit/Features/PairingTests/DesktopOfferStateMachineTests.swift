import JSON
import Testing
import Wire

@testable import Pairing

/// An offer that deployed phones answer with a plain ack, and what all offers have in common.
@Suite struct DesktopOfferStateMachineTests {
    private static let start = Fixture.now
    private var machine = DesktopOfferStateMachine()

    private static func offer(_ code: String = "012345", at time: EpochMilliseconds = start) throws
        -> DesktopPairingOffer
    {
        DesktopPairingOffer(
            code: try #require(PairingCode(code)), pcPeerID: "pc",
            deviceInfo: PairingDeviceInfo(name: "PC", platform: "linux"), timestamp: time)
    }

    private static func ack(_ code: String = "012345", did: String = "did:key:zA") -> JSONObject {
        [
            "type": "pair-ack", "pairingCode": .string(code), "mobileDid": .string(did),
            "deviceInfo": ["deviceId": "i-1", "name": " My\nPhone ", "platform": "ios"], "timestamp": 1,
        ]
    }

    private static func device(_ did: PeerID = "did:key:zA", at time: EpochMilliseconds, form: PayloadForm = .object)
        -> PairedDevice
    {
        PairedDevice(
            did: did, deviceID: "i-1", name: "My Phone", platform: "ios", pairedAt: time, lastSeenAt: time,
            payloadForm: form)
    }

    private mutating func receive(
        _ ack: JSONObject = ack(), from: PeerID = "did:key:zA", delivery: SignallingDelivery = .live,
        after milliseconds: Int64 = 1_000
    ) -> [PairingStep<PairedDevice>] {
        machine.received(PairingFrame(ack, from: from, delivery: delivery), now: Self.start + milliseconds)
    }

    /// The device is asked about, accepted and stored.
    private mutating func pair(_ device: PairedDevice = device(at: start + 1_000)) {
        _ = receive()
        _ = machine.answer(accept: true, now: Self.start)
        _ = machine.stored(device, now: Self.start)
    }

    @Test(
        "the straight way of a plain ack: displayed, acked, accepted by a person, stored, paired, and it gets its sign")
    mutating func straight() throws {
        let offer = try Self.offer()
        let shown = DesktopOfferState.displaying(offer, expiresAt: Self.start + 300_000)
        #expect(machine.show(offer) == [.startTimer(after: 300_000), .report(.desktopOffer(shown))])
        #expect(machine.reported == shown)
        let device = Self.device(at: Self.start + 1_000, form: .text)
        let asked = DesktopOfferState.acked(device, answerBy: Self.start + 31_000)
        #expect(
            machine.received(PairingFrame(Self.ack(), from: "did:key:zA", form: .text), now: Self.start + 1_000)
                == [.startTimer(after: 30_000), .report(.desktopOffer(asked))])
        #expect(
            machine.answer(accept: true, now: Self.start)
                == .taken([.stopTimer, .report(.desktopOffer(.acked(device, answerBy: nil))), .store(device)]))
        #expect(
            machine.stored(device, now: Self.start)
                == [
                    .report(.desktopOffer(.paired(device))),
                    .iceServers(of: offer.pcPeerID, to: "did:key:zA", at: Self.start),
                ])
        #expect(!machine.isActive)
        #expect(machine.dropped.total == 0)
    }

    @Test(
        "a plain ack always waits for a person, whatever the host has asked for; with legacy none it counts for nothing"
    )
    mutating func plainAlwaysAsks() throws {
        for legacy in [LegacyPairing.qr, .all] {
            _ = machine.show(try Self.offer(), confirm: false, legacy: legacy)
            #expect(receive().first == .startTimer(after: 30_000))
        }
        _ = machine.show(try Self.offer(), confirm: false, legacy: .none)
        #expect(receive() == [])
        #expect(machine.dropped.notSecure == 1)
        #expect(machine.answer(accept: true, now: Self.start) == .nothingWaits)
    }

    @Test("a plain ack of a device that is paired sealed changes nothing, not even a question")
    mutating func plainOfSecure() throws {
        _ = machine.show(try Self.offer())
        let frame = PairingFrame(Self.ack(), from: "did:key:zA", isOfSecurePeer: true)
        #expect(machine.received(frame, now: Self.start) == [])
        #expect(machine.dropped.notSecure == 1)
    }

    @Test("a second ack of the same device changes nothing; another device's comes too late")
    mutating func idempotent() throws {
        _ = machine.show(try Self.offer())
        _ = receive()
        let device = Self.device(at: Self.start + 1_000)
        #expect(receive() == [])
        _ = machine.answer(accept: true, now: Self.start)
        #expect(receive() == [])
        _ = machine.stored(device, now: Self.start)
        #expect(receive() == [])
        #expect(machine.dropped.total == 0)
        #expect(receive(Self.ack(did: "did:key:zB"), from: "did:key:zB") == [])
        #expect(machine.dropped.notOpen == 1)
        #expect(machine.reported == .paired(device))
    }

    @Test(
        "wrong codes are dropped and counted, thousands of them; after ten the right one counts no more in plain text")
    mutating func wrongCodes() throws {
        _ = machine.show(try Self.offer())
        for number in 0..<5_000 {
            let digits = PairingCode(String(String(2_000_000 + number).dropFirst()))?.digits ?? ""
            #expect(receive(Self.ack(digits)) == [])
        }
        #expect(machine.dropped.wrongCode == 5_000)
        #expect(receive() == [])
        #expect(machine.dropped.notSecure == 1)
        #expect(machine.isActive)
        _ = machine.show(try Self.offer())
        for number in 0..<9 { #expect(receive(Self.ack("20000\(number)")) == []) }
        #expect(receive().count == 2)
        // Guesses while a person is asked count too.
        #expect(receive(Self.ack("999999", did: "did:key:zB"), from: "did:key:zB") == [])
        _ = machine.answer(accept: false, now: Self.start)
        #expect(receive(Self.ack(did: "did:key:zB"), from: "did:key:zB") == [])
    }

    @Test("who sends is what the relay says: an ack in another's name is dropped")
    mutating func forgedSender() throws {
        _ = machine.show(try Self.offer())
        #expect(receive(from: "did:key:zEvil") == [])
        #expect(receive(Self.ack(did: "did:key:zEvil")) == [])
        #expect(machine.dropped.wrongSender == 2)
    }

    @Test("fields that do not hold are dropped")
    mutating func malformed() throws {
        _ = machine.show(try Self.offer())
        #expect(receive([:]) == [])
        #expect(receive(["type": "pairing:confirmation"]) == [])
        #expect(receive(Self.ack("12345")) == [])
        #expect(receive(Self.ack(did: "a b"), from: "a b") == [])
        var bad = Self.ack()
        bad["deviceInfo"] = ["deviceId": "<script>", "name": "n", "platform": "ios"]
        #expect(receive(bad) == [])
        #expect(machine.dropped.malformed == 5)
    }

    @Test("a stored ack counts only if it was stored after the offer began")
    mutating func storedAcks() throws {
        _ = machine.show(try Self.offer())
        #expect(receive(delivery: .stored(at: nil)) == [])
        #expect(receive(delivery: .stored(at: Self.start - 1)) == [])
        #expect(receive(delivery: .stored(at: Self.start)) == [])
        #expect(machine.dropped.stored == 3)
        #expect(receive(delivery: .stored(at: Self.start + 1)).count == 2)
    }

    @Test("five minutes by the clock handed in, also when the timer is late")
    mutating func expiry() throws {
        _ = machine.show(try Self.offer())
        #expect(receive(after: 300_001) == [.stopTimer, .report(.desktopOffer(.expired))])
        #expect(machine.dropped.notOpen == 1)
        #expect(receive() == [])
        _ = machine.show(try Self.offer())
        #expect(receive(after: 300_000).count == 2)
        machine = DesktopOfferStateMachine()
        _ = machine.show(try Self.offer())
        #expect(machine.timedOut(now: Self.start) == [.report(.desktopOffer(.expired))])
        #expect(machine.timedOut(now: Self.start) == [])
    }

    @Test(
        "a plain ack that a person declines, or leaves without an answer: the device hears of it, the offer stays open")
    mutating func confirmation() throws {
        #expect(machine.answer(accept: true, now: Self.start) == .nothingWaits)
        _ = machine.show(try Self.offer(), confirm: true)
        #expect(machine.answer(accept: true, now: Self.start) == .nothingWaits)
        pair()
        #expect(machine.answer(accept: false, now: Self.start) == .nothingWaits)

        let reject = PairingStep<PairedDevice>.send(
            .reject(PairingReject(code: PairingCode("012345"))), to: "did:key:zA", sealed: false, .lastHeard())
        _ = machine.show(try Self.offer())
        _ = receive()
        let shown = DesktopOfferState.displaying(try Self.offer(), expiresAt: Self.start + 300_000)
        #expect(
            machine.answer(accept: false, now: Self.start + 10_000)
                == .taken([.stopTimer, reject, .startTimer(after: 290_000), .report(.desktopOffer(shown))]))
        #expect(machine.reported == shown)

        _ = machine.show(try Self.offer(), confirm: true)
        _ = receive()
        #expect(
            machine.timedOut(now: Self.start + 31_000) == [
                reject, .startTimer(after: 269_000), .report(.desktopOffer(shown)),
            ])
        // Its end is the same as before.
        #expect(machine.timedOut(now: Self.start + 300_000) == [.report(.desktopOffer(.expired))])
    }

    @Test("six digits do not use up an offer: nobody is asked twice about one sender, nor about more than three")
    mutating func refusals() throws {
        _ = machine.show(try Self.offer())
        for sender in ["did:key:zA", "did:key:zB", "did:key:zC"] {
            #expect(receive(Self.ack(did: sender), from: PeerID(sender)).count == 2)
            #expect(receive(Self.ack(did: sender), from: PeerID(sender)) == [])
            _ = machine.answer(accept: false, now: Self.start)
            #expect(receive(Self.ack(did: sender), from: PeerID(sender)) == [])
        }
        #expect(machine.dropped.refused == 3)
        for number in 0..<1_000 {
            #expect(receive(Self.ack(did: "did:key:z\(number)"), from: PeerID("did:key:z\(number)")) == [])
        }
        #expect(machine.dropped.refused == 1_003)
        #expect(machine.isActive)
        // A new offer begins anew.
        _ = machine.show(try Self.offer())
        #expect(receive().count == 2)
    }

    @Test("a no that comes after the offer's end is its end")
    mutating func refusedTooLate() throws {
        _ = machine.show(try Self.offer())
        _ = receive(after: 299_000)
        guard case .taken(let actions) = machine.answer(accept: false, now: Self.start + 300_001) else {
            Issue.record("nothing waited")
            return
        }
        #expect(actions.last == .report(.desktopOffer(.expired)))
        _ = machine.show(try Self.offer())
        _ = receive(after: 299_000)
        #expect(machine.timedOut(now: Self.start + 329_000).last == .report(.desktopOffer(.expired)))
        #expect(!machine.isActive)
    }

    @Test("a newer offer replaces the one before: its code counts, the old one does not")
    mutating func replaces() throws {
        _ = machine.show(try Self.offer("111111"))
        _ = machine.show(try Self.offer("222222"))
        #expect(receive(Self.ack("111111")) == [])
        #expect(machine.dropped.wrongCode == 1)
        #expect(receive(Self.ack("222222")).count == 2)
        _ = machine.show(try Self.offer("333333"), confirm: true)
        _ = receive(Self.ack("333333"))
        #expect(
            machine.show(try Self.offer("444444")).first
                == .send(
                    .reject(PairingReject(code: PairingCode("333333"))), to: "did:key:zA", sealed: false, .lastHeard()))
    }

    @Test("cancel ends it while it is shown or asked about, not while it is stored or over")
    mutating func cancel() throws {
        #expect(machine.cancel() == [])
        _ = machine.show(try Self.offer())
        #expect(machine.cancel() == [.stopTimer, .report(.desktopOffer(.cancelled))])
        #expect(receive() == [])
        _ = machine.show(try Self.offer(), confirm: true)
        _ = receive()
        #expect(machine.cancel().count == 3)
        _ = machine.show(try Self.offer())
        _ = receive()
        _ = machine.answer(accept: true, now: Self.start)
        #expect(machine.cancel() == [])
        #expect(machine.storeFailed("did:key:zB", detail: nil) == [])
        guard
            case .report(.desktopOffer(.failed(let failure)))? = machine.storeFailed("did:key:zA", detail: "full").last
        else {
            Issue.record("not failed")
            return
        }
        #expect(failure.reason == .storeFailed)
        #expect(machine.cancel() == [])
    }

    @Test("absurd times do not trap")
    mutating func absurdTimes() throws {
        for time in [EpochMilliseconds.min, .max] {
            _ = machine.show(try Self.offer(at: time))
            _ = machine.received(PairingFrame(Self.ack(), from: "did:key:zA"), now: 0)
            _ = machine.received(
                PairingFrame(Self.ack(), from: "did:key:zA", delivery: .stored(at: .min)), now: .max)
        }
    }
}
