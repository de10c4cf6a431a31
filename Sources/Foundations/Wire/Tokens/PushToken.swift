package import JSON

/// The name of a push service, such as `fcm` or `apns`: 1 to 64 of letters, digits, `.`, `_` and `-`.
package struct PushService: Sendable, Hashable {
    package static let maximumBytes = 64

    package let text: String

    package init?(_ text: String) {
        guard (1...Self.maximumBytes).contains(text.utf8.count), text.utf8.allSatisfy(Self.isAllowed) else {
            return nil
        }
        self.text = text
    }

    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "-"):
            true
        default: false
        }
    }
}

/// A device's token at a push service: 1 to 4,096 bytes, written as lower-case hex.
package struct PushToken: Sendable, Hashable {
    package static let maximumBytes = 4_096

    package let hex: String

    /// From the bytes that the service gave. `nil`: none, or too many.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard (1...Self.maximumBytes).contains(bytes.count) else { return nil }
        var hex: [UInt8] = []
        hex.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            hex.append(Self.digit(byte >> 4))
            hex.append(Self.digit(byte & 15))
        }
        self.hex = String(decoding: hex, as: UTF8.self)
    }

    /// From hex, in either case. `nil`: it is none.
    package init?(hex text: String) {
        let count = text.utf8.count
        guard count % 2 == 0, (2...Self.maximumBytes * 2).contains(count) else { return nil }
        var hex: [UInt8] = []
        hex.reserveCapacity(count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): hex.append(byte)
            case UInt8(ascii: "A")...UInt8(ascii: "F"): hex.append(byte | 0x20)
            default: return nil
            }
        }
        self.hex = String(decoding: hex, as: UTF8.self)
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x57 &+ value }
}

/// A device gives its desktop the token of a push service, or takes it back (WireSealing, "Push tokens").
package struct PushTokenStatement: Sendable, Equatable {
    package static let givenType = "bellwire:token"
    package static let removedType = "bellwire:token.remove"

    package let service: PushService
    /// `nil` = it has none any more.
    package let token: PushToken?

    package init(_ service: PushService, _ token: PushToken?) {
        self.service = service
        self.token = token
    }

    /// Reads the inner payload of either type; `nil` when it is none, or speaks of another device than its sender.
    ///
    /// - Parameter ids: what the sender calls itself.
    package init?(type: String, payload: JSONObject, of ids: [String]) {
        guard let text = payload["service"]?.string, let service = PushService(text),
            let device = payload["deviceId"]?.string, ids.contains(device)
        else { return nil }
        switch type {
        case Self.givenType:
            guard let hex = payload["token"]?.string, let token = PushToken(hex: hex) else { return nil }
            self.init(service, token)
        case Self.removedType: self.init(service, nil)
        default: return nil
        }
    }

    /// The whole payload of a `message`.
    package func json(deviceID: String) -> JSONValue {
        var fields: JSONObject = ["service": .string(service.text)]
        if let token { fields["token"] = .string(token.hex) }
        fields["deviceId"] = .string(deviceID)
        return ["type": .string(token == nil ? Self.removedType : Self.givenType), "payload": .object(fields)]
    }
}
