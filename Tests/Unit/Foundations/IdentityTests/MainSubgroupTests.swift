import Testing

@testable import Identity

/// Keys outside the main subgroup, which libsodium accepted before CVE-2025-69277 was fixed.
@Suite struct MainSubgroupTests {
    init() throws { try Identity.start() }

    @Test("a point with a part of order two is no key, whichever libsodium is there")
    func impostor() {
        #expect(PublicKey(bytes: MainSubgroup.impostor) == nil)
        #expect(!MainSubgroup.contains(MainSubgroup.impostor))
        #expect(!MainSubgroup.isFixed(MainSubgroup.impostor), "also where the library would accept it")
    }

    @Test(
        "every key's point passes the own check; with the part of order two it does not",
        arguments: 1...20 as ClosedRange<UInt8>)
    func keys(seed: UInt8) throws {
        let point = try SigningKey(seed: [UInt8](repeating: seed, count: 32)).publicKey.bytes
        #expect(MainSubgroup.contains(point) && MainSubgroup.isFixed(point))
        // (x, y) plus the point of order two is (-x, -y): p - y, and the other sign.
        var borrow = 0
        let prime: [Int] = [0xed] + [Int](repeating: 0xff, count: 30) + [0x7f]
        var other = [UInt8](repeating: 0, count: 32)
        for index in 0..<32 {
            let y = Int(index == 31 ? point[index] & 0x7f : point[index])
            let difference = prime[index] - y - borrow
            borrow = difference < 0 ? 1 : 0
            other[index] = UInt8(difference & 0xff)
        }
        other[31] |= ~point[31] & 0x80
        #expect(!MainSubgroup.contains(other))
        #expect(PublicKey(bytes: other) == nil)
    }
}
