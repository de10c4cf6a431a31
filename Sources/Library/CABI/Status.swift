import CBellwire
import Glibc
import Hosting
import JSON

/// Status numbers, their names, and the calling thread's last error.
enum Status {
    static func of(_ code: HostError.Code) -> bw_status_code {
        switch code {
        case .invalid: BW_E_INVALID
        case .handle: BW_E_HANDLE
        case .busy: BW_E_BUSY
        case .offline: BW_E_OFFLINE
        case .timeout: BW_E_TIMEOUT
        case .remote: BW_E_REMOTE
        case .undecodable: BW_E_PROTOCOL
        case .denied: BW_E_DENIED
        case .unsupported: BW_E_UNSUPPORTED
        case .store: BW_E_STORE
        case .closed: BW_E_CLOSED
        case .forked: BW_E_FORKED
        case .noMemory: BW_E_NO_MEMORY
        case .io: BW_E_IO
        case .network: BW_E_NETWORK
        case .pairing: BW_E_PAIRING
        case .notFound: BW_E_NOT_FOUND
        case .limit: BW_E_LIMIT
        default: BW_E_INVALID  // `Code` is open-ended; a kind that is not listed here is a mistake of the caller's.
        }
    }

    /// Static texts: the C interface returns them without ownership.
    static func name(_ status: bw_status) -> StaticString {
        switch bw_status_code(rawValue: status) {
        case BW_OK: "BW_OK"
        case BW_QUEUED: "BW_QUEUED"
        case BW_E_INVALID: "BW_E_INVALID"
        case BW_E_HANDLE: "BW_E_HANDLE"
        case BW_E_BUSY: "BW_E_BUSY"
        case BW_E_OFFLINE: "BW_E_OFFLINE"
        case BW_E_TIMEOUT: "BW_E_TIMEOUT"
        case BW_E_REMOTE: "BW_E_REMOTE"
        case BW_E_PROTOCOL: "BW_E_PROTOCOL"
        case BW_E_DENIED: "BW_E_DENIED"
        case BW_E_UNSUPPORTED: "BW_E_UNSUPPORTED"
        case BW_E_STORE: "BW_E_STORE"
        case BW_E_CLOSED: "BW_E_CLOSED"
        case BW_E_FORKED: "BW_E_FORKED"
        case BW_E_NO_MEMORY: "BW_E_NO_MEMORY"
        case BW_E_IO: "BW_E_IO"
        case BW_E_NETWORK: "BW_E_NETWORK"
        case BW_E_PAIRING: "BW_E_PAIRING"
        case BW_E_NOT_FOUND: "BW_E_NOT_FOUND"
        case BW_E_LIMIT: "BW_E_LIMIT"
        default: "unknown"
        }
    }
}

extension HostError.Code {
    /// Kinds that only the C interface knows.
    static var handle: Self { HostError.Code("handle") }
    static var forked: Self { HostError.Code("forked") }
    static var noMemory: Self { HostError.Code("no_memory") }
}

extension HostError {
    var status: bw_status { Status.of(code).rawValue }

    /// `{"status","message","detail"}`, as `bw_last_error()` and completions give it.
    func serialized() -> String {
        let name = Status.name(status)
        return JSONValue.object([
            "status": .string(name.description), "message": .string(message), "detail": .object(detail),
        ]).serialized()
    }
}

/// The last failure of each thread, kept as a C string that ends with its thread.
enum LastError {
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, { free($0) }) == 0 ? key : nil
    }()

    static func set(_ error: HostError) {
        guard let key else { return }
        free(pthread_getspecific(key))
        pthread_setspecific(key, copyOut(error.serialized()))
    }

    static func copy() -> UnsafeMutablePointer<CChar>? {
        guard let key, let text = pthread_getspecific(key) else { return nil }
        return strdup(text.assumingMemoryBound(to: CChar.self))
    }
}

/// A copy for the caller, who frees it with `bw_free`; `nil` when memory has run out.
func copyOut(_ text: String) -> UnsafeMutablePointer<CChar>? { text.withCString { strdup($0) } }
