internal import Glibc

/// An IP address as bytes and as its one text. An IPv4 address mapped into IPv6 is the IPv4 address.
package struct NumericAddress: Sendable, Equatable {
    /// Four or sixteen.
    package let bytes: [UInt8]
    package let text: String

    /// `192.0.2.1`, `192.0.2.1:8080`, `2001:db8::1` or `[2001:db8::1]:8080`, with spaces around it.
    package init?(_ text: Substring) {
        var host = text
        while host.first == " " || host.first == "\t" { host.removeFirst() }
        while host.last == " " || host.last == "\t" { host.removeLast() }
        if host.first == "[", let end = host.firstIndex(of: "]") {
            guard Self.isPort(host[host.index(after: end)...]) else { return nil }
            host = host[host.index(after: host.startIndex)..<end]
            guard host.contains(":") else { return nil }
        } else if let colon = host.firstIndex(of: ":"), host[host.index(after: colon)...].firstIndex(of: ":") == nil {
            guard Self.isPort(host[colon...]) else { return nil }
            host = host[..<colon]
        }
        var bytes = [UInt8](repeating: 0, count: host.contains(":") ? 16 : 4)
        guard inet_pton(bytes.count == 16 ? AF_INET6 : AF_INET, String(host), &bytes) == 1 else { return nil }
        self.init(bytes: bytes)
    }

    /// `nil` unless there are four or sixteen.
    package init?(bytes: some Sequence<UInt8>) {
        var bytes = Array(bytes)
        let mapped: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]
        if bytes.count == 16, bytes.starts(with: mapped) { bytes.removeFirst(12) }
        guard bytes.count == 4 || bytes.count == 16 else { return nil }
        var text = [CChar](repeating: 0, count: 64)
        guard inet_ntop(bytes.count == 4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count)) != nil else {
            return nil
        }
        self.bytes = bytes
        self.text = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    var isLoopback: Bool { bytes.count == 4 ? bytes.first == 127 : text == "::1" }

    /// Nothing, or a colon and a port.
    private static func isPort(_ text: Substring) -> Bool {
        text.isEmpty || text.first == ":" && UInt16(text.dropFirst()) != nil
    }
}

/// Addresses with the same beginning: `10.0.0.0/8`, `2001:db8::/32`, or one address.
package struct AddressBlock: Sendable, Equatable {
    private let address: NumericAddress
    private let length: Int

    /// `nil` = not an address, or its length is not one of 0 to 32, of IPv6 0 to 128.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let address = NumericAddress(parts[0]) else { return nil }
        let most = address.bytes.count * 8
        guard let length = parts.count == 2 ? Int(parts[1]) : most, (0...most).contains(length) else { return nil }
        self.address = address
        self.length = length
    }

    package func contains(_ other: NumericAddress) -> Bool {
        guard other.bytes.count == address.bytes.count else { return false }
        let whole = length / 8
        guard other.bytes.prefix(whole) == address.bytes.prefix(whole) else { return false }
        guard length % 8 > 0 else { return true }
        let mask = ~UInt8(0) << (8 - length % 8)
        return other.bytes[whole] & mask == address.bytes[whole] & mask
    }
}
