@testable import Addresses
import Identity

@testable import Relay

import Transport

/// The rule over the bytes of an address, written down once more in another way.
private func isPublic(_ bytes: [UInt8]) -> Bool {
    let (a, b, c) = (bytes[0], bytes[1], bytes[2])
    if bytes.count == 4 {
        switch (a, b, c) {
        case (0, _, _), (10, _, _), (127, _, _), (224..., _, _): return false
        case (100, 64...127, _), (169, 254, _), (172, 16...31, _), (192, 168, _), (198, 18...19, _): return false
        case (192, 0, 0), (192, 0, 2), (192, 88, 99), (198, 51, 100), (203, 0, 113): return false
        default: return true
        }
    }
    guard a & 0xe0 == 0x20 else { return false }
    switch (a, b, c, bytes[3]) {
    case (0x20, 0x01, 0x00...0x01, _), (0x20, 0x01, 0x0d, 0xb8), (0x20, 0x02, _, _): return false
    case (0x3f, 0xff, 0x00...0x0f, _): return false
    default: return true
    }
}

extension FuzzTarget {
    /// Addresses and URLs read back as what they print; the public ones are those of a second, plain list.
    static let addresses = FuzzTarget("addresses", limit: 256) { bytes in
        let text = String(decoding: bytes, as: UTF8.self)
        if let url = try? WebSocketURL(text) {
            try require(try WebSocketURL(url.description) == url, "a relay's URL reads back as another one")
            try require(try WebSocketURL(url.origin).origin == url.origin, "an origin is not its own")
        }
        if let url = try? HTTPSURL(text) {
            try require(try HTTPSURL(url.text) == url, "an https URL reads back as another one")
            try require(!url.text.utf8.contains { $0 <= 0x20 || $0 >= 0x7f }, "it has bytes that no URL has")
        }
        if let address = IPAddress(text) {
            try require(IPAddress(address.description) == address, "an address reads back as another one")
            try require(IPAddress(bytes: address.bytes) == address, "its bytes are another address")
        }
        if let range = AddressRange(text) { try require(range.contains(range.first), "a range without its first") }
        if let address = RelayOptions.Address(text) { try require(!address.host.isEmpty, "a host without a name") }
        for count in [4, 16] where bytes.count >= count {
            let raw = Array(bytes.prefix(count))
            guard let address = IPAddress(bytes: raw) else { throw FuzzFinding("bytes that are not an address") }
            try require(IPAddress(address.description) == address, "\(address) reads back as another one")
            try require(AddressRule.isPublic(address) == isPublic(raw), "\(address) is public: \(!isPublic(raw))")
            try require(!AddressRule().permits(address) || isPublic(raw), "\(address) may be connected to")
            let other = Array(bytes.dropFirst(count).prefix(count))
            guard let second = IPAddress(bytes: other) else { continue }
            let isSame = count == 4 ? raw == other : raw.prefix(8) == other.prefix(8)
            let networks = [address, second].map { PeerAddress.network(of: $0.description) }
            // Mapped ones are given as IPv4 by the socket, not as text.
            try require((networks[0] == networks[1]) == isSame, "\(address) and \(second): \(networks)")
        }
    }

    /// Every encoding reads back as what was written, and its two readers agree.
    static let encodings = FuzzTarget("encodings", limit: 256) { bytes in
        _ = try FuzzKeys.shared.get()
        let text = String(decoding: bytes, as: UTF8.self)
        try require(TextEncoding.base64url.decode(TextEncoding.base64url.encode(bytes)) == bytes, "base64url")
        try require(TextEncoding.hex.decode(TextEncoding.hex.encode(bytes)) == bytes, "hex")
        try require(PublicBase64URL.encode(bytes) == TextEncoding.base64url.encode(bytes), "two base64url")
        try require(PublicBase64URL.decode(text) == TextEncoding.base64url.decode(text), "two base64url readers")
        if let decoded = PublicBase64URL.decode(text) {
            try require(PublicBase64URL.encode(decoded) == text, "one value has two texts")
        }
        if let key = PublicKey(did: text) { try require(key.did == text, "one key has two ids") }
        if bytes.count >= 32, let key = PublicKey(bytes: Array(bytes.prefix(32))) {
            try require(PublicKey(did: key.did)?.bytes == key.bytes, "a key's id reads as another key")
        }
    }
}
