import Identity
package import JSON

/// A frame of a handshake (WireSessions, "Handshake"). It has no effect by itself.
package enum HandshakeFrame: Sendable, Equatable {
    /// Step 0: the desktop asks the device for a handshake. Anyone may have written it.
    case request
    /// Step 0 with a nonce: step 1 is to carry a tag, because too many came without.
    case challenge([UInt8])
    /// Step 1, from the device.
    case initiation(Initiation)
    /// Step 2, from the desktop.
    case answer(Answer)

    package struct Initiation: Sendable, Equatable {
        package let id: SessionID
        package let suites: [SessionSuite]
        package let noise: [UInt8]
        /// That its sender has the preshared key; only where the desktop has asked for one.
        var tag: [UInt8]? = nil

        /// The same handshake, whether with a tag or without.
        func isSame(as other: Initiation) -> Bool {
            id == other.id && suites == other.suites && noise == other.noise
        }
    }

    package struct Answer: Sendable, Equatable {
        package let id: SessionID
        package let suite: SessionSuite
        package let noise: [UInt8]
    }

    package static let type = "bellwire:hs"
    static let version: Int64 = 2

    /// Reads the whole payload. Unknown members are ignored. Throws `malformed`.
    package init(decoding payload: JSONObject) throws(SealError) {
        guard payload["type"]?.string == Self.type, let fields = payload["payload"]?.object else {
            throw SealError(.malformed, "the payload is not a handshake")
        }
        guard case .integer(Self.version)? = fields["v"] else {
            throw SealError(.malformed, "unknown handshake version")
        }
        switch fields["step"] {
        case .integer(0): self = Self.bytes(fields["nonce"], 16).map { .challenge($0) } ?? .request
        case .integer(1):
            self = .initiation(
                Initiation(
                    id: try Self.id(fields), suites: try Self.suites(fields), noise: try Self.noise(fields),
                    tag: Self.bytes(fields["tag"], 32)))
        case .integer(2):
            guard let suite = Self.suite(fields["suite"]) else {
                throw SealError(.malformed, "the handshake's suite is not a number from 1 to 65535")
            }
            self = .answer(Answer(id: try Self.id(fields), suite: suite, noise: try Self.noise(fields)))
        default: throw SealError(.malformed, "unknown handshake step")
        }
    }

    /// The whole payload.
    package var json: JSONObject {
        let fields: JSONValue =
            switch self {
            case .request: ["v": .integer(Self.version), "step": 0]
            case .challenge(let nonce):
                ["v": .integer(Self.version), "step": 0, "nonce": .string(PublicBase64URL.encode(nonce))]
            case .initiation(let frame):
                [
                    "v": .integer(Self.version), "step": 1, "sid": .string(frame.id.text),
                    "suites": .array(frame.suites.map { .integer(Int64($0.number)) }),
                    "noise": .string(PublicBase64URL.encode(frame.noise)),
                    "tag": frame.tag.map { .string(PublicBase64URL.encode($0)) },
                ]
            case .answer(let frame):
                [
                    "v": .integer(Self.version), "step": 2, "sid": .string(frame.id.text),
                    "suite": .integer(Int64(frame.suite.number)),
                    "noise": .string(PublicBase64URL.encode(frame.noise)),
                ]
            }
        return ["type": .string(Self.type), "payload": fields]
    }

    /// So many bytes; `nil` for anything else, which counts as if it were not there.
    private static func bytes(_ value: JSONValue?, _ count: Int) -> [UInt8]? {
        guard let text = value?.string, text.utf8.count <= 64, let bytes = PublicBase64URL.decode(text) else {
            return nil
        }
        return bytes.count == count ? bytes : nil
    }

    private static func id(_ fields: JSONObject) throws(SealError) -> SessionID {
        guard let text = fields["sid"]?.string, let id = SessionID(text) else {
            throw SealError(.malformed, "the session id is not 16 bytes in base64url")
        }
        return id
    }

    private static func suites(_ fields: JSONObject) throws(SealError) -> [SessionSuite] {
        let numbers = fields["suites"]?.array ?? []
        let suites = numbers.prefix(SessionSuite.offerLimit).compactMap { suite($0) }
        guard !suites.isEmpty, suites.count == numbers.count, Set(suites).count == suites.count else {
            throw SealError(.malformed, "the handshake's suites are not 1 to 16 different numbers from 1 to 65535")
        }
        return suites
    }

    private static func suite(_ value: JSONValue?) -> SessionSuite? {
        guard case .integer(let number)? = value, let number = UInt16(exactly: number), number > 0 else { return nil }
        return SessionSuite(number: number)
    }

    /// 48 bytes: an ephemeral key and the tag of an empty payload.
    private static func noise(_ fields: JSONObject) throws(SealError) -> [UInt8] {
        guard let text = fields["noise"]?.string, text.utf8.count == 64, let noise = PublicBase64URL.decode(text),
            noise.count == NoiseKKpsk2.messageByteCount
        else { throw SealError(.malformed, "the handshake's message is not 48 bytes in base64url") }
        return noise
    }
}
