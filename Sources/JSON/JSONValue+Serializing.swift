import CJansson

extension JSONValue {
    /// The value as compact JSON text. Object members keep their order; a number that JSON cannot say becomes `null`.
    package func serialized() -> String {
        guard let root = node() else { return "null" }
        defer { json_decref(root) }
        let flags = Int(JSON_COMPACT | JSON_ENCODE_ANY)
        // jansson says how much it would have written: where the guess is too small, it writes once more.
        var size = usualLength
        while true {
            let capacity = size
            let text = String(unsafeUninitializedCapacity: capacity) { buffer in
                size = buffer.withMemoryRebound(to: CChar.self) { json_dumpb(root, $0.baseAddress, capacity, flags) }
                return size <= capacity ? size : 0
            }
            if size <= capacity { return text }
        }
    }

    /// How many bytes of text it becomes, unless it has much to escape.
    private var usualLength: Int {
        switch self {
        case .null, .bool: 5
        case .integer, .double: 24
        case .string(let value): value.utf8.count + 8
        case .array(let elements): elements.reduce(2) { $0 + $1.usualLength + 1 }
        case .object(let object): object.members.reduce(2) { $0 + $1.key.utf8.count + $1.value.usualLength + 4 }
        }
    }

    /// A new jansson reference; `nil` only when memory has run out.
    private func node() -> UnsafeMutablePointer<json_t>? {
        switch self {
        case .null: return json_null()
        case .bool(let value): return value ? json_true() : json_false()
        case .integer(let value): return json_integer(value)
        case .double(let value): return value.isFinite ? json_real(value) : json_null()
        case .string(var value):
            return value.withUTF8 { utf8 in
                utf8.withMemoryRebound(to: CChar.self) { bytes in
                    bytes.isEmpty ? json_stringn_nocheck("", 0) : json_stringn_nocheck(bytes.baseAddress, bytes.count)
                }
            }
        case .array(let elements):
            guard let array = json_array() else { return nil }
            for element in elements { json_array_append_new(array, element.node()) }
            return array
        case .object(let object):
            guard let node = json_object() else { return nil }
            for member in object.members {
                var key = member.key
                key.withUTF8 { utf8 in
                    utf8.withMemoryRebound(to: CChar.self) { bytes in
                        _ = json_object_setn_new_nocheck(
                            node, bytes.baseAddress ?? nullKey, bytes.count, member.value.node())
                    }
                }
            }
            return node
        }
    }
}

/// jansson wants an address even for an empty key.
nonisolated(unsafe) private let nullKey: UnsafePointer<CChar> = {
    let key = UnsafeMutablePointer<CChar>.allocate(capacity: 1)
    key.pointee = 0
    return UnsafePointer(key)
}()
