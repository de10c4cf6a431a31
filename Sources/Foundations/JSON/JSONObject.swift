/// A JSON object: its members in the order in which they came, each key once.
///
/// Look-up walks the members: the objects of this wire are small.
package struct JSONObject: Sendable, Equatable {
    package struct Member: Sendable, Equatable {
        package let key: String
        package var value: JSONValue

        /// Nearly all other keys have another length, which is at hand.
        @inline(__always)
        func has(_ key: String) -> Bool { self.key.utf8.count == key.utf8.count && self.key == key }
    }

    package private(set) var members: [Member]

    package init() { members = [] }

    /// For a parser that has already refused duplicates.
    init(unique members: [Member]) { self.members = members }

    package var isEmpty: Bool { members.isEmpty }
    package var count: Int { members.count }
    package var keys: [String] { members.map(\.key) }

    /// The member's value. Setting `nil` removes the member, setting a new key appends it.
    package subscript(key: String) -> JSONValue? {
        get {
            for index in members.indices where members[index].has(key) { return members[index].value }
            return nil
        }
        set {
            guard let index = members.firstIndex(where: { $0.has(key) }) else {
                if let newValue { members.append(Member(key: key, value: newValue)) }
                return
            }
            if let newValue { members[index].value = newValue } else { members.remove(at: index) }
        }
    }

    /// The members of `other` are set over ours.
    package mutating func merge(_ other: JSONObject) {
        for member in other.members { self[member.key] = member.value }
    }

    /// Two objects are the same when they hold the same members, in any order.
    @inline(never)
    package static func == (left: JSONObject, right: JSONObject) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    package init(dictionaryLiteral elements: (String, JSONValue?)...) { self.init(elements) }

    init(_ elements: [(String, JSONValue?)]) {
        self.init()
        members.reserveCapacity(elements.count)
        for (key, value) in elements { self[key] = value }
    }
}
