import Foundation
import Relay
import Testing

@testable import RelayService

@Suite("Stored frames on a small disk")
struct FrameDatabaseTests {
    private func frame(_ sequence: Int64, bytes: Int) -> ArchivedFrame {
        ArchivedFrame(
            sequence: sequence, peer: [1], source: .network("192.0.2.1"), storedAt: sequence, isSealed: false,
            bytes: (0..<bytes).map { _ in UInt8.random(in: 0...255) })
    }

    private func write(_ database: FrameDatabase, _ batch: ArchiveJournal.Batch) async -> FrameDatabase.Outcome {
        await withCheckedContinuation { continuation in
            database.write(batch) { continuation.resume(returning: $0) }
        }
    }

    private func close(_ database: FrameDatabase) async {
        await withCheckedContinuation { continuation in database.close { continuation.resume() } }
    }

    @Test("a store that is full takes deletions, however many, and then frames again")
    func full() async throws {
        // A run may name a small file system; else the store's own limit stands for one.
        let small = ProcessInfo.processInfo.environment["BELLWIRE_SMALL_DISK"]
        let directory = small ?? NSTemporaryDirectory()
        let path = "\(directory)/frames-\(UUID().uuidString).db"
        defer { for suffix in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + suffix) } }
        let opened = try FrameDatabase.open(path, maximumBytes: small == nil ? 4 << 20 : 1 << 30)
        var kept: [Int64] = []
        for sequence in Int64(1)...2_000 {
            let outcome = await write(opened.database, ArchiveJournal.Batch(kept: [frame(sequence, bytes: 20_000)]))
            guard outcome.kept == nil else { break }
            kept.append(sequence)
        }
        #expect(kept.count > 20 && kept.count < 2_000)
        let log = try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int ?? 0
        #expect(log <= 5 << 20)
        let gone = await write(opened.database, ArchiveJournal.Batch(gone: kept))
        #expect(gone.gone == nil)
        let again = await write(opened.database, ArchiveJournal.Batch(kept: [frame(5_000, bytes: 20_000)]))
        #expect(again.kept == nil)
        await close(opened.database)
        let reopened = try FrameDatabase.open(path, maximumBytes: 1 << 30)
        #expect(reopened.frames.map(\.sequence) == [5_000])
        await close(reopened.database)
    }
}
