import NATS
import Transport

/// The ids that were ever proved at any relay of the cluster, in a bucket of JetStream's. Only a `did:key` can be proved.
@EventLoop
final class ProofBucket {
    private static let bucket = "bw-proofs"
    /// Ids that are known to be there are not stored again.
    private static let maximumKnown = 1_000_000

    private let jetStream: JetStream
    private let replicas: Int
    private var known: Set<[UInt8]> = []
    /// An id that was proved, or asked for, while the bucket could not be reached.
    private(set) var failures: UInt64 = 0

    init(_ client: NATSClient, replicas: Int) {
        jetStream = JetStream(client)
        self.replicas = replicas
    }

    /// Creates the bucket. `then` gets the reason why it can't be used.
    func prepare(then: @escaping @EventLoop (NATSError?) -> Void) {
        jetStream.createBucket(Self.bucket, replicas: replicas) { result in
            if case .failure(let error) = result { then(error) } else { then(nil) }
        }
    }

    static func canBeProved(_ name: [UInt8]) -> Bool { name.starts(with: Array("did:key:z".utf8)) }

    /// Whether the id may be held without a proof: not if the bucket can't be reached.
    func mayBeUnproved(_ name: [UInt8], then: @escaping @EventLoop (Bool) -> Void) {
        guard Self.canBeProved(name) else { return EventLoop.post { then(true) } }
        jetStream.get(ClusterSubject.key(of: name), in: Self.bucket) { [weak self] result in
            switch result {
            case .success(let value): then(value == nil)
            case .failure:
                self?.failures += 1
                then(false)
            }
        }
    }

    /// Stores that the id was proved. `then` when that is on disk, or can't be.
    func keep(_ name: [UInt8], then: @escaping @EventLoop () -> Void) {
        guard !known.contains(name) else { return EventLoop.post { then() } }
        jetStream.create(ClusterSubject.key(of: name), name, in: Self.bucket) { [weak self] result in
            guard let self else { return then() }
            if case .failure = result {
                failures += 1
            } else if known.count < Self.maximumKnown {
                known.insert(name)
            }
            then()
        }
    }
}
