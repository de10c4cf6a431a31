package import Hosting
package import JSON

/// Splits what comes over a state directory's socket into frames: a length of four bytes, the highest first, then a JSON
/// object of that many bytes.
///
/// A pure value. The length counts for what follows it.
package struct FrameDecoder {
    /// Of one frame. The longest results, pages of the history, are far below it.
    package static let maximumBytes = 16 << 20

    private var bytes: [UInt8] = []
    private var start = 0

    package init() {}

    package mutating func append(_ new: UnsafeRawBufferPointer) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: new)
    }

    /// The next whole frame; `nil` = more bytes are needed.
    ///
    /// Errors: `undecodable` for a frame that is too long or isn't a JSON object. The connection is of no use then.
    package mutating func next() throws(HostError) -> JSONObject? {
        guard bytes.count - start >= 4 else { return nil }
        let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        guard length <= Self.maximumBytes else {
            throw HostError(.undecodable, "a frame of \(length) bytes; at most \(Self.maximumBytes) are allowed")
        }
        guard bytes.count - start >= 4 + length else { return nil }
        let body = Array(bytes[(start + 4)..<(start + 4 + length)])
        start += 4 + length
        if start == bytes.count {
            bytes.removeAll(keepingCapacity: bytes.capacity <= 65_536)
            start = 0
        }
        do throws(JSONError) {
            guard let object = try JSONValue(parsing: body).object else {
                throw JSONError(.syntax, "not an object")
            }
            return object
        } catch {
            throw HostError(.undecodable, "a frame is not a JSON object: \(error.message)")
        }
    }

    package static func encode(_ object: JSONObject) -> [UInt8] {
        let body = JSONValue.object(object).serializedBytes()
        let length = UInt32(clamping: body.count)
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + body
    }
}
