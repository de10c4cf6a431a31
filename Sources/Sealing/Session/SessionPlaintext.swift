import JSON
import Wire

/// The content of a session's frame: `{"timestamp","body":{…}}` (WireSessions, "Frames"). Who sealed it, for whom and as
/// which frame is in the associated data and the handshake.
struct SessionPlaintext: Sendable, Equatable {
    /// When it was sealed: informs, decides nothing. `nil` where it is none.
    let timestamp: EpochMilliseconds?
    /// A complete payload.
    let body: JSONObject

    init(timestamp: EpochMilliseconds?, body: JSONObject) {
        self.timestamp = timestamp
        self.body = body
    }

    /// Unknown members are ignored. Throws `malformed`.
    init(decoding bytes: ArraySlice<UInt8>) throws(SealError) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(parsing: Array(bytes)) } catch {
            throw SealError(.malformed, "the sealed content is not JSON")
        }
        guard let body = value["body"]?.object else {
            throw SealError(.malformed, "the sealed content has no body")
        }
        self.init(timestamp: value["timestamp"]?.integer, body: body)
    }

    var bytes: [UInt8] {
        let object: JSONValue = ["timestamp": timestamp.map(JSONValue.integer), "body": .object(body)]
        return object.serializedBytes()
    }
}
