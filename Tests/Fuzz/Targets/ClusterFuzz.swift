@testable import Cluster

extension FuzzTarget {
    /// What relays say to each other reads back as what is written, and nothing else is read.
    static let cluster = FuzzTarget("cluster", limit: 4_096) { bytes in
        _ = ClusterAnswer.read(bytes)
        let taken = FramesAnswer.read(bytes, count: bytes.count)
        try require(taken.count == bytes.count, "an answer for \(taken.count) of \(bytes.count) frames")
        guard let (name, message) = ClusterMessage.read(bytes) else { return }
        try require((1...256).contains(name.count), "a name of \(name.count) bytes")
        try require(message.bytes(about: name) == bytes, "it is written in another way")
    }
}
