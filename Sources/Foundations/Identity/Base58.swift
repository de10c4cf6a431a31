/// base58btc, for ids of some dozens of bytes: the conversion takes quadratic time.
enum Base58 {
    private static let alphabet = Array("123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz".utf8)

    static func encode(_ bytes: [UInt8]) -> String {
        let zeros = bytes.prefix { $0 == 0 }.count
        // The number in base 58, least significant digit first.
        var digits: [UInt8] = []
        for byte in bytes.dropFirst(zeros) {
            var carry = Int(byte)
            for index in digits.indices {
                carry += Int(digits[index]) << 8
                digits[index] = UInt8(carry % 58)
                carry /= 58
            }
            while carry > 0 {
                digits.append(UInt8(carry % 58))
                carry /= 58
            }
        }
        let text = [UInt8](repeating: alphabet[0], count: zeros) + digits.reversed().map { alphabet[Int($0)] }
        return String(decoding: text, as: UTF8.self)
    }

    /// `nil` if a character is not of the alphabet. The caller bounds the length.
    static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var zeros = 0
        var isLeading = true
        // The number in base 256, least significant byte first.
        var bytes: [UInt8] = []
        for character in text {
            guard let digit = alphabet.firstIndex(of: character) else { return nil }
            if isLeading && digit == 0 {
                zeros += 1
                continue
            }
            isLeading = false
            var carry = digit
            for index in bytes.indices {
                carry += Int(bytes[index]) * 58
                bytes[index] = UInt8(carry & 0xff)
                carry >>= 8
            }
            while carry > 0 {
                bytes.append(UInt8(carry & 0xff))
                carry >>= 8
            }
        }
        return [UInt8](repeating: 0, count: zeros) + bytes.reversed()
    }
}
