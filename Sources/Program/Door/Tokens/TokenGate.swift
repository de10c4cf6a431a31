import Identity
import Transport

/// Decides who may publish, and how much: reads the file again when it has changed, so that a revoked token is refused
/// at the next request.
struct TokenGate {
    /// One who may publish.
    struct Publisher {
        /// `nil` = without a token, from this machine.
        let token: DoorToken?

        var maximumBytes: Int { token?.maximumBytes ?? DoorToken.defaultMaximumBytes }
    }

    private struct Allowance {
        var requests: Double
        var at: UInt64
    }

    private let file: TokenFile
    /// Whether programs on this machine need no token.
    private let opensToLoopback: Bool
    private var version: TokenFile.Version?
    private var tokens: [String: DoorToken] = [:]
    /// What is left of each token's requests, by its digest. Of no more tokens than there are in the file.
    private var allowances: [String: Allowance] = [:]

    init(_ file: TokenFile, opensToLoopback: Bool) { (self.file, self.opensToLoopback) = (file, opensToLoopback) }

    /// A request counts, whatever becomes of it.
    ///
    /// - Parameter now: monotonic milliseconds.
    mutating func admit(_ head: HTTPRequestHead, isLoopback: Bool, now: UInt64) throws(DoorError) -> Publisher {
        guard head.headers.count(where: { $0.name.lowercased() == "authorization" }) <= 1 else { throw .unauthorized }
        guard let header = head["Authorization"] else {
            guard opensToLoopback, isLoopback else { throw .unauthorized }
            return Publisher(token: nil)
        }
        reload()
        guard let secret = Self.token(in: header), let token = tokens[DoorToken.digest(of: secret)] else {
            throw .unauthorized
        }
        try take(token, now)
        return Publisher(token: token)
    }

    private mutating func take(_ token: DoorToken, _ now: UInt64) throws(DoorError) {
        guard token.perMinute > 0 else { return }
        let full = Double(token.perMinute)
        var allowance = allowances[token.digest] ?? Allowance(requests: full, at: now)
        let elapsed = now > allowance.at ? Double(now - allowance.at) : 0
        allowance.requests = min(full, allowance.requests + elapsed * full / 60_000)
        allowance.at = max(now, allowance.at)
        let isAllowed = allowance.requests >= 1
        if isAllowed { allowance.requests -= 1 }
        allowances[token.digest] = allowance
        guard isAllowed else { throw .tooMany }
    }

    /// A file that can't be read lets nobody in.
    private mutating func reload() {
        let version = file.version()
        guard version != self.version || version == nil else { return }
        self.version = version
        let list = (try? file.tokens()) ?? []
        tokens = Dictionary(list.map { ($0.digest, $0) }) { $1 }
        allowances = allowances.filter { tokens[$0.key] != nil }
    }

    /// `Bearer TOKEN`, or `Basic` with the token as the password, or as the user without a password.
    private static func token(in header: String) -> String? {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, header.utf8.count <= 4_096 else { return nil }
        switch parts[0].lowercased() {
        case "bearer": return parts[1].trimmed
        case "basic":
            guard let bytes = TextEncoding.base64.decode(parts[1].trimmed),
                let text = String(validating: bytes, as: UTF8.self)
            else { return nil }
            let fields = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard fields.count == 2 else { return nil }
            return String(fields[1].isEmpty ? fields[0] : fields[1])
        default: return nil
        }
    }
}
