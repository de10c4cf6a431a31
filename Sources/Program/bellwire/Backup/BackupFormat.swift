import CSodium
import Glibc
import Identity
import JSON

/// The file of `bellwire backup`: a tar archive of regular files, with a description of all of them at its end.
///
/// Any tar program can list and unpack it. The description is `bellwire-backup.json`: the version of the format, the time,
/// and for each file its size and SHA-256. An archive without it is incomplete.
enum BackupFormat {
    static let description = "bellwire-backup.json"
    static let version: Int64 = 1
    static let blockSize = 512
    /// A larger description is not read, in bytes.
    static let descriptionLimit = 1 << 20

    /// A block of tar's older format, which every program reads (ustar).
    static func header(_ name: String, size: Int, time: Int64) -> [UInt8] {
        var block = [UInt8](repeating: 0, count: blockSize)
        func put(_ text: String, at place: Int) {
            for (index, byte) in text.utf8.enumerated() { block[place + index] = byte }
        }
        put(name, at: 0)
        put("0000600", at: 100)
        put("0000000", at: 108)
        put("0000000", at: 116)
        put(octal(size, digits: 11), at: 124)
        put(octal(Int(clamping: max(0, time)), digits: 11), at: 136)
        put("        ", at: 148)
        put("0", at: 156)
        put("ustar", at: 257)
        put("00", at: 263)
        put(octal(block.reduce(0) { $0 + Int($1) }, digits: 6) + "\0 ", at: 148)
        return block
    }

    /// Name and size from a file's block; `nil` if this program does not write such blocks.
    static func file(_ block: [UInt8]) -> (name: String, size: Int)? {
        guard block.count == blockSize, block[156] == UInt8(ascii: "0"),
            let size = number(block[124..<135]), let sum = number(block[148..<154])
        else { return nil }
        var blank = block
        for place in 148..<156 { blank[place] = UInt8(ascii: " ") }
        guard blank.reduce(0, { $0 + Int($1) }) == sum else { return nil }
        guard let name = String(validating: block[..<100].prefix { $0 != 0 }, as: UTF8.self) else { return nil }
        return (name, size)
    }

    static func padding(_ size: Int) -> Int { (blockSize - size % blockSize) % blockSize }

    private static func octal(_ number: Int, digits: Int) -> String {
        let text = String(number, radix: 8)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        String(validating: bytes, as: UTF8.self).flatMap { Int($0, radix: 8) }.flatMap { $0 >= 0 ? $0 : nil }
    }
}

/// SHA-256 of bytes that come one after the other.
struct RunningHash {
    private var state = crypto_hash_sha256_state()

    init() { crypto_hash_sha256_init(&state) }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        crypto_hash_sha256_update(&state, bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), UInt64(bytes.count))
    }

    /// In hexadecimal; nothing can be added after it.
    mutating func end() -> String {
        var hash = [UInt8](repeating: 0, count: 32)
        crypto_hash_sha256_final(&state, &hash)
        return hash.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}

extension FileBytes {
    static func write(_ descriptor: Int32, _ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes { buffer in
            buffer.baseAddress.map { write(descriptor, from: $0, count: buffer.count) } ?? true
        }
    }
}
