import Identity
import Transport

/// Decides who may publish, and how much: reads the file again when it has changed, so that a revoked token is refused
/// at the next request.
struct TokenGate {
    /// One who may publish.
    struct Publisher {
        /// `nil` = without a token, from this machine.
        let token: DoorToken?

        var maximumBytes: Int { token?.maximumBytes ?? DoorToken.byteLimit }
    }

    private struct Allowance {
        var requests: Double
        var at: UInt64
    }

    private let file: TokenFile
    /// Whether programs on this machine need no token.
    private let opensToLoopback: Bool
    /// Of the tokens below; `nil` = there was no file, or it could not be read.
    private var version: TokenFile.Version?
    /// By their digests; or why those of this version can't be used.
    private var tokens: Result<[String: DoorToken], TokenFile.Failure> = .success([:])
    /// What is left of each token's requests, by its digest. Of no more tokens than there are in the file.
    private var allowances: [String: Allowance] = [:]
    /// For the desktop's user, and not shown yet. No more than a few lines in ten minutes.
    private(set) var notices: [String] = []
    private var told: (since: UInt64, texts: Set<String>) = (0, [])

    private static let noticeTime: UInt64 = 600_000
    private static let noticeLimit = 10

    init(_ file: TokenFile, opensToLoopback: Bool) { (self.file, self.opensToLoopback) = (file, opensToLoopback) }

    /// A request counts, whatever becomes of it.
    ///
    /// - Parameter now: monotonic milliseconds.
    mutating func admit(_ head: HTTPRequestHead, isLoopback: Bool, now: UInt64) throws(DoorError) -> Publisher {
        guard head.headers.count(where: { $0.name.lowercased() == "authorization" }) <= 1 else { throw .unauthorized }
        guard let header = Self.authorization(of: head) else {
            guard opensToLoopback, isLoopback else { throw .unauthorized }
            if let header = Self.forwarding(of: head) { throw .forwarded(header) }
            // A link or a picture in a page makes a browser send one.
            guard head.method != "GET" else { throw .getNeedsToken }
            return Publisher(token: nil)
        }
        let tokens = try current(now)
        guard let secret = Self.token(in: header), let token = tokens[DoorToken.digest(of: secret)] else {
            throw .unauthorized
        }
        try take(token, now)
        return Publisher(token: token)
    }

    /// The notices so far, which are then forgotten.
    mutating func takeNotices() -> [String] {
        defer { notices = [] }
        return notices
    }

    private mutating func tell(_ text: String, _ now: UInt64) {
        if now &- told.since >= Self.noticeTime { told = (now, []) }
        guard told.texts.count < Self.noticeLimit, told.texts.insert(text).inserted else { return }
        notices.append(text)
        if told.texts.count == Self.noticeLimit {
            notices.append("further messages of this kind are left out for 10 minutes")
        }
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
        guard isAllowed else {
            tell("the token \"\(token.name)\" is at its limit of \(token.perMinute) requests a minute", now)
            throw .tooMany
        }
    }

    /// The current tokens. While the file can't be read, every request is refused, and each one tries to read it again. A
    /// file with invalid content is read again once it has changed. Neither says that a token is wrong: clients try again
    /// later.
    private mutating func current(_ now: UInt64) throws(DoorError) -> [String: DoorToken] {
        do throws(TokenFile.Failure) {
            let version = try file.version()
            if version == nil || version != self.version {
                self.version = nil
                do throws(TokenFile.Failure) { tokens = .success(try read()) } catch {
                    guard !error.isTemporary else { throw error }
                    tokens = .failure(error)
                    tell("no token is accepted: \(error.message)", now)
                }
                self.version = version
            }
        } catch {
            tell("no token is accepted at the moment: \(error.message)", now)
            throw .noTokens
        }
        do throws(TokenFile.Failure) { return try tokens.get() } catch { throw .noTokens }
    }

    private mutating func read() throws(TokenFile.Failure) -> [String: DoorToken] {
        let list = try file.tokens()
        let tokens = Dictionary(list.map { ($0.digest, $0) }) { $1 }
        allowances = allowances.filter { tokens[$0.key] != nil }
        return tokens
    }

    // MARK: Headers

    /// Of the query, as ntfy has it, for programs that can give only a URL: `?auth=` and the header's value in base64.
    private static func authorization(of head: HTTPRequestHead) -> String? {
        let query = Query(head)
        guard let text = query["authorization"] ?? query["auth"] else {
            return head["Authorization"]
        }
        let plain = text.filter { $0 != "=" }.map { $0 == "+" || $0 == " " ? "-" : $0 == "/" ? "_" : $0 }
        // Something that is no header's value is no token either.
        return TextEncoding.base64url.decode(String(plain)).flatMap { String(validating: $0, as: UTF8.self) } ?? ""
    }

    /// The header of a proxy that has passed a request on. No proxy is trusted here, so the client may be anywhere.
    ///
    /// Each proxy and service has names of its own, so parts of them count. Underscores are as good as hyphens: CGI and some
    /// proxies write them.
    private static func forwarding(of head: HTTPRequestHead) -> String? {
        head.headers.first { header in
            let name = header.name.lowercased().map { $0 == "_" ? "-" : String($0) }.joined()
            let own = name.hasPrefix("http-") ? String(name.dropFirst(5)) : name
            return proxyHeaders.contains(own) || proxyPrefixes.contains { own.hasPrefix($0) }
                || proxyParts.contains { own.contains($0) }
        }?.name
    }

    private static let proxyHeaders: Set<String> = [
        "via", "x-via", "x-host", "x-scheme", "x-proto", "x-rewrite-url", "x-varnish", "front-end-https",
        "surrogate-capability", "x-bluecoat-via", "x-coming-from", "coming-from", "x-client", "x-remote", "x-ip",
    ]
    /// Of proxies, and of services that pass requests on.
    private static let proxyPrefixes = [
        "x-original-", "x-real-", "x-remote-", "x-proxy", "x-proxied", "x-nginx-", "x-envoy-", "x-arr-", "x-amzn-",
        "x-amz-cf-", "x-nf-", "x-azure-", "x-appengine-", "x-akamai-", "x-vercel-", "x-auth-request-", "x-haproxy-",
        "x-kong-", "x-traefik-", "x-edge-", "akamai-", "cdn-", "cf-", "cloudfront-", "fastly-", "fly-", "ngrok-",
        "tailscale-", "ssl-client-", "x-ssl-",
    ]
    private static let proxyParts = [
        "forward", "originating", "connecting-ip", "connection-ip", "client-ip", "clientip", "client-addr",
        "client-host",
        "client-port", "client-cert", "real-ip", "realip", "remote-ip", "remoteip", "remote-addr", "remote-host",
        "remote-user", "user-ip", "userip", "source-ip", "source-addr", "src-ip", "peer-ip", "peer-addr", "origin-ip",
        "caller-ip", "visitor-ip", "url-scheme", "request-scheme",
    ]

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
