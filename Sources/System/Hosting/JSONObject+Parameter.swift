package import JSON

extension JSONObject {
    /// Reads a host's parameter that is a JSON object; `nil` is the empty one. The error names the parameter.
    package init(parameter name: String, _ text: String?) throws(HostError) {
        guard let text else {
            self = [:]
            return
        }
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(parsing: text, depth: JSONValue.parameterDepthLimit) } catch {
            throw HostError(.invalid, "\(name) is not JSON: \(error.message)", detail: ["field": .string(name)])
        }
        guard case .object(let object) = value else {
            throw HostError(
                .invalid, "\(name) is not a JSON object but \(value.typeName); pass {…} or NULL",
                detail: ["field": .string(name)])
        }
        self = object
    }
}
