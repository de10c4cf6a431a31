import Hosting
import Synchronization
import Transport

/// Starts a role that a program has taken over, if a program that shares it had started it. Retries until it succeeds: a
/// desktop's relay, for example, may have to wait for its address.
@EventLoop
final class TakeoverStart<Kind: SharableRole> {
    /// Between two tries, in milliseconds.
    private static var interval: UInt64 { 1_000 }

    private weak var role: SharedRole<Kind>?
    private var isReported = false
    private lazy var timer = LoopTimer { [weak self] in self?.attempt() }

    init(_ role: SharedRole<Kind>?) { self.role = role }

    func begin() {
        isReported = false
        attempt()
    }

    func stop() { timer.stop() }

    private func attempt() {
        guard let role, case .holder(let kind, _) = role.current, role.starts.withLock({ !$0.isEmpty }) else { return }
        kind.perform(.start, as: .new) { result in
            guard case .failure(let error) = result, error.code != .closed else { return }
            EventLoop.post { [weak self] in self?.failed(error) }
        }
    }

    private func failed(_ error: HostError) {
        guard let role, case .holder = role.current else { return }
        if !isReported {
            role.channel.problem(
                "start_failed",
                "not started after this program took over: \(error.message); retrying every second", error.detail)
        }
        isReported = true
        timer.start(after: Self.interval)
    }
}
