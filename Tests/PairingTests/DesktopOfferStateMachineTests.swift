import JSON
import Testing
import Wire

@testable import Pairing

@Suite struct DesktopOfferStateMachineTests {
    private static let start: EpochMilliseconds = 1_715_760_000_000
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
    ) -> [DesktopOfferAction] {
        machine.received(ack, from: from, delivery: delivery, now: Self.start + milliseconds)
    }

    @Test("the straight way: displayed, acked, stored, paired")
    mutating func straight() throws {
        let offer = try Self.offer()
        let shown = DesktopOfferState.displaying(offer, expiresAt: Self.start + 300_000)
        #expect(machine.show(offer) == [.startTimer(after: 300_000), .report(shown)])
        #expect(machine.reported == shown)
        let device = Self.device(at: Self.start + 1_000, form: .text)
        #expect(
            machine.received(Self.ack(), from: "did:key:zA", form: .text, now: Self.start + 1_000)
                == [.stopTimer, .report(.acked(device)), .store(device)])
        #expect(machine.stored(device) == [.report(.paired(device))])
        #expect(!machine.isActive)
        #expect(machine.dropped.total == 0)
    }

    @Test("a second ack of the same device changes nothing; another device's comes too late")
    mutating func idempotent() throws {
        _ = machine.show(try Self.offer())
        _ = receive()
        let device = Self.device(at: Self.start + 1_000)
        #expect(receive() == [])
        _ = machine.stored(device)
        #expect(receive() == [])
        #expect(machine.dropped.total == 0)
        #expect(receive(Self.ack(did: "did:key:zB"), from: "did:key:zB") == [])
        #expect(machine.dropped.notOpen == 1)
        #expect(machine.reported == .paired(device))
    }

    @Test("a wrong code is dropped and counted, thousands of them; the offer stays open for the right one")
    mutating func wrongCodes() throws {
        _ = machine.show(try Self.offer())
        for number in 0..<5_000 {
            let digits = PairingCode(String(String(2_000_000 + number).dropFirst()))?.digits ?? ""
            #expect(receive(Self.ack(digits)) == [])
        }
        #expect(machine.dropped.wrongCode == 5_000)
        #expect(receive().count == 3)
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
        #expect(receive(delivery: .stored(at: Self.start + 1)).count == 3)
    }

    @Test("five minutes by the clock handed in, also when the timer is late")
    mutating func expiry() throws {
        _ = machine.show(try Self.offer())
        #expect(receive(after: 300_001) == [.stopTimer, .report(.expired)])
        #expect(machine.dropped.notOpen == 1)
        #expect(receive() == [])
        _ = machine.show(try Self.offer())
        #expect(receive(after: 300_000).count == 3)
        machine = DesktopOfferStateMachine()
        _ = machine.show(try Self.offer())
        #expect(machine.timedOut() == [.report(.expired)])
        #expect(machine.timedOut() == [])
    }

    @Test("with a person asked: accepted, declined, and not answered in 30 s; the device hears of a no")
    mutating func confirmation() throws {
        let device = Self.device(at: Self.start + 1_000)
        let code = PairingCode("012345")
        #expect(machine.answer(accept: true) == .nothingWaits)
        _ = machine.show(try Self.offer(), confirm: true)
        #expect(machine.answer(accept: true) == .nothingWaits)
        #expect(receive() == [.startTimer(after: 30_000), .report(.acked(device))])
        #expect(receive() == [])
        #expect(machine.answer(accept: true) == .taken([.stopTimer, .store(device)]))
        #expect(machine.answer(accept: false) == .nothingWaits)
        _ = machine.stored(device)
        #expect(machine.reported == .paired(device))

        let reject = DesktopOfferAction.sendReject(PairingReject(code: code), to: "did:key:zA")
        _ = machine.show(try Self.offer(), confirm: true)
        _ = receive()
        #expect(
            machine.answer(accept: false)
                == .taken([.stopTimer, reject, .report(.failed(PairingFailure(.rejected)))]))

        _ = machine.show(try Self.offer(), confirm: true)
        _ = receive()
        #expect(machine.timedOut() == [reject, .report(.failed(PairingFailure(.timeout)))])
    }

    @Test("a newer offer replaces the one before: its code counts, the old one does not")
    mutating func replaces() throws {
        _ = machine.show(try Self.offer("111111"))
        _ = machine.show(try Self.offer("222222"))
        #expect(receive(Self.ack("111111")) == [])
        #expect(machine.dropped.wrongCode == 1)
        #expect(receive(Self.ack("222222")).count == 3)
        _ = machine.show(try Self.offer("333333"), confirm: true)
        _ = receive(Self.ack("333333"))
        #expect(
            machine.show(try Self.offer("444444")).first
                == .sendReject(PairingReject(code: PairingCode("333333")), to: "did:key:zA"))
    }

    @Test("cancel ends it while it is shown or asked about, not while it is stored or over")
    mutating func cancel() throws {
        #expect(machine.cancel() == [])
        _ = machine.show(try Self.offer())
        #expect(machine.cancel() == [.stopTimer, .report(.cancelled)])
        #expect(receive() == [])
        _ = machine.show(try Self.offer(), confirm: true)
        _ = receive()
        #expect(machine.cancel().count == 3)
        _ = machine.show(try Self.offer())
        _ = receive()
        #expect(machine.cancel() == [])
        #expect(machine.storeFailed("did:key:zB", detail: nil) == [])
        guard case .report(.failed(let failure))? = machine.storeFailed("did:key:zA", detail: "full").first else {
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
            _ = machine.received(Self.ack(), from: "did:key:zA", now: 0)
            _ = machine.received(Self.ack(), from: "did:key:zA", delivery: .stored(at: .min), now: .max)
        }
    }

    @Test("no sequence of events breaks it, and every offer ends: 300 seeds of 300 events", arguments: 0..<300)
    func model(seed: Int) throws {
        var model = OfferModel(
            seed: UInt64(seed), offers: [try Self.offer(), try Self.offer("999999")],
            acks: [
                (Self.ack(), "did:key:zA"), (Self.ack("999999"), "did:key:zA"),
                (Self.ack(did: "did:key:zB"), "did:key:zB"), (Self.ack(), "did:key:zEvil"), ([:], "did:key:zA"),
            ], now: Self.start)
        for _ in 0..<300 { model.step() }
        model.finish()
    }
}

/// The owner, as the machine believes it to be.
private struct OfferModel {
    private var machine = DesktopOfferStateMachine()
    private var random: SeededGenerator
    private let offers: [DesktopPairingOffer]
    private let acks: [(JSONObject, PeerID)]
    private var now: EpochMilliseconds
    private var timer: UInt64?
    private var storing: PairedDevice?

    init(seed: UInt64, offers: [DesktopPairingOffer], acks: [(JSONObject, PeerID)], now: EpochMilliseconds) {
        random = SeededGenerator(seed: seed)
        self.offers = offers
        self.acks = acks
        self.now = now
    }

    private mutating func carryOut(_ actions: [DesktopOfferAction]) {
        for (index, action) in actions.enumerated() {
            switch action {
            case .startTimer(let wait):
                #expect(wait <= 300_000)
                timer = wait
            case .stopTimer: timer = nil
            case .store(let device):
                #expect(index == actions.count - 1, "more follows what may cause the next event")
                #expect(["did:key:zA", "did:key:zB"].contains(device.did))
                storing = device
            case .sendReject(_, let peer): #expect(peer != "did:key:zEvil")
            case .report(let state):
                #expect(state == machine.reported)
            }
        }
        if machine.isActive, storing == nil { #expect(timer != nil, "a step without a limit") }
        if !machine.isActive { #expect(timer == nil, "a timer is kept") }
    }

    mutating func step() {
        now += Int64.random(in: 0...2_000, using: &random)
        switch Int.random(in: 0..<12, using: &random) {
        case 0:
            guard var offer = offers.randomElement(using: &random) else { return }
            offer.timestamp = now
            storing = nil
            carryOut(machine.show(offer, confirm: Bool.random(using: &random)))
        case 1: carryOut(machine.cancel())
        case 2: fire()
        case 3, 4:
            let accept = Bool.random(using: &random)
            if case .taken(let actions) = machine.answer(accept: accept) { carryOut(actions) }
        case 5, 6: finishStoring()
        default:
            guard let (ack, from) = acks.randomElement(using: &random) else { return }
            let isLive = Int.random(in: 0..<4, using: &random) > 0
            carryOut(machine.received(ack, from: from, delivery: isLive ? .live : .stored(at: now - 1_000), now: now))
        }
    }

    private mutating func finishStoring() {
        guard let device = storing else { return }
        storing = nil
        carryOut(Bool.random(using: &random) ? machine.stored(device) : machine.storeFailed(device.did, detail: nil))
    }

    private mutating func fire() {
        guard let wait = timer else { return }
        timer = nil
        now += Int64(wait)
        carryOut(machine.timedOut())
    }

    mutating func finish() {
        for _ in 0..<4 where machine.isActive {
            fire()
            finishStoring()
        }
        #expect(!machine.isActive)
    }
}
