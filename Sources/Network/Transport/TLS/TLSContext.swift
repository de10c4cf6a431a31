import COpenSSL

/// The common configuration of a listener's TLS connections, or of a client's one: trust and certificates.
final class TLSContext {
    let pointer: OpaquePointer

    private init(_ method: () -> OpaquePointer?) throws(TransportError) {
        try Self.startLibrary()
        ERR_clear_error()
        guard let pointer = SSL_CTX_new(method()) else {
            throw TransportError(.tlsFailed, "cannot start OpenSSL: \(TLSFailure.queued())")
        }
        self.pointer = pointer
        bw_ssl_ctx_set_manners(pointer)
        guard bw_ssl_ctx_require_tls12(pointer) == 1 else {
            throw TransportError(.tlsFailed, "OpenSSL does not support TLS 1.2: \(TLSFailure.queued())")
        }
    }

    deinit { SSL_CTX_free(pointer) }

    /// Trusts the authorities of `caFile`, or the system's.
    static func client(_ options: TLSClientOptions) throws(TransportError) -> TLSContext {
        let context = try TLSContext(TLS_client_method)
        SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
        if let file = options.caFile ?? SystemAuthorities.elsewhere() {
            try check(file, as: "CA")
            guard SSL_CTX_load_verify_locations(context.pointer, file, nil) == 1 else {
                throw TransportError(
                    .tlsFailed, "cannot use the CA file \(file): \(TLSFailure.queued()); use a PEM file")
            }
        } else {
            SSL_CTX_set_default_verify_paths(context.pointer)
        }
        return context
    }

    static func server(_ options: TLSServerOptions) throws(TransportError) -> TLSContext {
        let context = try TLSContext(TLS_server_method)
        SSL_CTX_set_num_tickets(context.pointer, options.sessionTickets)
        try check(options.certificateFile, as: "certificate")
        guard SSL_CTX_use_certificate_chain_file(context.pointer, options.certificateFile) == 1 else {
            throw TransportError(
                .tlsFailed,
                "cannot use the certificate file \(options.certificateFile): \(TLSFailure.queued())")
        }
        // An encrypted key would make OpenSSL ask on the terminal.
        SSL_CTX_set_default_passwd_cb(context.pointer) { _, _, _, _ in 0 }
        try check(options.keyFile, as: "key")
        guard SSL_CTX_use_PrivateKey_file(context.pointer, options.keyFile, SSL_FILETYPE_PEM) == 1 else {
            throw TransportError(
                .tlsFailed,
                "cannot use the key file \(options.keyFile): \(TLSFailure.queued()); use a PEM key without a password"
            )
        }
        guard SSL_CTX_check_private_key(context.pointer) == 1 else {
            throw TransportError(
                .tlsFailed, "the key \(options.keyFile) does not match \(options.certificateFile)")
        }
        return context
    }

    private static func check(_ file: String, as what: String) throws(TransportError) {
        guard !SystemAuthorities.isReadable(file) else { return }
        throw TransportError(.tlsFailed, "cannot use the \(what) file \(file): it is not a regular file")
    }

    /// OpenSSL must not leave an exit handler in a host that may end while we run.
    private static func startLibrary() throws(TransportError) {
        if let reason = bw_openssl_missing() {
            throw TransportError(.tlsFailed, "TLS needs OpenSSL 3: \(String(cString: reason))")
        }
        OPENSSL_init_ssl(UInt64(OPENSSL_INIT_NO_ATEXIT), nil)
    }
}
