import Testing
import Transport

/// What came, in order, and one who waits for something in it: at most ten seconds.
@EventLoop
final class Mailbox<Element: Sendable> {
    private var elements: [Element] = []
    private var waiting: (isWanted: (Element) -> Bool, continuation: CheckedContinuation<Element?, Never>)?
    private lazy var deadline = LoopTimer { [weak self] in self?.finish(nil) }

    nonisolated init() {}

    /// What nobody has taken.
    var all: [Element] { elements }

    func put(_ element: Element) {
        if let waiting, waiting.isWanted(element) { finish(element) } else { elements.append(element) }
    }

    /// The first one like that, taken out; the others stay.
    func take(
        _ what: String, _ location: SourceLocation, where isWanted: @escaping (Element) -> Bool
    ) async throws -> Element {
        if let index = elements.firstIndex(where: isWanted) { return elements.remove(at: index) }
        let element = await withCheckedContinuation { continuation in
            waiting = (isWanted, continuation)
            deadline.start(after: 10_000)
        }
        return try #require(element, "\(what) did not come in time", sourceLocation: location)
    }

    private func finish(_ element: Element?) {
        guard let waiting else { return }
        self.waiting = nil
        deadline.stop()
        waiting.continuation.resume(returning: element)
    }
}
