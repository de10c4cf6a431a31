import Testing

@testable import Transport

/// What came in on the loop, for a test that waits for it with a deadline.
@EventLoop
final class Mailbox<Item: Sendable> {
    private var items: [Item] = []
    private var waiter: CheckedContinuation<Item?, Never>?
    private var deadline: LoopTimer?

    nonisolated init() {}

    func put(_ item: Item) {
        guard let waiter else { return items.append(item) }
        self.waiter = nil
        deadline = nil
        waiter.resume(returning: item)
    }

    /// The next item, in order. Fails the test when none comes in time.
    func next(
        within limit: UInt64 = 10_000, _ what: String = "", sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> Item {
        if !items.isEmpty { return items.removeFirst() }
        let item = await withCheckedContinuation { continuation in
            waiter = continuation
            let timer = LoopTimer { [weak self] in
                guard let self, let waiter = self.waiter else { return }
                self.waiter = nil
                waiter.resume(returning: nil)
            }
            timer.start(after: limit)
            deadline = timer
        }
        return try #require(item, "nothing came in \(limit) ms \(what)", sourceLocation: sourceLocation)
    }

    var isEmpty: Bool { items.isEmpty }
}
