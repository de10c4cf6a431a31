/// A queue: appending and taking the first take constant time on average.
struct FIFO<Element> {
    private var elements: [Element] = []
    /// The first so many are taken.
    private var head = 0

    var isEmpty: Bool { head == elements.count }
    var count: Int { elements.count - head }
    var first: Element? { isEmpty ? nil : elements[head] }
    var last: Element? { isEmpty ? nil : elements.last }

    /// All but so many of the first.
    func dropFirst(_ count: Int) -> ArraySlice<Element> { elements[head...].dropFirst(max(0, count)) }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func removeFirst() -> Element? {
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
    mutating func remove(where isWanted: (Element) -> Bool) -> Element? {
        guard let index = elements[head...].firstIndex(where: isWanted) else { return nil }
        return index == head ? removeFirst() : elements.remove(at: index)
    }

    mutating func mutateEach(_ change: (inout Element) -> Void) {
        for index in elements.indices.dropFirst(head) { change(&elements[index]) }
    }
}

extension FIFO: Sendable where Element: Sendable {}
