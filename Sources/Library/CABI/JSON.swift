public import CBellwire
import Hosting
import JSON

// bellwire.h, "JSON".

@_cdecl("bw_json_text") @implementation
public func bw_json_text(
    _ json: UnsafePointer<CChar>?, _ pointer: UnsafePointer<CChar>?,
    _ text: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> bw_status {
    entry { () throws(HostError) in
        let output = try output(text, "text")
        let value = try find(pointer, in: json)
        // A C string ends at a NUL, which JSON allows inside a text.
        let found = value.string.map { String($0.map { $0 == "\0" ? "\u{FFFD}" : $0 }) } ?? value.serialized()
        try give(found, to: output)
    }
}

@_cdecl("bw_json_integer") @implementation
public func bw_json_integer(
    _ json: UnsafePointer<CChar>?, _ pointer: UnsafePointer<CChar>?, _ number: UnsafeMutablePointer<Int64>?
) -> bw_status {
    entry { () throws(HostError) in
        let output = try output(number, "number")
        let value = try find(pointer, in: json)
        guard let integer = value.bool.map({ $0 ? 1 : 0 }) ?? value.integer else {
            throw HostError(
                .invalid, "the value is \(value.typeName) or a number beyond 64 bits; read it with bw_json_text()",
                detail: ["field": "pointer"])
        }
        output.pointee = integer
    }
}

private func find(
    _ pointer: UnsafePointer<CChar>?, in json: UnsafePointer<CChar>?
) throws(HostError) -> JSONValue {
    let document = try text(json, "json")
    guard let path = JSONPointer(try text(pointer, "pointer")) else {
        throw HostError(
            .invalid, "pointer must be empty or begin with /, as in \"/data/title\" (RFC 6901)",
            detail: ["field": "pointer"])
    }
    let root: JSONValue
    do throws(JSONError) { root = try JSONValue(parsing: document, depth: JSONValue.longestDepth) } catch {
        throw HostError(.invalid, "json: \(error.message)", detail: ["field": "json"])
    }
    guard let value = root[path] else {
        throw HostError(.notFound, "the JSON has no value there", detail: ["field": "pointer"])
    }
    return value
}
