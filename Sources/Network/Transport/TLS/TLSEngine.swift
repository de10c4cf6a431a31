import COpenSSL

/// One end of a TLS connection without a socket: bytes in, bytes out, through OpenSSL's memory BIOs.
final class TLSEngine {
    enum Read {
        /// Decrypted bytes at the beginning of the buffer.
        case bytes(Int)
        /// The handshake is done and the other end is who it should be. Comes once, before any bytes.
        case secured
        /// Nothing until more is received.
        case wantsMore
        /// The other end said in order that nothing more comes.
        case ended
        case failed(TransportError)
    }

    private let ssl: OpaquePointer
    /// What came from the network, and what is to go there. Owned by `ssl`.
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    /// The name or address that the certificate must carry; `nil` on servers.
    private let host: String?
    private var isSecured = false

    /// A client's end. `host` is checked against the certificate, and named to the server unless it is an address.
    static func client(_ context: TLSContext, host: String) throws(TransportError) -> TLSEngine {
        let engine = try TLSEngine(context, host: host)
        let parameters = SSL_get0_param(engine.ssl)
        let isAddress = SocketAddress(numeric: host, port: 0) != nil
        let isSet: CInt
        if isAddress {
            isSet = X509_VERIFY_PARAM_set1_ip_asc(parameters, host)
        } else {
            let flags = X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT
            X509_VERIFY_PARAM_set_hostflags(parameters, CUnsignedInt(flags))
            // A name with its final dot is the same name (RFC 6066 sends it without).
            let name = host.hasSuffix(".") ? String(host.dropLast()) : host
            isSet = X509_VERIFY_PARAM_set1_host(parameters, name, 0) & bw_ssl_set_server_name(engine.ssl, name)
        }
        guard isSet == 1 else {
            throw TransportError(.tlsFailed, "cannot check the host name \(host) against a certificate")
        }
        SSL_set_connect_state(engine.ssl)
        return engine
    }

    static func server(_ context: TLSContext) throws(TransportError) -> TLSEngine {
        let engine = try TLSEngine(context, host: nil)
        SSL_set_accept_state(engine.ssl)
        return engine
    }

    private init(_ context: TLSContext, host: String?) throws(TransportError) {
        guard let ssl = SSL_new(context.pointer) else {
            throw TransportError(.tlsFailed, "OpenSSL cannot create a connection: \(TLSFailure.queued())")
        }
        guard let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem()) else {
            SSL_free(ssl)
            throw TransportError(.tlsFailed, "out of memory for a TLS connection")
        }
        SSL_set_bio(ssl, incoming, outgoing)
        self.ssl = ssl
        self.incoming = incoming
        self.outgoing = outgoing
        self.host = host
    }

    deinit { SSL_free(ssl) }

    /// Begins the handshake; a client's first bytes are then there to be sent.
    func handshake() -> TransportError? {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        guard result != 1, SSL_get_error(ssl, result) == SSL_ERROR_SSL else { return nil }
        return TLSFailure.handshake(ssl, host: host)
    }

    /// Takes bytes from the network. ``read(into:)`` then tells what they were.
    func receive(_ bytes: UnsafeRawBufferPointer) {
        BIO_write(incoming, bytes.baseAddress, CInt(clamping: bytes.count))
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Read {
        ERR_clear_error()
        if !isSecured {
            let result = SSL_do_handshake(ssl)
            if result == 1 {
                isSecured = true
                return .secured
            }
            return outcome(of: result)
        }
        let count = SSL_read(ssl, buffer.baseAddress, CInt(clamping: buffer.count))
        return count > 0 ? .bytes(Int(count)) : outcome(of: count)
    }

    private func outcome(of result: CInt) -> Read {
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: .wantsMore
        case SSL_ERROR_ZERO_RETURN: .ended
        default: .failed(isSecured ? broken() : TLSFailure.handshake(ssl, host: host))
        }
    }

    /// Encrypts all of `plain`, which is then empty, and appends to `wire` everything there is to send. Before the
    /// handshake is done `plain` is left to wait.
    func encrypt(_ plain: inout ByteQueue, into wire: inout ByteQueue) -> TransportError? {
        if isSecured, !plain.isEmpty {
            ERR_clear_error()
            var rest = UnsafeRawBufferPointer(plain.bytes)
            while !rest.isEmpty {
                let count = SSL_write(ssl, rest.baseAddress, CInt(clamping: min(rest.count, Self.slice)))
                guard count > 0 else { return broken() }
                collect(into: &wire)
                rest = UnsafeRawBufferPointer(rebasing: rest[Int(count)...])
            }
            plain.reset()
        }
        collect(into: &wire)
        return nil
    }

    /// A TLS record's worth: keeps the BIO's memory, which never shrinks, small.
    static let slice = 16 << 10

    private func collect(into wire: inout ByteQueue) {
        var waiting = BIO_ctrl_pending(outgoing)
        while waiting > 0 {
            let count = BIO_read(outgoing, wire.reserve(waiting), CInt(clamping: waiting))
            guard count > 0 else { return }
            wire.commit(Int(count))
            waiting = BIO_ctrl_pending(outgoing)
        }
    }

    /// Says in order that nothing more comes.
    func sayEnd() {
        guard isSecured else { return }
        ERR_clear_error()
        SSL_shutdown(ssl)
    }

    private func broken() -> TransportError {
        TransportError(.tlsFailed, "the TLS connection broke: \(TLSFailure.queued())")
    }

    /// Whole days until the other end's certificate expires; `nil` before the handshake, and without a certificate.
    var certificateDays: Int? {
        guard isSecured, let certificate = SSL_get0_peer_certificate(ssl), let end = X509_get0_notAfter(certificate)
        else { return nil }
        var (days, seconds): (CInt, CInt) = (0, 0)
        return ASN1_TIME_diff(&days, &seconds, nil, end) == 1 ? Int(days) : nil
    }

    /// Whether the handshake resumed an earlier session.
    var isResumed: Bool { SSL_session_reused(ssl) == 1 }

    /// The `tls-exporter` channel binding (RFC 9266). `nil` before the handshake, and where TLS 1.2 runs without the
    /// extended master secret that the RFC asks for.
    var channelBinding: [UInt8]? {
        guard isSecured else { return nil }
        guard SSL_version(ssl) >= TLS1_3_VERSION || bw_ssl_has_extended_master_secret(ssl) == 1 else { return nil }
        let label = "EXPORTER-Channel-Binding"
        var binding = [UInt8](repeating: 0, count: 32)
        let result = SSL_export_keying_material(ssl, &binding, binding.count, label, label.utf8.count, "", 0, 1)
        ERR_clear_error()
        return result == 1 ? binding : nil
    }
}
