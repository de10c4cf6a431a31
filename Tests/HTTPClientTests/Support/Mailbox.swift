import Testing
import Transport

/// What came in, for a test that waits for it with a deadline.
@EventLoop
final class Mailbox<Item: Sendable> {
    private var items: [Item] = []
    private var waiter: CheckedContinuation<Void, Never>?
    private var deadline: LoopTimer?

    nonisolated init() {}

    func put(_ item: Item) {
        items.append(item)
        wake()
    }

    private func wake() {
        guard let waiter else { return }
        self.waiter = nil
        waiter.resume()
    }

    /// The next item that is wanted; those before it are dropped. Fails the test when none comes in time.
    func next(
        within limit: UInt64 = 10_000, sourceLocation: SourceLocation = #_sourceLocation,
        where isWanted: (Item) -> Bool = { _ in true }
    ) async throws -> Item {
        var isLate = false
        let timer = LoopTimer { [weak self] in
            isLate = true
            self?.wake()
        }
        timer.start(after: limit)
        while true {
            while !items.isEmpty {
                let item = items.removeFirst()
                if isWanted(item) { return item }
            }
            guard !isLate else { break }
            await withCheckedContinuation { waiter = $0 }
        }
        return try #require(nil as Item?, "nothing came in \(limit) ms", sourceLocation: sourceLocation)
    }

    var isEmpty: Bool { items.isEmpty }

    /// Takes what is there.
    func drain() -> [Item] {
        defer { items = [] }
        return items
    }
}
