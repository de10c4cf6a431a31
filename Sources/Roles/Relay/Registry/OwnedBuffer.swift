/// A growable buffer whose elements are read in place.
///
/// The compiler retains an `Array` for each access during which something else might change it. For every message that
/// costs more than the accesses themselves.
struct OwnedBuffer<Element>: ~Copyable {
    private var memory: UnsafeMutableBufferPointer<Element>
    private(set) var count: Int

    init(repeating element: Element, count: Int) {
        memory = .allocate(capacity: count)
        memory.initialize(repeating: element)
        self.count = count
    }

    init() {
        memory = .allocate(capacity: 0)
        count = 0
    }

    deinit {
        memory.prefix(count).deinitialize()
        memory.deallocate()
    }

    /// An index outside ends the process, as with an array.
    subscript(index: Int) -> Element {
        @inline(__always)
        unsafeAddress {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            return UnsafePointer(memory.baseAddress.unsafelyUnwrapped + index)
        }
        @inline(__always)
        unsafeMutableAddress {
            precondition(UInt(bitPattern: index) < UInt(bitPattern: count))
            return memory.baseAddress.unsafelyUnwrapped + index
        }
    }

    var indices: Range<Int> { 0..<count }

    mutating func append(_ element: Element) {
        if count == memory.count { grow() }
        memory.initializeElement(at: count, to: element)
        count += 1
    }

    private mutating func grow() {
        let larger = UnsafeMutableBufferPointer<Element>.allocate(capacity: max(8, memory.count * 2))
        _ = larger.moveInitialize(fromContentsOf: memory.prefix(count))
        memory.deallocate()
        memory = larger
    }
}
