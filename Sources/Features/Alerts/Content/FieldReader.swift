package import JSON

/// Reads a program's JSON strictly: an unknown member is an error, and so is a null.
package struct FieldReader {
    private let object: JSONObject
    /// Stands before a name in an error, such as `actions.0.`
    private let place: String

    package init(_ object: JSONObject, allowing names: [String], in place: String = "") throws(AlertsError) {
        for member in object.members where !names.contains(member.key) {
            let name = place + FieldReader.shown(member.key)
            throw AlertsError("\(name): unknown key", field: name)
        }
        (self.object, self.place) = (object, place)
    }

    /// A text of so many bytes, or nothing.
    package func text(_ name: String, _ sizes: ClosedRange<Int>) throws(AlertsError) -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value.string else { throw fault(name, "must be a string, not \(value.typeName)") }
        guard sizes.contains(text.utf8.count) else {
            throw fault(name, "must have \(sizes.lowerBound) to \(sizes.upperBound) bytes")
        }
        return text
    }

    package func required(_ name: String, _ sizes: ClosedRange<Int>) throws(AlertsError) -> String {
        guard let text = try text(name, sizes) else { throw fault(name, "is missing") }
        return text
    }

    /// A text that others compare, store or hand on: without control characters.
    package func plainText(_ name: String, _ sizes: ClosedRange<Int>) throws(AlertsError) -> String? {
        guard let text = try text(name, sizes) else { return nil }
        guard PlainText.isPlain(text) else { throw fault(name, "must not contain control characters") }
        return text
    }

    package func flag(_ name: String) throws(AlertsError) -> Bool? {
        guard let value = object[name] else { return nil }
        guard let flag = value.bool else { throw fault(name, "must be true or false, not \(value.typeName)") }
        return flag
    }

    /// A whole number; 50.0 is one as well.
    package func integer(_ name: String, in range: ClosedRange<Int64>) throws(AlertsError) -> Int64? {
        guard let value = object[name] else { return nil }
        guard let integer = value.integer, value.double == Double(integer) else {
            throw fault(name, "must be a whole number")
        }
        guard range.contains(integer) else {
            throw fault(name, "must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return integer
    }

    package func object(_ name: String, limit: Int) throws(AlertsError) -> JSONObject? {
        guard let value = object[name] else { return nil }
        guard let object = value.object else { throw fault(name, "must be an object, not \(value.typeName)") }
        guard limit == .max || value.serialized().utf8.count <= limit else {
            throw fault(name, "must not have more than \(limit) bytes as JSON")
        }
        return object
    }

    package func array(_ name: String, limit: Int) throws(AlertsError) -> [JSONValue]? {
        guard let value = object[name] else { return nil }
        guard let array = value.array else { throw fault(name, "must be an array, not \(value.typeName)") }
        guard array.count <= limit else { throw fault(name, "must not have more than \(limit) elements") }
        return array
    }

    package func fault(_ name: String, _ problem: String) -> AlertsError {
        AlertsError("\(place)\(name): \(problem)", field: place + name)
    }

    /// An error message quotes an unknown name only if it looks like a name.
    static func shown(_ name: String) -> String {
        let isName = (1...64).contains(name.utf8.count) && name.utf8.allSatisfy { 0x21...0x7e ~= $0 }
        return isName ? name : "a member with an invalid name"
    }
}
