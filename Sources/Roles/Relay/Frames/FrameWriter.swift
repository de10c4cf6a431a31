/// Writes one JSON object, member by member.
struct FrameWriter {
    private var bytes: [UInt8]

    init(type: StaticString) {
        bytes = Array(#"{"type":""#.utf8)
        append(type)
        bytes.append(UInt8(ascii: "\""))
    }

    /// A text that is not yet JSON.
    mutating func add(_ key: StaticString, text: some Sequence<UInt8>) {
        addKey(key)
        JSONText.appendQuoted(text, to: &bytes)
    }

    mutating func add(_ key: StaticString, _ literal: StaticString) {
        addKey(key)
        bytes.append(UInt8(ascii: "\""))
        append(literal)
        bytes.append(UInt8(ascii: "\""))
    }

    mutating func add(_ key: StaticString, number: Int64) {
        addKey(key)
        JSONText.appendNumber(number, to: &bytes)
    }

    mutating func add(_ key: StaticString, flag: Bool) {
        addKey(key)
        append(flag ? "true" : "false")
    }

    /// A value that is JSON already.
    mutating func add(_ key: StaticString, json: some Sequence<UInt8>) {
        addKey(key)
        bytes.append(contentsOf: json)
    }

    mutating func add(_ key: StaticString, objects: [FrameWriter]) {
        addKey(key)
        bytes.append(UInt8(ascii: "["))
        for (index, object) in objects.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes.append(contentsOf: object.finished)
        }
        bytes.append(UInt8(ascii: "]"))
    }

    /// The whole object.
    var finished: [UInt8] { bytes + [UInt8(ascii: "}")] }

    // MARK: Objects that are no frames

    /// An object without a type, whose first member is `key`.
    init(first key: StaticString, json: some Sequence<UInt8>) {
        bytes = [UInt8(ascii: "{"), UInt8(ascii: "\"")]
        append(key)
        bytes.append(contentsOf: #"":"#.utf8)
        bytes.append(contentsOf: json)
    }

    private mutating func addKey(_ key: StaticString) {
        bytes.append(contentsOf: #",""#.utf8)
        append(key)
        bytes.append(contentsOf: #"":"#.utf8)
    }

    private mutating func append(_ text: StaticString) {
        text.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }
}
