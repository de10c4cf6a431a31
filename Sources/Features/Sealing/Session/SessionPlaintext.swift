import JSON
import Wire

/// The content of a session's frame: `{"epoch","timestamp","body":{…}}` (WireSessions, "Frames"). Who sealed it, for whom and
/// as which frame is in the associated data and the handshake.
struct SessionPlaintext: Sendable, Equatable {
    /// The start of the sender, as in version 1 (WireSealing, "Replay protection"); `nil` = it doesn't say.
    let epoch: Int64?
    /// When it was sealed: informs, decides nothing. `nil` where it is none.
    let timestamp: EpochMilliseconds?
    /// A complete payload.
    let body: JSONObject

    init(epoch: Int64? = nil, timestamp: EpochMilliseconds?, body: JSONObject) {
        self.epoch = epoch
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
        let epoch = value["epoch"]?.integer.flatMap { $0 > 0 ? $0 : nil }
        self.init(epoch: epoch, timestamp: value["timestamp"]?.integer, body: body)
    }

    var bytes: [UInt8] {
        let object: JSONValue = [
            "epoch": epoch.map(JSONValue.integer), "timestamp": timestamp.map(JSONValue.integer), "body": .object(body),
        ]
        return object.serializedBytes()
    }

    /// To be padded: all short ones have the same length.
    var filledBytes: [UInt8] {
        var bytes = bytes
        Padding.fill(&bytes)
        return bytes
    }
}
