import NATS
import Transport

/// The ids that were ever proved at any relay of the cluster, in a bucket of JetStream's. Only a `did:key` can be proved.
@EventLoop
final class ProofBucket {
    enum Event: Equatable {
        /// It was deleted, and there is an empty one now: ids that are held with proofs must be kept again.
        case replaced
        /// It can be used, after a problem.
        case usable
        /// It can be used, and ids are held with proofs that could not be kept before.
        case incomplete
        case problem(NATSError)
    }

    private static let bucket = "bw-proofs"
    /// Ids that are known to be there are not stored again.
    private static let maximumKnown = 1_000_000
    /// Between two looks at whether it is still there, after one that failed, and after another failure; in milliseconds.
    private static let checkInterval: UInt64 = 60_000
    private static let retryInterval: UInt64 = 5_000
    private static let alarmDelay: UInt64 = 1_000

    private let jetStream: JetStream
    private let replicas: Int
    private let report: @EventLoop (Event) -> Void
    private var known: Set<[UInt8]> = []
    /// When the bucket was created.
    private var creation: String?
    private var problem: NATSError?
    private var isChecking = false
    private var isAlarmed = false
    /// A proof could not be kept.
    private var isIncomplete = false
    private lazy var timer = LoopTimer { [weak self] in self?.check() }
    /// An id that was proved, or asked for, while the bucket could not be reached.
    private(set) var failures: UInt64 = 0

    init(_ client: NATSClient, replicas: Int, report: @escaping @EventLoop (Event) -> Void) {
        jetStream = JetStream(client)
        self.replicas = replicas
        self.report = report
    }

    /// There is a connection to NATS. Creates the bucket if it is not there, then and from time to time.
    func connected() { check() }

    private func check() {
        guard !isChecking else { return }
        (isChecking, isAlarmed) = (true, false)
        jetStream.createBucket(Self.bucket, replicas: replicas) { [weak self] in self?.checked($0) }
    }

    private func checked(_ result: Result<String, NATSError>) {
        isChecking = false
        let before = problem
        switch result {
        case .success(let found):
            let last = creation
            (creation, problem) = (found, nil)
            timer.start(after: Self.checkInterval)
            if let last, last != found {
                known = []
                report(.replaced)
            }
            if before != nil { report(.usable) }
            if isIncomplete {
                isIncomplete = false
                report(.incomplete)
            }
        case .failure(let error):
            // The next connection checks it.
            if error.code == .disconnected { return }
            problem = error
            timer.start(after: Self.retryInterval)
            if error != before { report(.problem(error)) }
        }
    }

    static func canBeProved(_ name: [UInt8]) -> Bool { name.starts(with: Array("did:key:z".utf8)) }

    /// Whether the id may be held without a proof: not if the bucket can't be reached.
    func mayBeUnproved(_ name: [UInt8], then: @escaping @EventLoop (Bool) -> Void) {
        guard Self.canBeProved(name) else { return EventLoop.post { then(true) } }
        jetStream.get(ClusterSubject.key(of: name), in: Self.bucket) { [weak self] result in
            switch result {
            case .success(let value): then(value == nil)
            case .failure(let error):
                self?.failed(error)
                then(false)
            }
        }
    }

    /// Stores that the id was proved. `then` when that is on disk, or can't be.
    func keep(_ name: [UInt8], then: @escaping @EventLoop () -> Void = {}) {
        guard !known.contains(name) else { return EventLoop.post { then() } }
        jetStream.create(ClusterSubject.key(of: name), name, in: Self.bucket) { [weak self] result in
            guard let self else { return then() }
            if case .failure(let error) = result {
                isIncomplete = true
                failed(error)
            } else if known.count < Self.maximumKnown {
                known.insert(name)
            }
            then()
        }
    }

    private func failed(_ error: NATSError) {
        failures += 1
        // With a problem, or without a connection, it is checked anyway.
        guard problem == nil, error.code != .disconnected, !isChecking, !isAlarmed else { return }
        isAlarmed = true
        timer.start(after: Self.alarmDelay)
    }
}
