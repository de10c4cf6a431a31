/// A relay's TXT record: `did=…`, `ver=1`, `path=/` (Wire, "Relays on the local network").
struct TXTRecord: Sendable, Equatable {
    static let version = "1"

    var did: String?
    /// Begins with `/`.
    var path: String

    init(did: String?, path: String = "/") {
        self.did = did
        self.path = path
    }

    /// Reads what came. `nil` for another version than ours; a `did` or `path` that cannot be one counts as absent.
    init?(entries: [BusValue]) {
        var pairs: [String: String] = [:]
        for case .bytes(let bytes) in entries.prefix(32) where bytes.count <= 255 {
            // Printable ASCII is all that the three have.
            guard bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7f }), let equals = bytes.firstIndex(of: UInt8(ascii: "="))
            else { continue }
            let key = String(decoding: bytes[..<equals], as: UTF8.self).lowercased()
            // Of a key that comes twice, the first counts (RFC 6763 6.4).
            if pairs[key] == nil { pairs[key] = String(decoding: bytes[(equals + 1)...], as: UTF8.self) }
        }
        guard pairs["ver"] ?? Self.version == Self.version else { return nil }
        did = pairs["did"].flatMap { $0.isEmpty ? nil : $0 }
        path = pairs["path"].flatMap { $0.hasPrefix("/") && !$0.contains("#") ? $0 : nil } ?? "/"
    }

    var entries: [BusValue] {
        (did.map { ["did=\($0)"] } ?? []).map { .bytes(Array($0.utf8)) }
            + ["ver=\(Self.version)", "path=\(path)"].map { .bytes(Array($0.utf8)) }
    }
}
