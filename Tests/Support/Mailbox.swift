#if DEBUG
    package import Testing
    package import Transport

    /// Collects elements on the loop, in order, for a test that waits for them with a deadline.
    @EventLoop
    package final class Mailbox<Element: Sendable> {
        /// Elements that nobody has taken.
        package private(set) var all: [Element] = []
        private struct Waiter {
            let isWanted: (Element) -> Bool
            /// Whether elements that are not wanted are dropped instead of kept.
            let isDropping: Bool
            let continuation: CheckedContinuation<Element?, Never>
        }

        private var waiting: Waiter?
        private lazy var deadline = LoopTimer { [weak self] in self?.finish(nil) }

        package nonisolated init() {}

        package var isEmpty: Bool { all.isEmpty }

        package func put(_ element: Element) {
            guard let waiting else { return all.append(element) }
            if waiting.isWanted(element) { return finish(element) }
            if !waiting.isDropping { all.append(element) }
        }

        /// Takes all elements that are there.
        package func drain() -> [Element] {
            defer { all = [] }
            return all
        }

        /// Removes and returns the first matching element. Fails the test when none comes within `limit` milliseconds.
        package func take(
            _ what: String, _ location: SourceLocation, within limit: UInt64 = 10_000,
            where isWanted: @escaping (Element) -> Bool = { _ in true }
        ) async throws -> Element {
            if let index = all.firstIndex(where: isWanted) { return all.remove(at: index) }
            return try await wait(what, location, limit, isDropping: false, isWanted)
        }

        /// Removes and returns the next element.
        package func next(
            _ what: String = "the next element", within limit: UInt64 = 10_000,
            sourceLocation: SourceLocation = #_sourceLocation
        ) async throws -> Element {
            try await take(what, sourceLocation, within: limit)
        }

        /// Removes and returns the next matching element, and drops those before it.
        package func next(
            _ what: String = "the next wanted element", within limit: UInt64 = 10_000,
            sourceLocation: SourceLocation = #_sourceLocation, where isWanted: @escaping (Element) -> Bool
        ) async throws -> Element {
            while !all.isEmpty {
                let element = all.removeFirst()
                if isWanted(element) { return element }
            }
            return try await wait(what, sourceLocation, limit, isDropping: true, isWanted)
        }

        private func wait(
            _ what: String, _ location: SourceLocation, _ limit: UInt64, isDropping: Bool,
            _ isWanted: @escaping (Element) -> Bool
        ) async throws -> Element {
            let element = await withCheckedContinuation { continuation in
                waiting = Waiter(isWanted: isWanted, isDropping: isDropping, continuation: continuation)
                deadline.start(after: limit)
            }
            guard let element else {
                Issue.record("\(what) did not come in time", sourceLocation: location)
                throw NothingCame(what: what)
            }
            return element
        }

        private func finish(_ element: Element?) {
            guard let waiting else { return }
            self.waiting = nil
            deadline.stop()
            waiting.continuation.resume(returning: element)
        }
    }

    /// No matching element came in time.
    package struct NothingCame: Error, CustomStringConvertible {
        package let what: String

        package var description: String { "\(what) did not come in time" }
    }
#endif
