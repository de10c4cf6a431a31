import JSON

/// What somebody may put where anything else is expected.
enum HostileJSON {
    static let values: [JSONValue] = [
        .null, true, false, 0, -1, 1, .integer(.max), .integer(.min), 0.5, .double(1e300), .double(-1e300), "",
        "x", "\u{0}", "a\u{0}b", "\u{202e}abc\u{200f}", "<img src=x>&amp;", "../../etc/passwd", "/a", "24:00",
        "ephemeral",
        .string(String(repeating: "long ", count: 20_000)), [], [nil], ["/a", 1], [[[]]], [:], ["": ""],
        ["id": "x", "actions": []], ["a": true, "b": nil, "c": 3],
    ]

    static func object(of names: [String], _ random: inout some RandomNumberGenerator) -> JSONObject {
        var object: JSONObject = [:]
        for name in names where Bool.random(using: &random) { object[name] = value(&random) }
        if Int.random(in: 0..<8, using: &random) == 0 { object["sürprise\n"] = value(&random) }
        return object
    }

    static func value(_ random: inout some RandomNumberGenerator, depth: Int = 0) -> JSONValue {
        switch Int.random(in: 0..<10, using: &random) {
        case 0 where depth < 3:
            return .array((0..<3).map { _ in value(&random, depth: depth + 1) })
        case 1 where depth < 3:
            return ["id": value(&random, depth: depth + 1), "x": value(&random, depth: depth + 1)]
        default: return values.randomElement(using: &random) ?? .null
        }
    }
}
