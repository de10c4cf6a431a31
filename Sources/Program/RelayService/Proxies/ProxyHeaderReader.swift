package import Transport

/// The PROXY protocol: a header before everything else of a connection, in binary (version 2) or as a line (version 1,
/// which is what nginx sends).
package enum ProxyHeaderReader {
    private static let signature: [UInt8] = [
        0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a,
    ]
    /// Signature, version and command, family, and the length of the rest.
    private static let fixed = 16
    /// A longer header is refused. Addresses take 36 bytes at most; the rest are extensions.
    static let maximumLength = 2_048

    private static let linePrefix = Array("PROXY ".utf8)
    /// With its line break (the protocol's own limit).
    private static let maximumLine = 107

    /// Reads a header at the beginning of `bytes`. Extensions are skipped.
    package static func read(_ bytes: UnsafeRawBufferPointer) -> ProxyHeader {
        if bytes.prefix(linePrefix.count).elementsEqual(linePrefix.prefix(bytes.count)) { return readLine(bytes) }
        guard bytes.prefix(signature.count).elementsEqual(signature.prefix(bytes.count)) else { return .invalid }
        guard bytes.count >= fixed else { return .needsMore }
        let rest = Int(bytes[14]) << 8 | Int(bytes[15])
        let length = fixed + rest
        guard length <= maximumLength, bytes[12] >> 4 == 2 else { return .invalid }
        guard bytes.count >= length else { return .needsMore }
        switch bytes[12] & 0x0f {
        // LOCAL: the proxy's own health check.
        case 0: return .client(nil, length: length)
        case 1: break
        default: return .invalid
        }
        let size: Int
        switch bytes[13] {
        case 0x00: return .client(nil, length: length)
        case 0x11: size = 4
        case 0x21: size = 16
        default: return .invalid
        }
        // Two addresses, two ports.
        guard rest >= size * 2 + 4, let address = NumericAddress(bytes: bytes[fixed..<fixed + size]) else {
            return .invalid
        }
        let port = UInt16(bytes[fixed + size * 2]) << 8 | UInt16(bytes[fixed + size * 2 + 1])
        // Limits hold for it, also if the proxy names its own machine.
        return .client(PeerAddress(host: address.text, port: port, isLoopback: false), length: length)
    }

    /// `PROXY TCP4 192.0.2.1 192.0.2.2 56324 443`.
    private static func readLine(_ bytes: UnsafeRawBufferPointer) -> ProxyHeader {
        let head = bytes.prefix(maximumLine)
        guard let end = head.firstIndex(of: UInt8(ascii: "\n")) else {
            return bytes.count < maximumLine ? .needsMore : .invalid
        }
        guard end > 0, head[end - 1] == UInt8(ascii: "\r") else { return .invalid }
        let words = String(decoding: head[..<(end - 1)], as: UTF8.self)
            .split(separator: " ", omittingEmptySubsequences: false)
        let length = end + 1
        guard words.count > 1, words[1] != "UNKNOWN" else {
            return words.count > 1 ? .client(nil, length: length) : .invalid
        }
        guard words.count == 6, words[1] == "TCP4" || words[1] == "TCP6",
            words[2].contains(":") == (words[1] == "TCP6"), let address = NumericAddress(words[2]),
            let port = UInt16(words[4])
        else { return .invalid }
        return .client(PeerAddress(host: address.text, port: port, isLoopback: false), length: length)
    }
}
