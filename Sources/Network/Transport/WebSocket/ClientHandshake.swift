/// A client's way to an open WebSocket: name, TCP, TLS, upgrade; all within one limit of time.
@EventLoop
final class ClientHandshake: ConnectionConsumer {
    private enum Step {
        case idle
        case dialling(Dialer)
        case securing(Connection)
        case upgrading(Connection, HTTPHeadParser, key: String)
        case done
    }

    private static let maximumHead = 16 << 10

    private let url: WebSocketURL
    private let options: WebSocketClientOptions
    /// Held until the handshake is over, one way or the other.
    private var webSocket: WebSocket?
    private var step = Step.idle
    private var deadline: LoopTimer?

    init(_ url: WebSocketURL, _ options: WebSocketClientOptions, _ webSocket: WebSocket) {
        self.url = url
        self.options = options
        self.webSocket = webSocket
    }

    func begin() {
        let tls: TLSEngine?
        do throws(TransportError) {
            tls = url.isSecure ? try .client(try .client(options.tls), host: url.host) : nil
        } catch {
            return EventLoop.later { self.fail(error) }
        }
        let timer = LoopTimer { [weak self] in self?.didTimeOut() }
        timer.start(after: options.connectTimeout)
        deadline = timer
        // The dialer holds us until it has answered or is cancelled.
        step = .dialling(
            Dialer(host: url.host, port: url.port) { result in
                switch result {
                case .success(let tcp): self.didConnect(Connection(tcp, tls: tls))
                case .failure(let error): self.fail(error)
                }
            })
    }

    func cancel() {
        deadline = nil
        switch step {
        case .idle, .done: break
        case .dialling(let dialer): dialer.cancel()
        case .securing(let connection), .upgrading(let connection, _, _): connection.close()
        }
        step = .done
        webSocket = nil
    }

    // MARK: Step by step

    private func didConnect(_ connection: Connection) {
        if url.isSecure {
            step = .securing(connection)
            connection.start(self)
        } else {
            connection.start(self)
            upgrade(connection)
        }
    }

    func connectionDidSecure(_ connection: Connection) {
        upgrade(connection)
    }

    private func upgrade(_ connection: Connection) {
        let key = WebSocketUpgrade.base64(RandomBytes.make(16))
        step = .upgrading(connection, HTTPHeadParser(.response, limit: Self.maximumHead), key: key)
        WebSocketUpgrade.request(to: url, key: key, headers: options.headers).withUnsafeBytes {
            connection.out.append($0)
        }
        connection.didWrite()
    }

    func connection(_ connection: Connection, didReceive bytes: UnsafeMutableRawBufferPointer) {
        guard case .upgrading(_, let parser, let key) = step else { return }
        switch parser.take(UnsafeRawBufferPointer(bytes)) {
        case .needsMore: return
        case .failed(let error):
            fail(TransportError(.upgradeRefused, "\(url.origin) does not speak WebSocket: \(error.message)"))
        case .head(let head, let consumed):
            if let refusal = WebSocketUpgrade.refusal(of: head, key: key) { return fail(refusal) }
            step = .done
            deadline = nil
            guard let webSocket else { return connection.close() }
            self.webSocket = nil
            webSocket.didUpgrade(connection, UnsafeMutableRawBufferPointer(rebasing: bytes[consumed...]))
        }
    }

    func connectionDidEnd(_ connection: Connection, _ error: TransportError?) {
        switch step {
        case .idle, .dialling, .done: return
        case .securing:
            fail(error ?? TransportError(.tlsFailed, "\(url.origin) ended the connection during the TLS handshake"))
        case .upgrading:
            fail(error ?? TransportError(.upgradeRefused, "\(url.origin) ended the connection before the upgrade"))
        }
    }

    private func didTimeOut() {
        let what =
            switch step {
            case .idle, .dialling: "connecting to \(url.origin)"
            case .securing: "the TLS handshake with \(url.origin)"
            case .upgrading, .done: "the WebSocket upgrade by \(url.origin)"
            }
        fail(TransportError(.timeout, "\(what) took longer than \(options.connectTimeout) ms"))
    }

    private func fail(_ error: TransportError) {
        let webSocket = webSocket
        cancel()
        webSocket?.didFailToOpen(error)
    }
}
