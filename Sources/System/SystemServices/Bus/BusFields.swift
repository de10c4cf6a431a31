/// Takes the values of a message one by one, each of the type that its interface says.
///
/// Whatever else comes is ``BusError/Code/malformed``. More values than are taken are no error: interfaces grow.
package struct BusFields {
    private var rest: ArraySlice<BusValue>

    package init(_ values: [BusValue]) { rest = values[...] }

    package mutating func bool() throws(BusError) -> Bool {
        guard case .bool(let value)? = rest.popFirst() else { throw Self.malformed("a boolean") }
        return value
    }

    package mutating func int32() throws(BusError) -> Int32 {
        guard case .int32(let value)? = rest.popFirst() else { throw Self.malformed("a number") }
        return value
    }

    package mutating func uint32() throws(BusError) -> UInt32 {
        guard case .uint32(let value)? = rest.popFirst() else { throw Self.malformed("a number") }
        return value
    }

    package mutating func uint16() throws(BusError) -> UInt16 {
        guard case .uint16(let value)? = rest.popFirst() else { throw Self.malformed("a number") }
        return value
    }

    /// At most `limit` bytes of UTF-8.
    package mutating func text(limit: Int = 1_024) throws(BusError) -> String {
        guard case .text(let value)? = rest.popFirst(), value.utf8.count <= limit else {
            throw Self.malformed("a string of at most \(limit) bytes")
        }
        return value
    }

    package mutating func path(limit: Int = 1_024) throws(BusError) -> String {
        guard case .path(let value)? = rest.popFirst(), value.utf8.count <= limit else {
            throw Self.malformed("an object path of at most \(limit) bytes")
        }
        return value
    }

    /// At most `limit` paths; further ones are left out.
    package mutating func paths(limit: Int = 64) throws(BusError) -> [String] {
        var paths: [String] = []
        for value in try array().prefix(limit) {
            guard case .path(let path) = value else { throw Self.malformed("an object path") }
            paths.append(path)
        }
        return paths
    }

    package mutating func array() throws(BusError) -> [BusValue] {
        guard case .array(let values, _)? = rest.popFirst() else { throw Self.malformed("an array") }
        return values
    }

    /// What is inside the next variant.
    package mutating func variant() throws(BusError) -> BusValue {
        guard case .variant(let value)? = rest.popFirst() else { throw Self.malformed("a variant") }
        return value
    }

    package mutating func descriptor() throws(BusError) -> BusDescriptor {
        guard case .descriptor(let value)? = rest.popFirst() else { throw Self.malformed("a file descriptor") }
        return value
    }

    private static func malformed(_ expected: String) -> BusError {
        BusError(.malformed, "a service did not send \(expected)")
    }
}
