import JSON
package import Transport

/// Publishing over HTTP, as ntfy does it: a request in, one notification out.
///
/// What was published goes to `publish`, which answers through the completion once the desktop has stored it. A connection's
/// next request is read after that, so its notifications keep their order, and at most
/// ``DoorOptions/maximumConnections`` of them wait at any time.
@EventLoop
package final class Door {
    package typealias Completion = @Sendable @EventLoop (Result<String, DoorError>) -> Void

    private let publish: @EventLoop (Publication, @escaping Completion) -> Void
    /// Milliseconds since 1970.
    private let clock: @EventLoop () -> Int64
    private let pages: PageRule
    private var gate: TokenGate
    private var listener: HTTPListener?

    /// Listens at once.
    ///
    /// - Parameter publish: gives the id of the notification.
    package init(
        _ options: DoorOptions, clock: @escaping @EventLoop () -> Int64,
        publish: @escaping @EventLoop (Publication, @escaping Completion) -> Void
    ) throws(TransportError) {
        (self.publish, self.clock) = (publish, clock)
        pages = PageRule(names: options.names)
        gate = TokenGate(TokenFile(directory: options.directory), opensToLoopback: options.opensToLoopback)
        var server = HTTPListenerOptions()
        server.maximumConnections = options.maximumConnections
        server.headTimeout = options.requestWithin
        listener = try HTTPListener(
            host: options.host, port: options.port, tls: options.tls, options: server, handler: self)
    }

    package var port: UInt16 { listener?.port ?? 0 }

    package func close() {
        listener?.close()
        listener = nil
    }

    // MARK: Requests

    private func admit(_ head: HTTPRequestHead, _ remote: PeerAddress) throws(DoorError) -> TokenGate.Publisher {
        try pages.check(head)
        guard head.method == "POST" || head.method == "PUT" else { throw .noPage }
        let publisher = try gate.admit(head, isLoopback: remote.isLoopback, now: EventLoop.now)
        if head.path != "/", !Publication.isTopic(String(head.path.dropFirst())) { throw .topic }
        return publisher
    }

    private func received(
        _ head: HTTPRequestHead, _ body: HTTPBody, of publisher: TokenGate.Publisher, _ exchange: HTTPExchange
    ) {
        do throws(DoorError) {
            let publication = try read(head, body, of: publisher)
            publish(publication) { [clock] result in
                switch result {
                case .success(let id): exchange.respond(HTTPReply(publication.answer(id: id, now: clock())))
                case .failure(let error): exchange.respond(HTTPReply(error))
                }
            }
        } catch {
            exchange.respond(HTTPReply(error))
        }
    }

    private func read(
        _ head: HTTPRequestHead, _ body: HTTPBody, of publisher: TokenGate.Publisher
    ) throws(DoorError) -> Publication {
        switch body {
        case .tooLarge: throw .tooLarge
        case .malformed: throw .notHTTP
        case .whole(let bytes):
            var publication = try Publication(head, body: bytes, now: clock())
            publication.group = publisher.token?.group
            return publication
        }
    }
}

extension Door: HTTPHandler {
    package func listener(
        _ listener: HTTPListener, didReceive head: HTTPRequestHead, from remote: PeerAddress
    ) -> HTTPAnswer {
        let publisher: TokenGate.Publisher
        do throws(DoorError) { publisher = try admit(head, remote) } catch {
            return .respond(status: error.status, contentType: HTTPReply.json, text: error.json.serialized() + "\n")
        }
        return .receive(limit: publisher.maximumBytes) { [weak self] exchange, body in
            guard let self else { return exchange.respond(HTTPReply(.unavailable)) }
            received(head, body, of: publisher, exchange)
        }
    }

    package func listener(_ listener: HTTPListener, didOpen webSocket: WebSocket) { webSocket.abort() }
}
