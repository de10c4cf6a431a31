import Foundation
import TestSupport
import Testing

/// Every fuzz target over its kept inputs, and over a few changes of each with a fixed seed. Tests/fuzz.sh looks further.
@Suite struct FuzzReplayTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Corpus")

    private func inputs(of target: FuzzTarget) throws -> [(name: String, bytes: [UInt8])] {
        let folder = Self.corpus.appending(path: target.name)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
        return try names.map { ($0, [UInt8](try Data(contentsOf: folder.appending(path: $0)))) }
    }

    @Test("nothing is wrong with an input that was kept", arguments: FuzzTarget.all.map(\.name))
    func kept(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let inputs = try inputs(of: target)
        #expect(!inputs.isEmpty, "\(name) has no inputs in Tests/Fuzz/Corpus")
        try target.run([])
        for input in inputs {
            do { try target.run(input.bytes) } catch { Issue.record("\(name)/\(input.name): \(error)") }
        }
    }

    @Test("nothing is wrong with one that was changed", arguments: FuzzTarget.all.map(\.name))
    func changed(name: String) throws {
        let target = try #require(FuzzTarget.named(name))
        let inputs = try inputs(of: target).map(\.bytes)
        var generator = SeededGenerator(seed: 0x6275_6772)
        // ZBar takes milliseconds for a picture.
        let runs = ["pictures", "drawn-codes"].contains(name) ? 20 : 150
        for run in 0..<runs {
            var bytes = inputs.randomElement(using: &generator) ?? []
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0...bytes.count, using: &generator)
                let length = Int.random(in: 0...min(8, bytes.count - place), using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0 where place < bytes.count: bytes[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: bytes.removeSubrange(place..<(place + length))
                case 2:
                    let other = inputs.randomElement(using: &generator) ?? []
                    bytes.replaceSubrange(place..<(place + length), with: other.shuffled(using: &generator).prefix(8))
                default: bytes.insert(UInt8.random(in: 0...255, using: &generator), at: place)
                }
            }
            do { try target.run(Array(bytes.prefix(target.limit))) } catch {
                Issue.record("\(name), change \(run): \(error): \(Data(bytes).base64EncodedString())")
                return
            }
        }
    }
}
