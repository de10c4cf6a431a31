import Testing
import TestSupport

@testable import Sharing

@Suite struct OutgoingFramesTests {
    @Test("What is written is what was appended, however little is taken at a time", arguments: [1, 7, 1_000, 100_000])
    func order(_ step: Int) {
        var random = SeededGenerator(seed: UInt64(step))
        var frames = OutgoingFrames()
        var (expected, written): ([UInt8], [UInt8]) = ([], [])
        for round in 0..<300 {
            let size = round % 50 == 0 ? 40_000 : Int.random(in: 1...200, using: &random)
            let frame = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: step < 7 ? min(size, 20) : size)
            frames.append(frame)
            expected += frame
            guard round % 3 == 0 else { continue }
            let count = frames.write { bytes in
                written += bytes.prefix(step)
                return min(step, bytes.count)
            }
            #expect(count > 0)
            #expect(frames.count == expected.count - written.count)
        }
        // Nothing could be taken.
        let refused = frames.write { _ in -1 }
        #expect(refused == -1)
        while !frames.isEmpty {
            _ = frames.write { bytes in
                written += bytes.prefix(step)
                return min(step, bytes.count)
            }
        }
        #expect(written == expected)
        let none = frames.write { _ in 1 }
        #expect(none == 0)
    }
}
