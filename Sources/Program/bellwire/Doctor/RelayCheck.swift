import Transport

/// Connects to a relay as a peer does, up to the WebSocket upgrade, and registers nothing.
@EventLoop
final class RelayCheck: WebSocketDelegate {
    /// In days: a certificate should be renewed before.
    private static let expiry = 14

    private let url: WebSocketURL
    private let name: String
    private let begin = EventLoop.now
    private var socket: WebSocket?
    private var then: (@EventLoop ([Finding]) -> Void)?

    /// `then` is called once, within `limit` milliseconds.
    init(_ url: WebSocketURL, caFile: String?, within limit: UInt64, then: @escaping @EventLoop ([Finding]) -> Void) {
        self.url = url
        self.then = then
        name = "relay \(WebSocketURL.loggable(url.description))"
        var options = WebSocketClientOptions()
        options.tls.caFile = caFile
        options.connectTimeout = limit
        socket = WebSocket.connect(to: url, options: options, delegate: self)
    }

    func webSocketDidOpen(_ webSocket: WebSocket) {
        var findings: [Finding] = [
            .ok(name, "connected in \(EventLoop.now - begin) ms, and it accepts WebSocket connections")
        ]
        if let days = webSocket.certificateDays {
            let text = "the certificate of \(url.host) is valid for \(days) more days"
            findings.append(
                days >= Self.expiry
                    ? .ok("certificate", text)
                    : .warn("certificate", text, "Renew it, and send the relay SIGHUP so that it reads it again."))
        }
        end(findings)
        webSocket.close()
    }

    func webSocket(_ webSocket: WebSocket, didReceive text: UnsafeRawBufferPointer) {}

    func webSocketDidClose(_ webSocket: WebSocket, _ reason: CloseReason) {
        let error = reason.error ?? TransportError(.closed, "it closed the connection")
        end([.fail(name, error.message, advice(error.code))])
    }

    private func advice(_ code: TransportError.Code) -> String {
        switch code {
        case .resolveFailed:
            "Check the spelling of the host name, and this machine's name resolution: getent hosts \(url.host)"
        case .connectFailed:
            "Check that the relay runs, that it listens on this address and not only on 127.0.0.1, and that no firewall "
                + "blocks port \(url.port)."
        case .tlsFailed:
            "For a private authority pass --ca-file. An expired certificate must be renewed on the relay's machine."
        case .upgradeRefused:
            "Check that the URL is that of a relay. A relay with --tokens-file needs ?access_token=TOKEN in the URL; a proxy "
                + "must pass on WebSocket upgrades."
        case .timeout: "A firewall may drop the packets. Try from the relay's own machine, or raise --timeout."
        default: "Run bellwire doctor -v."
        }
    }

    private func end(_ findings: [Finding]) {
        let then = then
        self.then = nil
        socket = nil
        then?(findings)
    }
}
