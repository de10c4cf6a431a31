/// A queue: appending and taking the first take constant time on average.
///
/// It is inlinable, because an unspecialized generic type would cost other modules more than the queue itself.
package struct FIFO<Element> {
    @usableFromInline var elements: [Element] = []
    /// The first so many are taken.
    @usableFromInline var head = 0

    @inlinable package init() {}

    @inlinable package var isEmpty: Bool { head == elements.count }
    @inlinable package var count: Int { elements.count - head }
    @inlinable package var first: Element? { isEmpty ? nil : elements[head] }
    @inlinable package var last: Element? { isEmpty ? nil : elements.last }

    /// All but so many of the first.
    @inlinable package func dropFirst(_ count: Int) -> ArraySlice<Element> {
        elements[head...].dropFirst(max(0, count))
    }

    @inlinable package mutating func append(_ element: Element) { elements.append(element) }

    @inlinable package mutating func removeFirst() -> Element? {
        guard let first else { return nil }
        head += 1
        // Each element moves at most once for each time that the queue halves.
        if head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return first
    }

    /// Removes the first element that matches.
    @inlinable package mutating func remove(where isWanted: (Element) -> Bool) -> Element? {
        guard let index = elements[head...].firstIndex(where: isWanted) else { return nil }
        return index == head ? removeFirst() : elements.remove(at: index)
    }

    @inlinable package mutating func mutateEach(_ change: (inout Element) -> Void) {
        for index in elements.indices.dropFirst(head) { change(&elements[index]) }
    }
}

extension FIFO: Sendable where Element: Sendable {}
