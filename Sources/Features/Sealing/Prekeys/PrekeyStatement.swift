package import Identity
package import JSON

/// All prekeys that a device offers a desktop; earlier ones count no more (WirePrekeys, "Publication"). In sessions only.
package struct PrekeyStatement: Sendable, Equatable {
    package static let type = "bellwire:prekeys"

    /// For one push each, in the order in which they are to be used.
    package let keys: [AgreementPublicKey]
    /// For when the others are used up.
    package let lastResort: AgreementPublicKey

    package init(keys: [AgreementPublicKey], lastResort: AgreementPublicKey) {
        self.keys = keys
        self.lastResort = lastResort
    }

    /// Reads the inner payload. Unknown members are ignored. Throws `malformed`, `weak_point`.
    package init(payload: JSONObject) throws(SealError) {
        guard payload["v"] == .integer(1), let texts = payload["keys"]?.array, texts.count <= PrekeyLimits.stated else {
            throw SealError(.malformed, "the payload does not state prekeys")
        }
        var keys: [AgreementPublicKey] = []
        for text in texts { keys.append(try Self.key(text)) }
        lastResort = try Self.key(payload["last"])
        guard Set(keys + [lastResort]).count == keys.count + 1 else {
            throw SealError(.malformed, "a prekey is stated twice")
        }
        self.keys = keys
    }

    /// The whole payload.
    package var json: JSONValue {
        [
            "type": .string(Self.type),
            "payload": [
                "v": 1, "keys": .array(keys.map { .string(PublicBase64URL.encode($0.bytes)) }),
                "last": .string(PublicBase64URL.encode(lastResort.bytes)),
            ],
        ]
    }

    private static func key(_ value: JSONValue?) throws(SealError) -> AgreementPublicKey {
        guard let text = value?.string, text.utf8.count == 43, let bytes = PublicBase64URL.decode(text) else {
            throw SealError(.malformed, "a prekey is not 32 bytes in base64url")
        }
        do throws(NoiseError) { return try AgreementPublicKey(bytes: bytes) } catch {
            throw SealError(.weakPoint, "a prekey is not a valid point")
        }
    }
}

/// A desktop has few unused prekeys of the device's left (WirePrekeys, "Publication"). In sessions only.
package struct PrekeyShortage: Sendable, Equatable {
    package static let type = "bellwire:prekeys.low"

    /// Single-use ones.
    package let left: Int

    package init(left: Int) { self.left = left }

    /// Reads the inner payload; `nil` when it is none.
    package init?(payload: JSONObject) {
        guard payload["v"] == .integer(1), case .integer(let left)? = payload["left"],
            (0...Int64(PrekeyLimits.stated)).contains(left)
        else { return nil }
        self.left = Int(left)
    }

    /// The whole payload.
    package var json: JSONValue {
        ["type": .string(Self.type), "payload": ["v": 1, "left": .integer(Int64(left))]]
    }
}
