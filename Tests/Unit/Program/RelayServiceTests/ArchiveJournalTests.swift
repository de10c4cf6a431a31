import Relay
import TestSupport
import Testing

@testable import RelayService

@Suite("The journal brings the disk to what is in memory")
struct ArchiveJournalTests {
    private func frame(_ sequence: Int64) -> ArchivedFrame {
        ArchivedFrame(
            sequence: sequence, peer: [1], source: .network("192.0.2.1"), storedAt: sequence, isSealed: false,
            bytes: [UInt8(truncatingIfNeeded: sequence)])
    }

    @Test("one batch at a time; a frame that leaves before it is written is never written")
    func batches() {
        var journal = ArchiveJournal()
        var none = journal.next()
        #expect(none == nil && journal.isEmpty)
        journal.note([.kept(frame(2)), .kept(frame(1)), .kept(frame(3)), .gone(2)])
        let first = journal.next()
        #expect(first?.kept.map(\.sequence) == [1, 3] && first?.gone == [])
        journal.note([.gone(1), .kept(frame(4))])
        none = journal.next()
        #expect(none == nil, "one is being written")
        #expect(journal.count == 4)
        let written = journal.ended(keptOnDisk: true, goneOnDisk: true)
        #expect(written == 2)
        let second = journal.next()
        #expect(second?.kept.map(\.sequence) == [4] && second?.gone == [1])
        _ = journal.ended(keptOnDisk: true, goneOnDisk: true)
        #expect(journal.isEmpty && journal.count == 0)
    }

    @Test("what failed waits again, without what has left since")
    func failures() {
        var journal = ArchiveJournal()
        journal.note([.kept(frame(1)), .kept(frame(2)), .gone(0)])
        _ = journal.next()
        journal.note([.gone(1), .kept(frame(3))])
        let written = journal.ended(keptOnDisk: false, goneOnDisk: false)
        #expect(written == 0)
        var next = journal.next()
        #expect(next?.kept.map(\.sequence) == [2, 3] && next?.gone == [0])
        // On a full disk deletions succeed alone, and make room.
        _ = journal.ended(keptOnDisk: false, goneOnDisk: true)
        next = journal.next()
        #expect(next?.kept.map(\.sequence) == [2, 3] && next?.gone == [])
    }

    @Test("whatever comes, goes and fails: in the end the disk has what memory has", arguments: 1...8)
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var journal = ArchiveJournal()
        var memory: Set<Int64> = []
        var disk: Set<Int64> = []
        var writing: ArchiveJournal.Batch?
        func end(_ isKeptWritten: Bool, _ isGoneWritten: Bool) {
            guard let batch = writing else { return }
            writing = nil
            if isGoneWritten { disk.subtract(batch.gone) }
            for frame in batch.kept where isKeptWritten {
                let isNew = disk.insert(frame.sequence).inserted
                #expect(isNew)
            }
            let count = journal.ended(keptOnDisk: isKeptWritten, goneOnDisk: isGoneWritten)
            #expect(count == (isKeptWritten ? batch.kept.count : 0))
        }
        for sequence in 0..<2_000 as Range<Int64> {
            switch Int.random(in: 0..<10, using: &generator) {
            case 0..<5:
                memory.insert(sequence)
                journal.note([.kept(frame(sequence))])
            case 5..<7:
                guard let gone = memory.randomElement(using: &generator) else { continue }
                memory.remove(gone)
                journal.note([.gone(gone)])
            case 7, 8: if writing == nil { writing = journal.next() }
            default: end(Bool.random(using: &generator), Bool.random(using: &generator))
            }
        }
        end(false, false)
        writing = journal.next()
        end(true, true)
        #expect(disk == memory && journal.isEmpty)
    }
}
