import CJansson

extension JSONValue {
    /// Reads one whole JSON value of any type.
    ///
    /// Refused with a named ``JSONError``: text that is cut or not UTF-8, keys that stand twice in one object, nesting
    /// deeper than `depth`, numbers out of range, and anything after the value. A NUL inside a string is kept.
    package init(parsing bytes: UnsafeRawBufferPointer, depth: Int = depthLimit) throws(JSONError) {
        if let value = JSONReader.read(bytes, depth: depth) {
            self = value
        } else {
            try self.init(jansson: bytes, depth: depth)
        }
    }

    /// The same by jansson, which decides what is JSON and names the errors.
    init(jansson bytes: UnsafeRawBufferPointer, depth: Int) throws(JSONError) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else {
            throw JSONError(.empty, "not JSON: the text is empty")
        }
        var error = json_error_t()
        let flags = Int(JSON_REJECT_DUPLICATES | JSON_DECODE_ANY | JSON_ALLOW_NUL)
        guard
            let root = json_loadb(base.assumingMemoryBound(to: CChar.self), bytes.count, flags, &error)
        else { throw JSONError(jansson: &error) }
        defer { json_decref(root) }
        var isTooDeep = false
        self.init(root, depth, &isTooDeep)
        guard !isTooDeep else {
            throw JSONError(.tooDeep, "the JSON is nested more than \(depth) levels deep")
        }
    }

    /// Levels of nesting that are accepted by default.
    package static let depthLimit = 256
    /// Levels that a host's or a sender's JSON may have. It becomes part of messages and answers, which have limits, too.
    package static let parameterDepthLimit = 64
    /// jansson's own (JSON_PARSER_MAX_DEPTH).
    package static let longestDepth = 2_048

    /// Whether objects and arrays are nested in more levels than that. It goes no deeper.
    package func isDeeper(than levels: Int) -> Bool {
        switch self {
        case .object(let object): levels < 1 || object.members.contains { $0.value.isDeeper(than: levels - 1) }
        case .array(let elements): levels < 1 || elements.contains { $0.isDeeper(than: levels - 1) }
        case .null, .bool, .integer, .double, .string: false
        }
    }

    package init(parsing bytes: [UInt8]) throws(JSONError) {
        self = try bytes.withUnsafeBytes { JSONValue.read($0) }.get()
    }

    package init(parsing text: String, depth: Int = depthLimit) throws(JSONError) {
        var text = text
        self = try text.withUTF8 { JSONValue.read(UnsafeRawBufferPointer($0), depth: depth) }.get()
    }

    /// The standard library's buffer calls do not pass typed errors on; a `Result` does.
    private static func read(
        _ bytes: UnsafeRawBufferPointer, depth: Int = depthLimit
    ) -> Result<JSONValue, JSONError> {
        do throws(JSONError) { return .success(try JSONValue(parsing: bytes, depth: depth)) } catch {
            return .failure(error)
        }
    }

    /// Copies a tree of jansson's, so many levels of it.
    private init(_ node: UnsafeMutablePointer<json_t>, _ levels: Int, _ isTooDeep: inout Bool) {
        switch node.pointee.type {
        case JSON_OBJECT where levels < 1, JSON_ARRAY where levels < 1:
            isTooDeep = true
            self = .null
        case JSON_OBJECT:
            var members: [JSONObject.Member] = []
            members.reserveCapacity(json_object_size(node))
            var iterator = json_object_iter(node)
            while let current = iterator {
                if let key = json_object_iter_key(current), let value = json_object_iter_value(current) {
                    let bytes = UnsafeRawBufferPointer(start: key, count: json_object_iter_key_len(current))
                    let key = String(decoding: bytes, as: UTF8.self)
                    members.append(.init(key: key, value: JSONValue(value, levels - 1, &isTooDeep)))
                }
                iterator = json_object_iter_next(node, current)
            }
            self = .object(JSONObject(unique: members))
        case JSON_ARRAY:
            let count = json_array_size(node)
            var elements: [JSONValue] = []
            elements.reserveCapacity(count)
            for index in 0..<count {
                if let element = json_array_get(node, index) {
                    elements.append(JSONValue(element, levels - 1, &isTooDeep))
                }
            }
            self = .array(elements)
        case JSON_STRING:
            let bytes = UnsafeRawBufferPointer(start: json_string_value(node), count: json_string_length(node))
            self = .string(String(decoding: bytes, as: UTF8.self))
        case JSON_INTEGER: self = .integer(json_integer_value(node))
        case JSON_REAL: self = .double(json_real_value(node))
        case JSON_TRUE: self = .bool(true)
        case JSON_FALSE: self = .bool(false)
        default: self = .null
        }
    }
}

extension JSONError {
    fileprivate init(jansson error: inout json_error_t) {
        let place = "line \(error.line), column \(error.column)"
        switch json_error_code(&error) {
        case json_error_premature_end_of_input: self.init(.cut, "the JSON is incomplete (\(place))")
        case json_error_invalid_utf8: self.init(.notUTF8, "the JSON is not valid UTF-8 (\(place))")
        case json_error_duplicate_key: self.init(.duplicateKey, "a JSON object has a duplicate key (\(place))")
        case json_error_stack_overflow: self.init(.tooDeep, "the JSON is nested more than 2048 levels deep (\(place))")
        case json_error_numeric_overflow: self.init(.numberRange, "a number in the JSON is out of range (\(place))")
        case json_error_end_of_input_expected: self.init(.trailing, "there is text after the JSON value (\(place))")
        default: self.init(.syntax, "the text is not JSON (\(place))")
        }
    }
}
