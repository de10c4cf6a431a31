import CSodium

/// The `psk` of a handshake: what both sides keep of the pairing's secret (WireSessions, "Keys").
///
/// Never the pairing's secret itself. In protected memory, wiped with the last reference.
package final class PresharedKey: Sendable, Equatable {
    package static let byteCount = 32

    let bytes: SecretBytes
    /// Whether it comes from a pairing. Otherwise it is all zeros: of a pair that was made before, whose sessions rest on
    /// the identity keys alone.
    package let isFromPairing: Bool

    private init(_ bytes: SecretBytes, isFromPairing: Bool) {
        self.bytes = bytes
        self.isFromPairing = isFromPairing
    }

    /// HKDF-SHA256 (RFC 5869) of the pairing's secret, with the salt `bellwire-psk-v2` and the info
    /// `<device id>\n<desktop id>`. `nil` for an id with a line feed in it.
    package convenience init?(_ secret: PairingSecret, deviceID: String, desktopID: String) {
        for id in [deviceID, desktopID] where id.utf8.contains(UInt8(ascii: "\n")) { return nil }
        let salt = Array("bellwire-psk-v2".utf8)
        let info = Array("\(deviceID)\n\(desktopID)\u{1}".utf8)
        let extracted = salt.withUnsafeBufferPointer { salt in
            SecretBytes(count: NoiseFunctions.hashByteCount) { target in
                secret.bytes.withBytes { Self.hmac(key: salt, $0, secret.bytes.count, into: target) }
            }
        }
        // One block: T(1) = HMAC(PRK, info ‖ 0x01).
        let expanded = SecretBytes(count: Self.byteCount) { target in
            extracted?.withBytes { key in
                let key = UnsafeBufferPointer(start: key, count: NoiseFunctions.hashByteCount)
                return Self.hmac(key: key, info, info.count, into: target)
            } ?? false
        }
        guard let expanded else { return nil }
        self.init(expanded, isFromPairing: true)
    }

    /// What ``withBytes(_:)`` gave; `nil` unless it is 32 bytes, not all zeros. The caller wipes its own copy.
    package convenience init?(bytes: [UInt8]) {
        guard bytes.count == Self.byteCount, sodium_is_zero(bytes, bytes.count) == 0, let secret = SecretBytes(bytes)
        else { return nil }
        self.init(secret, isFromPairing: true)
    }

    /// Of pairs that were made before version 2: all zeros.
    package static func none() -> PresharedKey {
        let zeros = SecretBytes(count: byteCount) { target in
            sodium_memzero(target, byteCount)
            return true
        }
        guard let zeros else { preconditionFailure("32 bytes are a secret") }
        return PresharedKey(zeros, isFromPairing: false)
    }

    /// The 32 bytes for the store, wiped after the call.
    package func withBytes<T, E: Error>(_ body: ([UInt8]) throws(E) -> T) throws(E) -> T {
        var copy = bytes.withBytes { Array(UnsafeBufferPointer(start: $0, count: bytes.count)) }
        defer { Identity.wipe(&copy) }
        return try body(copy)
    }

    private static func hmac(
        key: UnsafeBufferPointer<UInt8>, _ message: UnsafePointer<UInt8>, _ count: Int,
        into target: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        guard let base = key.baseAddress else { return false }
        var state = crypto_auth_hmacsha256_state()
        defer { sodium_memzero(&state, MemoryLayout<crypto_auth_hmacsha256_state>.size) }
        crypto_auth_hmacsha256_init(&state, base, key.count)
        crypto_auth_hmacsha256_update(&state, message, UInt64(count))
        return crypto_auth_hmacsha256_final(&state, target) == 0
    }

    /// HMAC-SHA256 of a text that says what it is for.
    package func mac(_ text: String) -> [UInt8] { HMAC.sha256(key: bytes, over: text) }

    /// Compares in constant time.
    package func verifies(_ mac: [UInt8], _ text: String) -> Bool {
        mac.count == HMAC.byteCount && sodium_memcmp(mac, self.mac(text), HMAC.byteCount) == 0
    }

    /// In constant time.
    package static func == (left: PresharedKey, right: PresharedKey) -> Bool { left.bytes.isEqual(to: right.bytes) }
}

extension PresharedKey: CustomStringConvertible, CustomReflectable {
    /// Never the bytes: for whoever prints what holds a key.
    package var description: String { "a preshared key" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
