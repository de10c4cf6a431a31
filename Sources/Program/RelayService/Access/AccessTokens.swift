internal import Identity
package import Transport

/// The bearer tokens with which one may connect. Only their hashes are kept.
package struct AccessTokens: Sendable, Equatable {
    /// SHA-256, in hexadecimal digits.
    package typealias Digest = String

    /// Shorter tokens are refused in the file: they could be guessed.
    package static let minimumLength = 16
    package static let maximumLength = 512

    private let digests: Set<Digest>

    /// One token a line; empty lines and those that begin with `#` are skipped, as is what follows a space.
    ///
    /// - Throws: ``ServiceError/invalidFile``; the message names the line, never the token.
    package init(file text: String, path: String) throws(ServiceError) {
        var digests: Set<Digest> = []
        for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            guard let token = line.split(whereSeparator: { $0 == " " || $0 == "\t" }).first,
                !token.hasPrefix("#")
            else { continue }
            guard (Self.minimumLength...Self.maximumLength).contains(token.utf8.count),
                token.utf8.allSatisfy(Self.isTokenByte)
            else {
                throw ServiceError(
                    .invalidFile,
                    "\(path), line \(number + 1): a token must have \(Self.minimumLength) to \(Self.maximumLength) "
                        + "letters, digits and - . _ ~ + / =")
            }
            digests.insert(Self.digest(of: String(token)))
        }
        self.digests = digests
    }

    package var count: Int { digests.count }

    package func contains(_ digest: Digest) -> Bool { digests.contains(digest) }

    package enum Verdict: Equatable {
        case permitted(Digest)
        case missing, wrong
    }

    /// The token is in the header `Authorization: Bearer …`, or, for URLs that are passed on in codes, in the query as
    /// `access_token`.
    package func verdict(on head: HTTPRequestHead) -> Verdict {
        guard let token = Self.token(in: head) else { return .missing }
        guard token.utf8.count <= Self.maximumLength else { return .wrong }
        let digest = Self.digest(of: token)
        return digests.contains(digest) ? .permitted(digest) : .wrong
    }

    private static func token(in head: HTTPRequestHead) -> String? {
        if let header = head["Authorization"] {
            let parts = header.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
            return String(parts[1])
        }
        guard let query = head.target.split(separator: "?", maxSplits: 1).dropFirst().first else { return nil }
        let prefix = "access_token="
        return query.split(separator: "&").first { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }

    private static func digest(of token: String) -> Digest { ContentHash.hex([Array(token.utf8)]) }

    /// What RFC 6750 permits in a token. None of these needs an escape in a query.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~+/=".utf8.contains(byte)
        }
    }
}
