import COnDemand
import Synchronization

/// libcurl, loaded when something is first fetched. Without it nothing can be fetched, and everything else works.
///
/// It takes some megabytes, with its dependencies, so it is loaded only when a push names an image.
final class CurlLibrary: Sendable {
    /// That of the machine.
    static let shared = CurlLibrary(named: ["libcurl.so.4", "libcurl-gnutls.so.4"])

    /// The functions of the loaded library: written once, then only read.
    struct Functions: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    private let names: [String]
    private let loaded = Mutex<Result<Functions, FetchError>?>(nil)

    /// The first of the names that can be used is taken.
    init(named names: [String]) { self.names = names }

    /// Whether anybody has asked for it.
    var isAsked: Bool { loaded.withLock { $0 != nil } }

    /// Loads it, the first time.
    func functions() -> Result<Functions, FetchError> {
        loaded.withLock { loaded in
            if let loaded { return loaded }
            let result = load()
            loaded = result
            return result
        }
    }

    private func load() -> Result<Functions, FetchError> {
        var reasons: [String] = []
        for name in names {
            var why = [CChar](repeating: 0, count: 256)
            var pointer: OpaquePointer?
            if bw_curl_load(&pointer, name, &why, why.count) == 0, let pointer {
                return .success(Functions(pointer: pointer))
            }
            let reason = String(decoding: why.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            reasons.append("\(name): \(reason)")
        }
        return .failure(
            FetchError(
                .unavailable, "cannot use libcurl, so nothing is downloaded: \(reasons.joined(separator: "; "))"))
    }
}
