import Hosting
import Signalling
import Transport
import Wire

/// Pushes without anything to see, which the host works on: each for a limited time.
@EventLoop
final class SilentPushes {
    /// So long the host has for one, in milliseconds; after that it counts as failed.
    static let limit: UInt64 = 30_000
    /// So many may be under way.
    static let capacity = 256

    /// What a host says of one.
    enum Result: String, CaseIterable {
        case newData = "new_data"
        case noData = "no_data"
        case failed
    }

    private var deadlines: [NotificationID: UInt64] = [:]
    private(set) var total: Int64 = 0
    private(set) var failed: Int64 = 0
    private lazy var timer = LoopTimer { [weak self] in self?.expire() }

    nonisolated init() {}

    enum Start {
        case begun
        case underWay
        case tooMany
    }

    func begin(_ id: NotificationID) -> Start {
        guard deadlines[id] == nil else { return .underWay }
        guard deadlines.count < Self.capacity else { return .tooMany }
        total &+= 1
        deadlines[id] = EventLoop.now &+ Self.limit
        arm()
        return .begun
    }

    /// `false`: no such one is under way.
    func complete(_ id: NotificationID, _ result: Result) -> Bool {
        guard deadlines.removeValue(forKey: id) != nil else { return false }
        if result == .failed { failed &+= 1 }
        arm()
        return true
    }

    func end() {
        guard !deadlines.isEmpty else { return }
        deadlines = [:]
        timer.stop()
    }

    private func expire() {
        let now = EventLoop.now
        let over = deadlines.filter { $0.value <= now }
        for id in over.keys { deadlines[id] = nil }
        failed &+= Int64(over.count)
        arm()
    }

    private func arm() { timer.start(at: deadlines.values.min()) }
}
