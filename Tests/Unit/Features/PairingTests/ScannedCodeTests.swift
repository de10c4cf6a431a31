import JSON
import Testing
import Wire

@testable import Pairing

/// Both sides of both scans against each other, through a relay that loses, duplicates or changes messages.
@Suite struct ScannedCodeTests {
    @Test(
        "A device's scan with one letter in five lost: a device that is paired is paired there too, with one string",
        arguments: 0..<100)
    func lossyOffer(seed: UInt64) {
        var flow = OfferTable(seed: seed)
        let losses = Losses(seed: seed)
        flow.table.carry = { losses.loses() ? [] : [$0] }
        flow.run()
        guard case .success(let desktop) = flow.device.reported else {
            #expect(flow.device.reported == .failed(PairingFailure(.timeout)))
            return
        }
        guard case .paired(let device) = flow.desktop.reported else {
            Issue.record("paired on one side only")
            return
        }
        #expect(desktop.isSecure && device.isSecure)
        #expect(desktop.shortString != nil && desktop.shortString == device.shortString)
    }

    @Test(
        "A desktop's scan with one letter in five lost: a desktop that is paired is paired there too, with one string",
        arguments: 0..<100)
    func lossyShow(seed: UInt64) {
        var flow = ShowTable(seed: seed)
        let losses = Losses(seed: seed)
        flow.table.carry = { losses.loses() ? [] : [$0] }
        flow.run()
        guard case .paired(let device) = flow.desktop.reported else {
            #expect(flow.desktop.reported == .failed(PairingFailure(.timeout)))
            #expect(flow.isWithdrawn)
            return
        }
        #expect(!flow.isWithdrawn)
        guard case .completed(let desktop) = flow.device.reported else {
            Issue.record("paired on one side only")
            return
        }
        #expect(desktop.isSecure && device.isSecure)
        #expect(desktop.shortString != nil && desktop.shortString == device.shortString)
    }

    @Test(
        "A desktop's scan with the first hellos lost, or all: a late one completes it; else the device is told",
        arguments: 0..<14
    )
    func lostHellos(lost: Int) {
        var flow = ShowTable(seed: 1)
        let left = Counter(lost)
        flow.table.carry = { letter in
            letter.payload["type"] == "bellwire:hello" && left.takes() ? [] : [letter]
        }
        flow.run()
        guard case .completed = flow.device.reported else {
            Issue.record("the device was told")
            return
        }
        // Twelve times in half a minute the device answers.
        if lost < 12 {
            #expect(flow.desktop.reported.data["state"] == "paired")
        } else {
            #expect(flow.desktop.reported == .failed(PairingFailure(.timeout)))
        }
        #expect(flow.isWithdrawn == (lost >= 12))
    }

    @Test("letters that come twice change nothing")
    func doubled() {
        var offer = OfferTable(seed: 1)
        offer.table.carry = { [$0, $0] }
        offer.run()
        #expect(offer.desktop.dropped.total == 0 && offer.device.dropped.total == 0)
        guard case .success = offer.device.reported else {
            Issue.record("not paired")
            return
        }
        var show = ShowTable(seed: 1)
        show.table.carry = { [$0, $0] }
        show.run()
        guard case .paired = show.desktop.reported else {
            Issue.record("not paired")
            return
        }
    }

    @Test("a desktop that has lost its scan scans the same code again: new digits, the same on both sides")
    func scannedAgain() {
        var flow = ShowTable(seed: 1)
        // The desktop's process dies before the hello comes.
        flow.table.carry = { $0.payload["type"] == "bellwire:hello" ? [] : [$0] }
        flow.run()
        guard case .completed(let first) = flow.device.reported else {
            Issue.record("not paired")
            return
        }
        flow.table.carry = { [$0] }
        flow.scanAgain()
        guard case .paired(let device) = flow.desktop.reported, case .completed(let desktop) = flow.device.reported
        else {
            Issue.record("not paired again")
            return
        }
        #expect(desktop.shortString != nil && desktop.shortString == device.shortString)
        #expect(desktop.shortString != first.shortString)
        #expect(flow.deviceKey != nil && flow.deviceKey == flow.desktopKey)
    }

    @Test("a relay that seals in its own name what it was given to carry: nothing is paired on either side")
    func swapsKeys() {
        var offer = OfferTable(seed: 1)
        offer.table.carry = { letter in
            var letter = letter
            letter.from = Fixture.evil
            if letter.payload["mobileDid"] != nil {
                var payload = letter.payload.object ?? [:]
                payload["mobileDid"] = .string(Fixture.evil.text)
                letter.payload = .object(payload)
            }
            return [letter]
        }
        offer.run()
        #expect(offer.device.reported == .failed(PairingFailure(.timeout)))
        #expect(offer.desktop.dropped.wrongProof > 0)
        #expect(offer.desktop.isActive, "the offer stays open for its device")

        var show = ShowTable(seed: 1)
        show.table.carry = { letter in
            var letter = letter
            letter.from = Fixture.evil
            return [letter]
        }
        show.run()
        #expect(show.desktop.reported == .failed(PairingFailure(.timeout)))
        #expect(show.device.dropped.wrongProof > 0)
        #expect(show.device.isActive)
    }

    @Test("a relay that opens the seals and sends them on plain: nothing is paired")
    func stripsSeals() {
        var offer = OfferTable(seed: 1)
        offer.table.carry = { letter in
            var letter = letter
            letter.isSealed = false
            return [letter]
        }
        offer.run()
        #expect(offer.device.reported == .failed(PairingFailure(.timeout)))
        guard case .acked(let device, .some) = offer.desktop.reported else {
            Issue.record("a person is asked about a plain device")
            return
        }
        #expect(!device.isSecure)
    }
}

/// Counts down.
private final class Counter {
    private var left: Int

    init(_ left: Int) { self.left = left }

    func takes() -> Bool {
        left -= 1
        return left >= 0
    }
}
