import TestSupport
import Testing

@testable import Transport

@Suite("What unfinished messages may hold")
struct ReceiveBudgetTests {
    private final class Holder: Sendable {
        let number: Int

        init(_ number: Int) { self.number = number }
    }

    /// With numbers in the place of connections.
    private struct Budget {
        private var budget: ReceiveBudget
        private let holders = (0..<40).map(Holder.init)

        init(_ limits: ReceiveLimits) { budget = ReceiveBudget(limits) }

        var byteCount: Int { budget.byteCount }
        var isEmpty: Bool { budget.isEmpty }

        mutating func hold(
            _ holder: Int, of network: String, isLimited: Bool, message: UInt32, bytes: Int, at now: UInt64
        ) -> [Int] {
            budget.hold(
                holders[holder], of: network, isLimited: isLimited, message: message, bytes: bytes, at: now
            ).compactMap { ($0 as? Holder)?.number }
        }

        mutating func removeOverdue(at now: UInt64) -> [Int] {
            budget.removeOverdue(at: now).compactMap { ($0 as? Holder)?.number }
        }
    }

    private func budget(bytes: Int = 1_000, network: Int = 400) -> Budget {
        Budget(ReceiveLimits(bytes: bytes, bytesPerNetwork: network, limitsLoopback: false, time: 60))
    }

    @Test("a network over its share loses the message that began first there; who is not limited has all")
    func share() {
        var budget = budget()
        func hold(_ holder: Int, _ network: String, _ bytes: Int, _ number: UInt32 = 1) -> [Int] {
            budget.hold(holder, of: network, isLimited: network != "::1", message: number, bytes: bytes, at: 1)
        }
        #expect(hold(1, "a", 200) == [] && hold(2, "a", 100) == [] && hold(3, "b", 100) == [])
        #expect(hold(2, "a", 201) == [1])
        #expect(budget.byteCount == 301)
        #expect(hold(2, "a", 0) == [] && hold(3, "b", 0) == [] && budget.isEmpty && budget.byteCount == 0)
        #expect(hold(4, "::1", 900) == [] && budget.byteCount == 900)
        #expect(hold(5, "a", 401) == [5] && budget.byteCount == 900)
    }

    @Test("when all is full the network that holds the most loses, however many there are, and who holds little stays")
    func total() {
        var budget = budget()
        func hold(_ holder: Int, _ bytes: Int) -> [Int] {
            budget.hold(holder, of: "\(holder)", isLimited: true, message: 1, bytes: bytes, at: UInt64(holder))
        }
        #expect(hold(0, 10) == [])
        for holder in 1...9 { #expect(hold(holder, 110 - holder) == []) }
        #expect(budget.byteCount == 955)
        // Each newcomer takes the place of the largest, and it is never the small one.
        #expect(hold(10, 50) == [1] && hold(11, 105) == [2] && hold(12, 999) == [12])
        #expect(budget.byteCount <= 1_000)
        #expect(hold(0, 20) == [])
    }

    @Test("a message is late by its own beginning, not by what came since; the next one begins anew")
    func late() {
        var budget = budget()
        func hold(_ holder: Int, _ number: UInt32, _ bytes: Int, at now: UInt64) {
            #expect(budget.hold(holder, of: "a", isLimited: true, message: number, bytes: bytes, at: now) == [])
        }
        hold(1, 1, 10, at: 100)
        hold(2, 1, 10, at: 110)
        for now in 101...159 as ClosedRange<UInt64> { hold(1, 1, Int(now - 90), at: now) }
        hold(2, 2, 10, at: 120)
        #expect(budget.removeOverdue(at: 159) == [])
        #expect(budget.removeOverdue(at: 160) == [1])
        #expect(budget.removeOverdue(at: 179) == [] && budget.byteCount == 10)
        #expect(budget.removeOverdue(at: 180) == [2] && budget.isEmpty && budget.byteCount == 0)
    }

    @Test(
        "whatever comes and goes: the totals are right and within the limits", arguments: 1...8 as ClosedRange<UInt64>)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var budget = budget()
        var held: [Int: Int] = [:]
        for now in 0..<2_000 as Range<UInt64> {
            let holder = Int.random(in: 0..<40, using: &generator)
            let bytes = max(0, Int.random(in: -50..<200, using: &generator))
            held[holder] = bytes > 0 ? bytes : nil
            let losers = budget.hold(
                holder, of: "\(holder % 6)", isLimited: true, message: UInt32.random(in: 0...1, using: &generator),
                bytes: bytes, at: now)
            let late = Int.random(in: 0..<10, using: &generator) == 0 ? budget.removeOverdue(at: now) : []
            #expect(Set(losers + late).count == losers.count + late.count)
            for loser in losers + late { #expect(held.removeValue(forKey: loser) != nil) }
            #expect(budget.byteCount == held.values.reduce(0, +) && budget.byteCount <= 1_000)
            for network in 0..<6 {
                #expect(held.filter { $0.key % 6 == network }.values.reduce(0, +) <= 400)
            }
        }
    }

    @Test("a decoder holds memory for unfinished messages and frames only, and each has its number")
    func decoder() {
        var decoder = FrameDecoder(role: .server, limit: 1 << 20, readers: FrameReaderPool())
        func feed(_ bytes: [UInt8]) {
            var bytes = bytes
            bytes.withUnsafeMutableBytes { buffer in
                var input = UnsafeMutableRawBufferPointer(rebasing: buffer[...])
                while decoder.next(&input) != nil {}
            }
        }
        let whole = maskedText(Array("Hello".utf8))
        feed(whole)
        #expect(decoder.heldBytes == 0)
        feed(Array(whole.prefix(3)))
        let first = decoder.unfinished
        #expect(decoder.heldBytes >= 4_096)
        feed(Array(whole.dropFirst(3)))
        #expect(decoder.heldBytes == 0)
        feed(maskedText(Array(repeating: 0x61, count: 990_000), first: 0x01))
        let second = decoder.unfinished
        #expect(second != first && decoder.heldBytes >= 990_000 && decoder.minorFrames == 0)
        feed(maskedText([], first: 0x89) + maskedText([], first: 0x00))
        #expect(decoder.unfinished == second && decoder.minorFrames == 2)
        feed(maskedText([], first: 0x80))
        #expect(decoder.heldBytes == 0)
    }
}
