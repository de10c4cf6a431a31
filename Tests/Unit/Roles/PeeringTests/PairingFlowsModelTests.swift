import JSON
import Pairing
import Sealing
import Signalling
import Store
import TestSupport
import Testing
import Wire

@testable import Peering

/// Frames, stores and unpairings in any order: nothing that is held is lost or comes twice, every seal is saved with at most
/// one pairing, and what was unpaired stays so.
@Suite struct PairingFlowsModelTests {
    private typealias Flows = PairingFlows<StubPeer>

    @Test("300 events", arguments: 0..<60 as Range<UInt64>)
    func model(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let ids = ["p", "q", "r"].map { PeerID($0) }
        var flows = Flows([FirstStub(), CodeStub(), LastStub()])
        var open: [(record: PairingRecord<StubPeer>, isVoid: Bool)] = []
        var held: [PeerID: [Int]] = [:]
        var marks: Set<Int64> = []
        var saved: Set<Int64> = []
        for step in 1...300 {
            let id = ids.randomElement(using: &generator) ?? PeerID("p")
            var steps: Flows.Steps = []
            let isStoring = open.contains { $0.record.peer.id == id }
            #expect(flows.isStoring(id) == isStoring)
            switch Int.random(in: 0..<12, using: &generator) {
            case 0: steps = flows.change(FirstStub.self) { $0.show() }
            case 1: steps = flows.change(LastStub.self) { $0.show() }
            case 2: steps = flows.cancel(Bool.random(using: &generator) ? nil : .scan, because: .cancelled)
            case 3:
                flows.removed(id)
                for index in open.indices where open[index].record.peer.id == id { open[index].isVoid = true }
            case 4 where step.isMultiple(of: 4):
                flows.removedAll([id])
                for index in open.indices { open[index].isVoid = true }
            case 5, 6:
                let message = PeerMessage(
                    from: id, payload: .integer(Int64(step)), timestamp: nil, delivery: .live)
                #expect(flows.hold(message, over: "u") == isStoring)
                if isStoring, held[id, default: []].count < 64 { held[id, default: []].append(step) }
            case 7, 8, 9:
                guard !isStoring else { continue }
                let type = ["store", "take", "nothing"].randomElement(using: &generator) ?? "take"
                var isTaken = false
                let isRecorded = Bool.random(using: &generator)
                steps = flows.received(
                    incoming(id, type, seq: Int64(step)), isOfSecurePeer: isRecorded, isRecorded: isRecorded,
                    over: "u", isTaken: &isTaken, now: 1)
                if isTaken, !isRecorded { marks.insert(Int64(step)) }
                #expect(isTaken || steps.isEmpty)
            default:
                guard let index = open.indices.randomElement(using: &generator) else { continue }
                let (record, isVoid) = open.remove(at: index)
                #expect(flows.isVoid(record) == isVoid)
                let isWritten = Int.random(in: 0..<4, using: &generator) > 0
                let stored = flows.stored(
                    record,
                    isWritten ? .success(record.peer) : .failure(StoreError(.mismatch, "the disk is full")), now: 1)
                steps = stored.steps
                let again = stored.held.compactMap(\.message.payload.integer)
                let peer = record.peer.id
                if open.contains(where: { $0.record.peer.id == peer }) {
                    #expect(again.isEmpty)
                } else {
                    #expect(again == (held[peer] ?? []).map { Int64($0) })
                    held[peer] = nil
                }
            }
            for case (let flow, .store(let peer)) in steps {
                let record = flows.begin(peer, of: flow)
                open.append((record, false))
                for mark in record.marks.taken {
                    #expect(mark.peer == record.peer.id && marks.contains(mark.seq))
                    #expect(saved.insert(mark.seq).inserted, "a seal is saved with one pairing")
                }
            }
        }
        // Whatever was open ends.
        _ = flows.cancel(nil, because: .cancelled)
        for (record, _) in open { _ = flows.stored(record, .success(record.peer), now: 1) }
        #expect(!flows.isActive)
        #expect(ids.allSatisfy { !flows.isStoring($0) && flows.route(of: $0) == nil })
    }
}
