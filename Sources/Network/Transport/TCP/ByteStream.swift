/// A TCP connection to a server of any protocol: plain text first, TLS from ``startTLS(_:)`` on.
///
/// What is sent in one wake-up leaves together. Its owner must end it with ``close()``, unless it ended by itself.
@EventLoop
package final class ByteStream {
    private enum Step {
        case dialling(Dialer)
        case open(Connection)
        case closed
    }

    private let host: String
    private weak var delegate: (any ByteStreamDelegate)?
    private var step = Step.closed

    /// Dials. The delegate is not retained, and is called later.
    package init(host: String, port: UInt16, delegate: any ByteStreamDelegate) {
        self.host = host
        self.delegate = delegate
        step = .dialling(
            Dialer(host: host, port: port) { [weak self] result in
                switch result {
                case .success(let tcp):
                    let connection = Connection(tcp)
                    guard let self else { return connection.close() }
                    self.didConnect(connection)
                case .failure(let error): self?.end(error)
                }
            })
    }

    /// Bytes that the kernel hasn't accepted yet.
    package var unsentBytes: Int {
        guard case .open(let connection) = step else { return 0 }
        return connection.unsentBytes
    }

    /// Begins the TLS handshake. The server's certificate must be for the host that was dialled.
    package func startTLS(_ options: TLSClientOptions) throws(TransportError) {
        guard case .open(let connection) = step else { return }
        connection.startTLS(try .client(try .client(options), host: host))
    }

    /// Ignored unless the connection is open. During the TLS handshake the bytes wait.
    package func send(_ bytes: UnsafeRawBufferPointer) {
        guard case .open(let connection) = step else { return }
        connection.out.append(bytes)
        connection.didWrite()
    }

    /// Ends the connection at once. Nothing is reported any more.
    package func close() {
        switch step {
        case .dialling(let dialer): dialer.cancel()
        case .open(let connection): connection.close()
        case .closed: break
        }
        step = .closed
    }

    private func didConnect(_ connection: Connection) {
        step = .open(connection)
        // The connection holds its consumer until it is closed: this may not be `self`.
        connection.start(Receiver(self))
        delegate?.streamDidConnect(self)
    }

    private func end(_ error: TransportError) {
        close()
        delegate?.streamDidEnd(self, error)
    }

    fileprivate func didSecure() { delegate?.streamDidSecure(self) }

    fileprivate func didReceive(_ bytes: UnsafeRawBufferPointer) { delegate?.stream(self, didReceive: bytes) }

    fileprivate func didEnd(_ error: TransportError?) {
        end(error ?? TransportError(.closed, "the server ended the connection"))
    }
}

/// What happens to a ``ByteStream``. Never called inside its owner's calls.
@EventLoop
package protocol ByteStreamDelegate: AnyObject {
    func streamDidConnect(_ stream: ByteStream)
    func streamDidSecure(_ stream: ByteStream)
    /// The bytes are borrowed for the call.
    func stream(_ stream: ByteStream, didReceive bytes: UnsafeRawBufferPointer)
    /// It could not connect, or has ended. The last call.
    func streamDidEnd(_ stream: ByteStream, _ error: TransportError)
}

/// Passes events on to a stream that may have been released.
@EventLoop
private final class Receiver: ConnectionConsumer {
    private weak var stream: ByteStream?

    init(_ stream: ByteStream) { self.stream = stream }

    func connectionDidSecure(_ connection: Connection) { stream?.didSecure() }

    func connection(_ connection: Connection, didReceive bytes: UnsafeMutableRawBufferPointer) {
        stream?.didReceive(UnsafeRawBufferPointer(bytes))
    }

    func connectionDidEnd(_ connection: Connection, _ error: TransportError?) {
        stream?.didEnd(error)
    }
}
