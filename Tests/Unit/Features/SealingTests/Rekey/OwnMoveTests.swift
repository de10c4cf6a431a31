import Identity
import TestSupport
import Testing
import Wire

@testable import Sealing

/// This side's own move: who is told when, and when the switch may come (WireRekey, "Overview").
struct OwnMoveTests {
    private let old: SigningKey
    private let new: SigningKey

    init() throws {
        old = try SigningKey(seed: [UInt8](repeating: 1, count: 32))
        new = try SigningKey(seed: [UInt8](repeating: 2, count: 32))
    }

    private func asking(_ peers: [PeerID]) -> OwnMove {
        var move = OwnMove(phase: .asking, old: PeerID(old.did), new: PeerID(new.did), timestamp: 7)
        for peer in peers { move.tell(peer, MoveStatement(from: old, to: new, for: peer, at: 7)) }
        return move
    }

    @Test("it is ready when every paired peer has approved; one that declines, or was paired since, holds it up")
    func ready() {
        var move = asking(["a", "b"])
        #expect(!move.isReady(["a", "b"]))
        let step1 = move.answered("a", new: move.new, isAccepted: true)
        #expect(step1)
        let step2 = move.answered("a", new: move.new, isAccepted: false)
        #expect(!step2, "an approval is final")
        let step3 = move.answered("b", new: "other", isAccepted: true)
        #expect(!step3, "an answer to an earlier move")
        let step4 = move.answered("c", new: move.new, isAccepted: true)
        #expect(!step4)
        #expect(!move.isReady(["a", "b"]))
        let step5 = move.answered("b", new: move.new, isAccepted: false)
        #expect(step5)
        #expect(!move.isReady(["a", "b"]))
        #expect(move.isReady(["a"]), "b was unpaired")
        let again = move.restated(at: 9)
        #expect(again.told.map(\.peer) == ["a"] && again.timestamp == 9 && again.isReady(["a"]))
        #expect(!again.isReady(["a", "c"]))
    }

    @Test("unanswered peers are told again after 5 s, then after longer and longer pauses, and at once when they come")
    func repetition() {
        var move = asking(["a", "b"])
        let due = [move.due(now: 0), move.due(now: 4_999)]
        #expect(due[0].map(\.peer) == ["a", "b"] && due[1].isEmpty && move.deadline == 5_000)
        let later = move.due(now: 5_000)
        #expect(later.count == 2)
        #expect(move.deadline == 15_000)
        move.hasten("b")
        let hastened = move.due(now: 5_001)
        #expect(hastened.map(\.peer) == ["b"])
        _ = move.answered("a", new: move.new, isAccepted: true)
        _ = move.answered("b", new: move.new, isAccepted: false)
        let last = move.due(now: .max / 2)
        #expect(last.isEmpty && move.deadline == nil)
        var now: UInt64 = 0
        var other = asking(["a"])
        for _ in 0..<40 {
            _ = other.due(now: now)
            let next = other.deadline ?? 0
            #expect(next > now && next - now <= OwnMove.lastPause)
            now = next
        }
    }

    @Test("a peer that moves meanwhile is told anew under its new key, and what it has answered still counts")
    func restated() {
        var move = asking(["a", "b"])
        _ = move.answered("a", new: move.new, isAccepted: true)
        move.moved("a", to: "a2")
        move.moved("b", to: "b2")
        #expect(move.told("a2")?.statement.peer == "a")
        for peer: PeerID in ["a2", "b2", "c"] { move.restate(MoveStatement(from: old, to: new, for: peer, at: 7)) }
        #expect(move.told.map(\.statement.peer) == ["a2", "b2"])
        #expect(move.told("a2")?.answer == .approved && move.told("b2")?.answer == .waiting)
        let due = move.due(now: 0)
        #expect(due.map(\.peer) == ["b2"])
        _ = move.answered("b2", new: move.new, isAccepted: true)
        move.switchOver()
        move.restate(MoveStatement(from: old, to: new, for: "a2", at: 8))
        #expect(move.told("a2")?.statement.timestamp == 7, "the old key is gone")
    }

    @Test("after the switch each peer is told until it has confirmed; then nothing is left")
    func switched() {
        var move = asking(["a", "b"])
        for peer: PeerID in ["a", "b"] { _ = move.answered(peer, new: move.new, isAccepted: true) }
        let step6 = move.reached("a")
        #expect(!step6, "not switched yet")
        move.switchOver()
        let isCancelled = move.cancel()
        #expect(move.isSwitched && !isCancelled)
        let announced = move.due(now: 0)
        #expect(announced.count == 2)
        move.moved("b", to: "b2")
        let step7 = move.reached("a") && !move.reached("a") && !move.reached("b")
        #expect(step7)
        #expect(move.isSwitched)
        let step8 = move.reached("b2")
        #expect(step8)
        #expect(move.phase == .none && move.deadline == nil)
    }

    @Test("any order of events: the switch never comes before every peer that is still paired has approved")
    func model() {
        for seed in 0..<300 {
            var generator = SeededGenerator(seed: UInt64(seed))
            var paired: [PeerID] = ["a", "b", "c"]
            var approved: Set<PeerID> = []
            var move = asking(paired)
            for step in 0..<40 where move.isAsking {
                let peer = ["a", "b", "c", "d"].map { PeerID($0) }.randomElement(using: &generator) ?? "a"
                switch Int.random(in: 0..<6, using: &generator) {
                case 0, 1:
                    let accept = Bool.random(using: &generator)
                    if move.answered(peer, new: move.new, isAccepted: accept), accept { approved.insert(peer) }
                case 2:
                    paired.removeAll { $0 == peer }
                    approved.remove(peer)
                    move.forget(peer)
                case 3:
                    if !paired.contains(peer) { paired.append(peer) }
                    move.tell(peer, MoveStatement(from: old, to: new, for: peer, at: 7))
                case 4: _ = move.due(now: UInt64(step) * 10_000)
                default:
                    if move.isReady(paired) {
                        #expect(Set(paired).isSubset(of: approved))
                        move.switchOver()
                    }
                }
            }
        }
    }
}
