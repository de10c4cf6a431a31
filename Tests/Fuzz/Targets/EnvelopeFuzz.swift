import JSON

@testable import Relay

extension FuzzTarget {
    /// The scanner's verdict is jansson's, and the members that it finds are those of the parsed object.
    static let envelope = FuzzTarget("envelope", limit: 512) { bytes in
        // Transport lets only whole UTF-8 through. jansson reads over a bare NUL, which is not JSON.
        guard String(validating: bytes, as: UTF8.self) != nil else { return }
        let scanned = Result { try bytes.withUnsafeBytes { try EnvelopeScanner.scan($0) } }
        guard !bytes.contains(0) else {
            try require((try? scanned.get()) == nil, "a bare NUL is accepted")
            return
        }
        let object: JSONObject?
        do throws(JSONError) {
            let text = String(decoding: bytes, as: UTF8.self)
            object = try JSONValue(parsing: text, depth: JSONValue.longestDepth).object
        } catch {
            // Left to the receiver: keys that are repeated further down, and numbers out of range.
            if error.code == .duplicateKey || error.code == .numberRange { return }
            object = nil
        }
        guard let envelope = try? scanned.get(), let object else {
            try require((object == nil) == ((try? scanned.get()) == nil), "jansson disagrees: \(object != nil)")
            return
        }
        let fields: [(String, Envelope.Field)] = [
            ("type", envelope.type), ("to", envelope.to), ("from", envelope.from), ("peerId", envelope.peerID),
            ("payload", envelope.payload), ("sealed", envelope.sealed), ("messageId", envelope.messageID),
            ("id", envelope.id), ("deviceType", envelope.deviceType), ("deviceInfo", envelope.deviceInfo),
            ("bellwire", envelope.bellwire), ("proof", envelope.proof),
        ]
        for (name, field) in fields {
            let found = field.isAbsent ? JSONValue?.none : try JSONValue(parsing: Array(bytes[field.range]))
            try require(found == object[name], "\(name) is another value")
            guard let value = found?.string else { continue }
            let text = bytes[field.inner].withUnsafeBytes { JSONText.unescaped($0) }
            try require(String(decoding: text, as: UTF8.self) == value, "\(name) is unescaped differently")
            var quoted: [UInt8] = []
            JSONText.appendQuoted(text, to: &quoted)
            try require(try JSONValue(parsing: quoted) == .string(value), "\(name) is quoted differently")
        }
    }
}
