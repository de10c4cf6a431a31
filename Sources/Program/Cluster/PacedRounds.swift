import Transport

/// Calls a function for each of many names again and again, spread evenly over an interval; those in a hurry come first.
@EventLoop
final class PacedRounds {
    /// Between two steps, in milliseconds.
    private static let step: UInt64 = 100
    /// Of those in a hurry, in one step.
    private static let burst = 1_000

    private let steps: Int
    private let visit: @EventLoop ([UInt8]) -> Void
    private var places: [[UInt8]: Int] = [:]
    private var names: [[UInt8]] = []
    private var next = 0
    /// Parts of a visit that earlier steps had to leave.
    private var owed = 0
    private var urgent = FIFO<[UInt8]>()
    private var isUrgent: Set<[UInt8]> = []
    private lazy var timer = LoopTimer { [weak self] in self?.take() }

    /// - Parameter interval: of a round, in milliseconds.
    init(every interval: UInt64, visit: @escaping @EventLoop ([UInt8]) -> Void) {
        steps = max(1, Int(clamping: interval / Self.step))
        self.visit = visit
    }

    func add(_ name: [UInt8]) {
        guard places[name] == nil else { return }
        places[name] = names.count
        names.append(name)
        if !timer.isRunning { timer.start(after: Self.step, every: Self.step) }
    }

    func remove(_ name: [UInt8]) {
        guard let place = places.removeValue(forKey: name), let last = names.popLast() else { return }
        guard last != name else { return stopIfEmpty() }
        names[place] = last
        places[last] = place
    }

    /// Visits it in one of the next steps.
    func hurry(_ name: [UInt8]) {
        if places[name] != nil, isUrgent.insert(name).inserted { urgent.append(name) }
    }

    private func take() {
        var due: [[UInt8]] = []
        while due.count < Self.burst, let name = urgent.removeFirst() {
            isUrgent.remove(name)
            due.append(name)
        }
        owed += names.count
        let count = owed / steps
        owed %= steps
        for _ in 0..<min(count, names.count) {
            next = next < names.count ? next : 0
            due.append(names[next])
            next += 1
        }
        for name in due where places[name] != nil { visit(name) }
        stopIfEmpty()
    }

    private func stopIfEmpty() {
        if names.isEmpty { timer.stop() }
    }
}
