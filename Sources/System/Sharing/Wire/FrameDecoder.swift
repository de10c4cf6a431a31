package import Hosting
package import JSON

/// Splits what comes over a state directory's socket into frames: a length of four bytes, the highest first, then a JSON
/// object of that many bytes.
///
/// A pure value. The length counts for what follows it.
package struct FrameDecoder {
    /// Limit of one frame, in both directions. Pages and batches are cut to stay below it.
    package static let maximumBytes = 16 << 20
    /// Limit of a hello, the only frame that a program may send before it was accepted.
    package static let helloBytes = 1 << 16

    /// Longer frames are errors.
    package var limit: Int
    private var bytes: [UInt8] = []
    private var start = 0

    package init(limit: Int = FrameDecoder.maximumBytes) { self.limit = limit }

    /// How many bytes wait for the rest of their frame.
    package var count: Int { bytes.count - start }

    package mutating func append(_ new: UnsafeRawBufferPointer) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: new)
    }

    /// The next whole frame and its size; `nil` = more bytes are needed.
    ///
    /// Errors: `undecodable` for a frame that is too long or isn't a JSON object. The connection is of no use then.
    package mutating func next() throws(HostError) -> (object: JSONObject, bytes: Int)? {
        guard bytes.count - start >= 4 else { return nil }
        let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
        guard length <= limit else {
            throw HostError(.undecodable, "a frame of \(length) bytes; at most \(limit) are allowed")
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
            return (object, length)
        } catch {
            throw HostError(.undecodable, "a frame is not a JSON object: \(error.message)")
        }
    }

    /// Errors: `limit`, with `"reason":"too_large"`, for an object that a frame can't hold.
    package static func encode(
        _ object: JSONObject, limit: Int = FrameDecoder.maximumBytes
    ) throws(HostError) -> [UInt8] {
        let value = JSONValue.object(object)
        let count = value.serializedCount
        guard count <= limit, let length = UInt32(exactly: count) else { throw .tooLarge(count, limit: limit) }
        return [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: length >> $0) } + value.serializedBytes()
    }
}

extension HostError {
    static func tooLarge(_ bytes: Int, limit: Int) -> HostError {
        HostError(
            .limit,
            "\(bytes) bytes of JSON are too many: programs that share a state directory exchange at most \(limit) at once",
            detail: ["reason": "too_large", "bytes": .integer(Int64(bytes)), "limit": .integer(Int64(limit))])
    }
}
