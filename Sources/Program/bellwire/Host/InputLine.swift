import Door
import JSON

/// A line of standard input that says a notification.
enum InputLine {
    /// A title, which a body and a priority may follow, with tabs between them; with `json`, an object. The middle of a
    /// long body is left out, and a surrogate without its other half becomes U+FFFD: what clients cut is not lost.
    ///
    /// - Returns: `nil` for an empty line.
    static func params(of line: String, json: Bool) throws(Failure) -> JSONObject? {
        if line.trimmed.isEmpty { return nil }
        guard json else {
            let parts = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
            return [
                "title": .string(parts[0]), "body": .string(parts.count > 1 ? BodyText.cut(parts[1]).text : ""),
                "priority": parts.count > 2 ? .string(Priority.name(of: parts[2])) : nil,
            ]
        }
        do throws(JSONError) {
            guard var object = try LoneSurrogates.value(of: line, depth: JSONValue.depthLimit).object else {
                throw JSONError(.syntax, "not a JSON object")
            }
            if let body = object["body"]?.string { object["body"] = .string(BodyText.cut(body).text) }
            if let number = object["priority"]?.integer { object["priority"] = .string(Priority.name(of: "\(number)")) }
            return object
        } catch {
            throw Failure(.failed, error.message)
        }
    }
}
