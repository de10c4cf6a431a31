extension String {
    /// What is before and after the first `=`; `nil` = there is none.
    var assignment: (name: String, value: String)? {
        let parts = split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return parts.count == 2 ? (String(parts[0]), String(parts[1])) : nil
    }

    /// Of `HOST:PORT`, an IPv6 address with or without brackets; `nil` = it is none.
    var hostAndPort: (host: String, port: UInt16)? {
        guard let colon = lastIndex(of: ":"), let port = UInt16(self[index(after: colon)...]) else { return nil }
        let host = self[..<colon]
        let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
        return (String(isBracketed ? host.dropFirst().dropLast() : host), port)
    }
}
