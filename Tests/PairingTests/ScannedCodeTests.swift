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

private struct OfferTable {
    var table: PairingTable
    var device = DeviceScanStateMachine()
    var desktop = DesktopOfferStateMachine()
    private var timer: UInt64?

    init(seed: UInt64) { table = PairingTable(seed: seed) }

    mutating func run() {
        perform(desktop.show(Fixture.desktopOffer()))
        perform(
            device.scan(Fixture.desktopOffer().serialized(), identity: Fixture.deviceIdentity, now: table.now))
        for _ in 0..<100 where device.isActive {
            deliver()
            guard device.isActive, let wait = timer else { continue }
            timer = nil
            table.now += Int64(wait)
            perform(device.stepTimedOut(now: table.now))
        }
    }

    private mutating func deliver() {
        while let letter = table.next() {
            if letter.to == Fixture.desktop {
                perform(desktop.received(table.frame(letter), now: table.now))
            } else {
                perform(device.received(table.frame(letter), now: table.now))
            }
        }
    }

    private mutating func perform(_ actions: [DeviceScanAction]) {
        for action in actions {
            switch action {
            case .open(let route): perform(device.routeOnline(route, now: table.now))
            case .sendAck(let ack, let peer, let isSealed, let route):
                table.send(ack.json, from: Fixture.device, to: peer, sealed: isSealed)
                perform(device.ackSent(true, over: route, now: table.now))
            case .close, .report: break
            case .startTimer(let wait): timer = wait
            case .stopTimer: timer = nil
            case .store(let desktop): perform(device.stored(desktop))
            }
        }
    }

    private mutating func perform(_ actions: [DesktopOfferAction]) {
        for action in actions {
            switch action {
            case .startTimer, .stopTimer, .report: break
            case .store(let device): perform(desktop.stored(device, now: table.now))
            case .sendChallenge(let challenge, let peer):
                table.send(challenge.json, from: Fixture.desktop, to: peer, sealed: true)
            case .sendConfirmation(let confirmation, let peer):
                table.send(confirmation.json, from: Fixture.desktop, to: peer, sealed: true)
            case .sendReject(let reject, let peer, let isSealed):
                table.send(reject.json, from: Fixture.desktop, to: peer, sealed: isSealed)
            case .sendICEConfig(let peer):
                let config = ICEConfig(pcPeerID: Fixture.desktop, iceServersJSON: "[]")
                table.send(config.json, from: Fixture.desktop, to: peer, sealed: false)
            }
        }
    }
}

private struct ShowTable {
    var table: PairingTable
    var device = DeviceShowStateMachine()
    var desktop = DesktopScanStateMachine()
    /// The device is told that it is not paired.
    private(set) var isWithdrawn = false
    private var timer: UInt64?

    init(seed: UInt64) { table = PairingTable(seed: seed) }

    mutating func run() {
        perform(
            device.show(
                Fixture.code("012345"), secret: Fixture.secret, random: Fixture.deviceRandom,
                identity: Fixture.deviceIdentity, over: Fixture.relay))
        guard case .displaying(let offer, _) = device.reported else { return }
        perform(desktop.scan(offer.serialized(), identity: Fixture.desktopIdentity, now: table.now))
        if case .taken(let actions) = desktop.answer(accept: true, now: table.now) { perform(actions) }
        for _ in 0..<100 where desktop.isActive {
            deliver()
            guard desktop.isActive, let wait = timer else { continue }
            timer = nil
            table.now += Int64(wait)
            perform(desktop.timedOut(now: table.now))
        }
    }

    private mutating func deliver() {
        while let letter = table.next() {
            if letter.to == Fixture.desktop {
                perform(desktop.received(table.frame(letter), now: table.now))
            } else {
                perform(device.received(table.frame(letter), now: table.now))
            }
        }
    }

    private mutating func perform(_ actions: [DeviceShowAction]) {
        for action in actions {
            switch action {
            case .open(let route): perform(device.routeOnline(route, now: table.now))
            case .close, .startTimer, .stopTimer, .report: break
            case .sendHello(let peer, _, let proof):
                table.send(
                    PairingHello(lastPushSeq: 0, proof: proof).json, from: Fixture.device, to: peer, sealed: true)
            case .store(let desktop): perform(device.stored(desktop))
            }
        }
    }

    private mutating func perform(_ actions: [DesktopScanAction]) {
        for action in actions {
            switch action {
            case .startTimer(let wait): timer = wait
            case .stopTimer: timer = nil
            case .report: break
            case .sendConfirmation(let confirmation, let peer, let isSealed):
                table.send(confirmation.json, from: Fixture.desktop, to: peer, sealed: isSealed)
                perform(desktop.confirmationSent(toRelays: 1, now: table.now))
            case .repeatConfirmation(let confirmation, let peer):
                table.send(confirmation.json, from: Fixture.desktop, to: peer, sealed: true)
            case .withdraw: isWithdrawn = true
            case .store(let device): perform(desktop.stored(device, now: table.now))
            }
        }
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
