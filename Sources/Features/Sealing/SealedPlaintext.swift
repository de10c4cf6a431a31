import JSON
import Wire

/// The content of a seal: `{"from","to","epoch","seq","timestamp","body":{…}}` (WireSealing, "The seal").
struct SealedPlaintext: Sendable, Equatable {
    let from: PeerID
    let to: PeerID
    /// Which start of the sender's.
    let epoch: Int64
    /// Which frame of that start's, to this peer.
    let seq: Int64
    /// When it was sealed: informs, decides nothing. `nil` where it is none.
    let timestamp: EpochMilliseconds?
    /// A complete payload (WireSealing, "The seal").
    let body: JSONObject

    init(from: PeerID, to: PeerID, epoch: Int64, seq: Int64, timestamp: EpochMilliseconds?, body: JSONObject) {
        self.from = from
        self.to = to
        self.epoch = epoch
        self.seq = seq
        self.timestamp = timestamp
        self.body = body
    }

    /// Other fields are ignored. Throws `malformed`.
    init(decoding bytes: [UInt8]) throws(SealError) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(parsing: bytes) } catch {
            throw SealError(.malformed, "the sealed content is not JSON")
        }
        guard let from = value["from"]?.string, !from.isEmpty, let to = value["to"]?.string, !to.isEmpty,
            case .integer(let epoch) = value["epoch"], case .integer(let seq) = value["seq"], epoch > 0, seq > 0,
            let body = value["body"]?.object
        else {
            throw SealError(.malformed, "the sealed content is not a frame: a field is missing or has the wrong type")
        }
        self.init(
            from: PeerID(from), to: PeerID(to), epoch: epoch, seq: seq, timestamp: value["timestamp"]?.integer,
            body: body)
    }

    var bytes: [UInt8] {
        let object: JSONValue = [
            "from": .string(from.text), "to": .string(to.text), "epoch": .integer(epoch), "seq": .integer(seq),
            "timestamp": timestamp.map(JSONValue.integer), "body": .object(body),
        ]
        return object.serializedBytes()
    }
}
