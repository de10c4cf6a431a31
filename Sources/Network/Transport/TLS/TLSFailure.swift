import COpenSSL
import Glibc

/// OpenSSL's reasons as sentences that say what to do.
enum TLSFailure {
    /// The first error OpenSSL has queued, which is the cause of the others. Empties the queue.
    static func queued() -> String {
        let code = ERR_get_error()
        ERR_clear_error()
        guard code != 0 else { return "no reason given" }
        if bw_err_is_system(code) != 0 { return String(cString: strerror(bw_err_reason(code))) }
        guard let reason = ERR_reason_error_string(code) else { return "error \(bw_err_reason(code))" }
        return String(cString: reason)
    }

    /// Why a handshake failed, told from the check of the certificate first.
    static func handshake(_ ssl: OpaquePointer, host: String?) -> TransportError {
        let verdict = SSL_get_verify_result(ssl)
        guard verdict != Int(X509_V_OK), let host else {
            let reason = queued()
            guard let host else { return TransportError(.tlsFailed, "TLS with a client failed: \(reason)") }
            return TransportError(.tlsFailed, "TLS with \(host) failed: \(hint(reason))")
        }
        ERR_clear_error()
        return TransportError(.tlsFailed, certificate(verdict, host))
    }

    private static func hint(_ reason: String) -> String {
        switch reason {
        case "wrong version number", "http request", "packet length too long": "it does not speak TLS on this port"
        default: reason
        }
    }

    private static func certificate(_ verdict: Int, _ host: String) -> String {
        switch CInt(truncatingIfNeeded: verdict) {
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            "the certificate is not for \(host): host name mismatch"
        case X509_V_ERR_CERT_HAS_EXPIRED:
            "the certificate of \(host) has expired"
        case X509_V_ERR_CERT_NOT_YET_VALID:
            "the certificate of \(host) is not valid yet; check this machine's clock"
        case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
            X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE, X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN,
            X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
            "the certificate of \(host) is from an unknown authority (unknown CA); pass its CA file"
        default:
            "the certificate of \(host) was refused: "
                + (X509_verify_cert_error_string(verdict).map { String(cString: $0) } ?? "error \(verdict)")
        }
    }
}
