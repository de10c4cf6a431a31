import TestSupport
import Testing

@testable import Sealing

/// The same rule over plain sets, with nothing clever.
private final class NaiveWindow {
    private var seen: [Int64: Set<Int64>] = [:]

    func record(epoch: Int64, seq: Int64) -> Bool {
        guard epoch > 0, seq > 0 else { return false }
        let newest = seen.keys.sorted(by: >).prefix(2)
        if newest.count == 2, epoch < newest[1] { return false }
        let seqs = seen[epoch] ?? []
        if seqs.contains(seq) { return false }
        if let highest = seqs.max(), highest - seq >= 4_096 { return false }
        seen[epoch, default: []].insert(seq)
        return true
    }
}

/// A window that expectations can change.
private final class Window {
    var value = ReplayWindow()

    var bytes: [UInt8] { value.bytes }
    func accepts(epoch: Int64, seq: Int64) -> Bool { value.accepts(epoch: epoch, seq: seq) }
    func record(epoch: Int64, seq: Int64) -> Bool { value.record(epoch: epoch, seq: seq) }
}

@Suite struct ReplayWindowTests {
    @Test("each frame counts once, in any order")
    func once() {
        let window = Window()
        for seq: Int64 in [5, 3, 4, 1, 2, 9, 7] {
            #expect(window.accepts(epoch: 1, seq: seq))
            #expect(window.record(epoch: 1, seq: seq))
            #expect(!window.accepts(epoch: 1, seq: seq))
            #expect(!window.record(epoch: 1, seq: seq))
        }
    }

    @Test(
        "a new beginning voids all that was sealed before it, and nothing that comes after",
        arguments: [
            (1, 1), (1, 7), (2, 1), (2, 9), (5, 1), (5, 5_000), (1_000_000, 3), (Int64.max, Int64.max),
        ] as [(Int64, Int64)])
    func begins(epoch: Int64, seq: Int64) {
        let histories: [[(Int64, Int64)]] = [
            [], [(epoch, seq)], [(1, 1)], [(4, 3), (5, 2)], [(epoch, min(seq, 9_000) + 2)],
        ]
        for history in histories {
            let window = Window()
            for (epoch, seq) in history { _ = window.record(epoch: epoch, seq: seq) }
            let takesItself = window.accepts(epoch: epoch, seq: seq)
            let before = window.value
            window.value.begin(epoch: epoch, seq: seq)
            for lower in [1, 2, seq - 4_097, seq - 2, seq - 1] where lower < seq {
                #expect(!window.accepts(epoch: epoch, seq: lower))
            }
            for lower in [1, 2, epoch / 2, epoch - 2, epoch - 1] where lower < epoch {
                for seq: Int64 in [1, 4_096, 1_000_000, .max - 1, .max] {
                    #expect(!window.accepts(epoch: lower, seq: seq))
                }
            }
            #expect(window.accepts(epoch: epoch, seq: seq) == takesItself)
            for (epoch, seq) in history { #expect(!window.accepts(epoch: epoch, seq: seq)) }
            // What comes after counts as it did.
            if seq < .max - 10 {
                #expect(
                    window.accepts(epoch: epoch, seq: seq + 1) == before.accepts(epoch: epoch, seq: seq + 1))
            }
            #expect(ReplayWindow(bytes: window.bytes) == window.value)
            if epoch < .max - 2 {
                #expect(window.record(epoch: epoch + 1, seq: 1) == before.accepts(epoch: epoch + 1, seq: 1))
            }
            #expect(!window.accepts(epoch: epoch - 1, seq: .max))
        }
    }

    @Test("what is 4,096 behind is refused, what is 4,095 behind is not")
    func width() {
        let window = Window()
        #expect(window.record(epoch: 1, seq: 5_000))
        #expect(!window.record(epoch: 1, seq: 5_000 - 4_096))
        #expect(window.record(epoch: 1, seq: 5_000 - 4_095))
        #expect(!window.record(epoch: 1, seq: 5_000 - 4_095))
    }

    @Test("the epoch before still counts, each frame once; the one before that does not")
    func epochs() {
        let window = Window()
        #expect(window.record(epoch: 3, seq: 1))
        #expect(window.record(epoch: 8, seq: 1))
        #expect(!window.record(epoch: 3, seq: 1))
        #expect(window.record(epoch: 3, seq: 2))
        #expect(window.record(epoch: 9, seq: 1))
        #expect(!window.record(epoch: 3, seq: 3))
        #expect(!window.record(epoch: 8, seq: 1))
        #expect(window.record(epoch: 8, seq: 2))
    }

    @Test("an epoch between the two was never seen, so it takes the place of the older")
    func between() {
        let window = Window()
        #expect(window.record(epoch: 3, seq: 1))
        #expect(window.record(epoch: 9, seq: 1))
        #expect(window.record(epoch: 7, seq: 1))
        #expect(!window.record(epoch: 7, seq: 1))
        #expect(!window.record(epoch: 3, seq: 2))
        #expect(!window.record(epoch: 6, seq: 1))
    }

    private static let extremes: [Int64] = [
        .min, .min + 1, -1, 0, 1, 2, 4_095, 4_096, 4_097, .max - 4_097, .max - 4_096, .max - 1, .max,
    ]

    @Test("no number traps, and none but a positive one counts")
    func hostile() {
        for first in Self.extremes {
            for second in Self.extremes {
                let window = Window()
                let naive = NaiveWindow()
                for (epoch, seq) in [(first, second), (second, first), (first, first), (second, second), (1, 1)] {
                    let isTaken = window.record(epoch: epoch, seq: seq)
                    #expect(isTaken == naive.record(epoch: epoch, seq: seq))
                    #expect(!isTaken || (epoch > 0 && seq > 0))
                    #expect(!window.record(epoch: epoch, seq: seq))
                }
                #expect(ReplayWindow(bytes: window.bytes) == window.value)
            }
        }
    }

    @Test("it decides as plain sets do, also after it was stored and read", arguments: 0..<24)
    func model(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let window = Window()
        let naive = NaiveWindow()
        var epoch: Int64 = 1
        var seq: Int64 = 1
        for step in 0..<3_000 {
            switch Int.random(in: 0..<100, using: &generator) {
            case 0: epoch += Int64.random(in: 1...3, using: &generator)
            case 1: seq += Int64.random(in: 4_000...5_000, using: &generator)
            case 2: seq = 1
            default: seq += Int64.random(in: 1...3, using: &generator)
            }
            let askedEpoch = max(0, epoch - Int64([0, 0, 0, 0, 1, 2, 3].randomElement(using: &generator) ?? 0))
            let back = Int64([0, 0, 1, 5, 100, 4_095, 4_096, 6_000].randomElement(using: &generator) ?? 0)
            let askedSeq = seq - back
            #expect(
                window.record(epoch: askedEpoch, seq: askedSeq) == naive.record(epoch: askedEpoch, seq: askedSeq),
                "seed \(seed), step \(step)")
            if step.isMultiple(of: 100) { window.value = try #require(ReplayWindow(bytes: window.bytes)) }
        }
    }

    @Test("stored bytes are read only whole, and only where they make sense")
    func bytes() throws {
        let window = Window()
        #expect(window.bytes == [1])
        #expect(ReplayWindow(bytes: [1]) == window.value)
        #expect(window.record(epoch: 4, seq: 9))
        #expect(window.record(epoch: 7, seq: 2))
        let bytes = window.bytes
        #expect(bytes.count == 1_057)
        #expect(ReplayWindow(bytes: bytes) == window.value)
        #expect(ReplayWindow(bytes: []) == nil)
        #expect(ReplayWindow(bytes: [2] + bytes.dropFirst()) == nil)
        #expect(ReplayWindow(bytes: bytes + bytes.dropFirst()) == nil)
        for count in [2, 17, 528, 530, 1_056] { #expect(ReplayWindow(bytes: Array(bytes.prefix(count))) == nil) }
        // The epochs the other way round, twice the same, none.
        let (newest, oldest) = (bytes[1..<529], bytes[529...])
        #expect(ReplayWindow(bytes: [1] + oldest + newest) == nil)
        #expect(ReplayWindow(bytes: [1] + newest + newest) == nil)
        #expect(ReplayWindow(bytes: [UInt8(1)] + [UInt8](repeating: 0, count: 528)) == nil)
        #expect(ReplayWindow(bytes: [UInt8(1)] + [UInt8](repeating: 0xff, count: 528)) == nil)
    }

    @Test("no bytes trap, however wild", arguments: 0..<8)
    func wild(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            let count = [0, 1, 529, 1_057, 1_585].randomElement(using: &generator) ?? 0
            var bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if !bytes.isEmpty { bytes[0] = 1 }
            guard var window = ReplayWindow(bytes: bytes) else { continue }
            _ = window.record(epoch: .max, seq: .max)
            _ = window.record(epoch: 1, seq: 1)
        }
    }
}
