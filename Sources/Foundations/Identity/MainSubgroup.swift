import CSodium

/// Checks whether a point is in the main subgroup of Ed25519: a key that isn't has another key with the same signatures
/// and boxes.
///
/// Up to 1.0.20, libsodium also accepts the sum of a point of the main subgroup and the point of order two
/// (CVE-2025-69277). Distributions fix that without a new version number, so the library in use is tried out once. If it
/// has the bug, every point takes a second scalar multiplication, about 0.1 ms.
enum MainSubgroup {
    /// The base point plus the point of order two: not in the main subgroup.
    static let impostor: [UInt8] = [UInt8(0x95)] + [UInt8](repeating: 0x99, count: 31)

    private static let isCheckedByLibrary: Bool = crypto_core_ed25519_is_valid_point(impostor) == 0

    /// - Parameter bytes: 32 of them.
    static func contains(_ bytes: [UInt8]) -> Bool {
        guard crypto_core_ed25519_is_valid_point(bytes) == 1 else { return false }
        return isCheckedByLibrary || isFixed(bytes)
    }

    /// Is the point times the group's order, minus one, its own negative? Adding the point of order two breaks that, because
    /// the factor is even.
    ///
    /// - Parameter bytes: of a point that libsodium accepts.
    static func isFixed(_ bytes: [UInt8]) -> Bool {
        var product = [UInt8](repeating: 0, count: Int(crypto_core_ed25519_BYTES))
        guard bytes.count == product.count, crypto_scalarmult_ed25519_noclamp(&product, orderMinusOne, bytes) == 0
        else { return false }
        product[product.count - 1] ^= 0x80
        return product == bytes
    }

    /// 2^252 + 27742317777372353535851937790883648492, little-endian.
    private static let orderMinusOne: [UInt8] = [
        0xec, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
    ]
}
