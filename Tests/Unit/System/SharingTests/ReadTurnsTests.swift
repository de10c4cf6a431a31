import Testing

@testable import Sharing

@Suite struct ReadTurnsTests {
    private func begun(_ turns: inout ReadTurns<String>, unread: [Int: Int] = [:]) -> [String] {
        var calls: [String] = []
        while let turn = turns.next(unread: { unread[$0] ?? 0 }) { calls.append(turn.call) }
        return calls
    }

    @Test("A guest has two under way, in its order, and one that waits holds up no other guest")
    func order() {
        var turns = ReadTurns<String>()
        for call in ["a1", "a2", "a3", "a4"] { turns.add(call, of: 1) }
        turns.add("b1", of: 2)
        #expect(begun(&turns) == ["a1", "a2", "b1"])
        turns.finished(1)
        #expect(begun(&turns) == ["a3"])
        turns.finished(1)
        turns.finished(1)
        #expect(begun(&turns) == ["a4"])
    }

    @Test("A guest that does not take its answers gets no further ones until it does")
    func unread() {
        var turns = ReadTurns<String>()
        turns.add("a1", of: 1)
        turns.add("b1", of: 2)
        #expect(begun(&turns, unread: [1: 65_537]) == ["b1"])
        #expect(begun(&turns, unread: [1: 65_536]) == ["a1"])
    }

    @Test("All guests together have eight under way; what a guest that ended had waiting is forgotten")
    func total() {
        var turns = ReadTurns<String>()
        for guest in 0..<10 { turns.add("\(guest)", of: guest) }
        #expect(begun(&turns) == ["0", "1", "2", "3", "4", "5", "6", "7"])
        turns.ended(8)
        turns.ended(0)
        #expect(begun(&turns).isEmpty)
        // It is under way all the same, until it ends.
        turns.finished(0)
        #expect(begun(&turns) == ["9"])
        turns.finished(0)
        #expect(begun(&turns).isEmpty)
    }
}
