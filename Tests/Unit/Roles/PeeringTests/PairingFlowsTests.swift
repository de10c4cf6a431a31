import JSON
import Pairing
import Sealing
import Signalling
import Store
import TestSupport
import Testing
import Wire

@testable import Peering

private let phone = PeerID("phone")
private let laptop = PeerID("laptop")

@Suite struct PairingFlowsTests {
    private typealias Flows = PairingFlows<StubPeer>

    private func records(_ steps: Flows.Steps, _ flows: inout Flows) -> [PairingRecord<StubPeer>] {
        var records: [PairingRecord<StubPeer>] = []
        for case (let flow, .store(let peer)) in steps { records.append(flows.begin(peer, of: flow)) }
        return records
    }

    private func paths(_ steps: Flows.Steps) -> [PairingPath] {
        steps.compactMap { if case .send(_, _, _, let path) = $0.step { path } else { nil } }
    }

    private func flows() -> Flows {
        var flows = Flows([FirstStub(), CodeStub(), LastStub()])
        _ = flows.change(FirstStub.self) { $0.show() }
        return flows
    }

    private func receive(
        _ flows: inout Flows, _ frame: Incoming, isRecorded: Bool = false, over route: RouteID = "relay"
    ) -> (steps: Flows.Steps, isTaken: Bool) {
        var isTaken = false
        let steps = flows.received(
            frame, isOfSecurePeer: isRecorded, isRecorded: isRecorded, over: route, isTaken: &isTaken, now: 1)
        return (steps, isTaken)
    }

    private func message(_ from: PeerID, _ number: Int) -> PeerMessage {
        PeerMessage(from: from, payload: .integer(Int64(number)), timestamp: nil, delivery: .live)
    }

    @Test("a pairing takes with it the seals of every frame that has brought it about, and the newest of all")
    func marks() throws {
        var flows = flows()
        #expect(receive(&flows, incoming(phone, "take", seq: 1)).isTaken)
        #expect(receive(&flows, incoming(phone, "nothing", seq: 2)).isTaken == false)
        #expect(receive(&flows, incoming(laptop, "take", seq: 9)).isTaken)
        #expect(receive(&flows, incoming(phone, "take", seq: 3), isRecorded: true).isTaken)
        let record = try #require(records(receive(&flows, incoming(phone, "store", seq: 4)).steps, &flows).first)
        #expect(record.marks.taken.map(\.seq) == [1, 4], "one that is saved in any case is not saved twice")
        #expect(record.marks.newest?.seq == 4)
        #expect(record.route == "relay" && record.flow == .scan)
    }

    @Test("a mark that the window refuses begins it anew only where its frame has led to this pairing, in this flow")
    func staleMarks() throws {
        var flows = flows()
        _ = flows.change(LastStub.self) { $0.show() }
        var generator = SeededGenerator(seed: 4)
        var alone = Flows([CodeStub(), LastStub()])
        let own = alone.newCode(for: .code, using: &generator).digits
        _ = alone.change(CodeStub.self) { $0.show() }
        _ = alone.change(LastStub.self) { $0.show() }
        #expect(receive(&alone, incoming(phone, "take", seq: 900, isStale: true)).isTaken)
        let fresh = try #require(
            records(receive(&alone, incoming(phone, "store", seq: 5, code: own)).steps, &alone).first)
        #expect(fresh.flow == .code && fresh.marks.newest?.seq == 5 && fresh.marks.newest?.isStale == false)
        #expect(fresh.marks.taken.map(\.seq) == [5])

        let proved = try #require(
            records(receive(&flows, incoming(phone, "store", seq: 7, isStale: true)).steps, &flows).first)
        #expect(proved.marks.newest?.seq == 7 && proved.marks.newest?.isStale == true)
    }

    @Test("at most 64 marks are kept, the newest")
    func marksLimit() throws {
        var flows = flows()
        for seq in 1...100 { _ = receive(&flows, incoming(phone, "take", seq: Int64(seq))) }
        let record = try #require(records(receive(&flows, incoming(phone, "store", seq: 101)).steps, &flows).first)
        #expect(record.marks.taken.map(\.seq) == Array(38...101))
    }

    @Test("what a peer sends while its pairing is being stored comes after it, in order, and at most 64 frames")
    func held() throws {
        var flows = flows()
        #expect(flows.hold(message(phone, 0), over: "relay") == false)
        let record = try #require(records(receive(&flows, incoming(phone, "store", seq: 1)).steps, &flows).first)
        for number in 1...70 { #expect(flows.hold(message(phone, number), over: "relay") == true) }
        #expect(flows.hold(message(laptop, 1), over: "relay") == false)
        let (steps, held) = flows.stored(record, .success(record.peer), now: 2)
        #expect(paths(steps) == [.lastHeard("relay")], "the machine is told first")
        #expect(held.map(\.message) == (1...64).map { message(phone, $0) })
        #expect(flows.hold(message(phone, 0), over: "relay") == false)
    }

    @Test("a peer that two flows store at once is held until both are done")
    func twoFlows() throws {
        var flows = flows()
        _ = flows.change(LastStub.self) { $0.show() }
        let both = records(receive(&flows, incoming(phone, "store", seq: 1)).steps, &flows)
        try #require(both.count == 2)
        #expect(flows.hold(message(phone, 1), over: "relay") == true)
        #expect(flows.stored(both[0], .success(both[0].peer), now: 2).held.isEmpty)
        #expect(flows.isStoring(phone))
        #expect(flows.stored(both[1], .success(both[1].peer), now: 2).held.count == 1)
    }

    @Test("a peer that is unpaired while it is being stored counts as not stored; one that pairs after that does")
    func unpairedMeanwhile() throws {
        var flows = flows()
        let first = try #require(records(receive(&flows, incoming(phone, "store", seq: 1)).steps, &flows).first)
        flows.removedAll([])
        #expect(flows.isVoid(first))
        let second = try #require(records(receive(&flows, incoming(phone, "store", seq: 2)).steps, &flows).first)
        #expect(!flows.isVoid(second))
        let failed = flows.stored(first, .success(first.peer), now: 2).steps
        #expect(paths(failed).isEmpty && flows.machine(FirstStub.self).removals == [phone])
        #expect(paths(flows.stored(second, .success(second.peer), now: 2).steps).count == 1)
    }

    @Test("a frame with the newest code of the flow that types it is for no other one")
    func sole() {
        var flows = flows()
        _ = flows.change(LastStub.self) { $0.show() }
        var generator = SeededGenerator(seed: 4)
        let code = flows.newCode(for: .code, using: &generator)
        _ = flows.change(CodeStub.self) { $0.show() }
        #expect(receive(&flows, incoming(phone, "wrong", code: code.digits)).isTaken == false)
        #expect(flows.machine(FirstStub.self).dropped.total == 1, "a flow before it hears everything")
        #expect(flows.machine(CodeStub.self).dropped.total == 1)
        #expect(flows.machine(LastStub.self).dropped.total == 0)
        _ = receive(&flows, incoming(phone, "wrong", code: "other"))
        #expect(flows.machine(CodeStub.self).dropped.total == 1 && flows.machine(LastStub.self).dropped.total == 1)
        #expect(flows.dropped == 4)
    }

    @Test("the codes of two flows are never alike")
    func codes() {
        var flows = flows()
        var first = SeededGenerator(seed: 4)
        var second = SeededGenerator(seed: 4)
        let code = flows.newCode(for: .code, using: &first)
        #expect(flows.newCode(for: .offer, using: &second) != code)
        var third = SeededGenerator(seed: 4)
        #expect(flows.newCode(for: .code, using: &third) == code, "its own may come again")
    }

    @Test("waits end once: by an outcome, by their time, and then the flow ends before they hear")
    func waits() {
        var flows = flows()
        flows.wait(for: .scan, until: 10) { _ in }
        flows.wait(for: .scan, until: 20) { _ in }
        flows.wait(for: .offer, until: 15) { _ in }
        #expect(flows.nextDeadline == 10 && flows.isAwaited(.offer) && !flows.isAwaited(.code))
        #expect(flows.expire(at: 9, now: 1).expired.isEmpty)
        let first = flows.expire(at: 10, now: 1)
        #expect(first.ends.isEmpty && first.expired.map(\.flow) == [.scan] && first.expired[0].waiters.count == 1)
        #expect(flows.machine(FirstStub.self).isActive, "somebody waits for it still")
        let last = flows.expire(at: 20, now: 1)
        #expect(last.ends.map(\.step) == [.report(.deviceScan(.failed(PairingFailure(.timeout))))])
        #expect(last.expired.map(\.flow) == [.scan, .offer])
        #expect(!flows.machine(FirstStub.self).isActive && !flows.isActive && flows.nextDeadline == nil)
        flows.wait(for: .scan, until: 30) { _ in }
        #expect(flows.takeWaiters(.scan).count == 1)
        #expect(flows.takeWaiters(.scan).isEmpty)
    }

    @Test("whoever was not paired is forgotten when no flow is open")
    func forgets() {
        var flows = flows()
        _ = receive(&flows, incoming(phone, "take", seq: 1))
        #expect(flows.route(of: phone) == "relay")
        _ = flows.cancel(nil, because: .cancelled)
        _ = receive(&flows, incoming(laptop, "take", seq: 1))
        #expect(flows.route(of: phone) == nil && flows.route(of: laptop) == nil)
    }

    @Test(
        "outside a pairing the machines are asked only about what belongs to one: a deployed desktop may pair by a push"
    )
    func takesEvents() {
        var flows = flows()
        #expect(receive(&flows, incoming(phone, PayloadType.event, seq: 1)).isTaken)
        #expect(flows.machine(FirstStub.self).asked == 1)
        _ = flows.cancel(nil, because: .cancelled)
        for type in [PayloadType.event, "bellwire:ack", "take", PayloadType.response] {
            #expect(!receive(&flows, incoming(phone, type, seq: 2)).isTaken)
        }
        #expect(flows.machine(FirstStub.self).asked == 1 && flows.machine(LastStub.self).asked == 1)
        _ = receive(&flows, incoming(phone, PayloadType.pairAck, seq: 3))
        #expect(flows.machine(FirstStub.self).asked == 2, "a peer that has missed the answer repeats its ack")
    }

    @Test("an answer goes to the flow that asks; where several do it has to name one")
    func answers() {
        var flows = PairingFlows<PairedDevice>([
            DesktopScanStateMachine(), DesktopTypedCodeStateMachine(), DesktopOfferStateMachine(),
        ])
        guard case .nothingWaits = flows.answer(nil, accept: true, now: 1) else {
            Issue.record("nobody asks")
            return
        }
        #expect(flows.asking == [])
    }
}
