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
    /// Tells the desktop's user something.
    private let notice: @EventLoop (String) -> Void
    private let pages: PageRule
    private var gate: TokenGate
    private var listener: HTTPListener?

    /// Listens at once.
    ///
    /// - Parameters:
    ///   - notice: shows a line to the desktop's user.
    ///   - publish: gives the id of the notification.
    package init(
        _ options: DoorOptions, clock: @escaping @EventLoop () -> Int64,
        notice: @escaping @EventLoop (String) -> Void,
        publish: @escaping @EventLoop (Publication, @escaping Completion) -> Void
    ) throws(TransportError) {
        (self.publish, self.clock, self.notice) = (publish, clock, notice)
        pages = PageRule(names: options.names)
        gate = TokenGate(TokenFile(directory: options.directory), opensToLoopback: options.opensToLoopback)
        var server = HTTPListenerOptions()
        server.maximumPending = options.maximumConnections
        // Those that have their answer take a moment to end.
        server.maximumConnections = options.maximumConnections &* 2
        server.maximumPendingPerAddress = options.maximumConnectionsPerAddress
        server.headTimeout = options.headWithin
        server.bodyTimeout = options.bodyPause
        listener = try HTTPListener(
            host: options.host, port: options.port, tls: options.tls, options: server, handler: self)
    }

    package var port: UInt16 { listener?.port ?? 0 }

    package func close() {
        listener?.close()
        listener = nil
    }

    /// Uses another certificate for the connections to come. On an error, the one before stays.
    package func renew(_ tls: TLSServerOptions) throws(TransportError) { try listener?.renew(tls) }

    // MARK: Requests

    /// `nil`: the request is for the health page.
    private func admit(_ head: HTTPRequestHead, _ remote: PeerAddress) throws(DoorError) -> TokenGate.Publisher? {
        try pages.check(head)
        let topic = Publication.topic(of: head)
        switch head.method {
        case "GET", "HEAD":
            if head.path == "/v1/health" { return nil }
            // Of a GET the topic is less than the path: /topic/publish.
            guard head.method == "GET", topic.utf8.count + 1 < head.path.utf8.count else { throw .noPage }
        case "POST", "PUT": break
        default: throw .noPage
        }
        defer { for text in gate.takeNotices() { notice(text) } }
        let publisher = try gate.admit(head, isLoopback: remote.isLoopback, now: EventLoop.now)
        if head.path != "/", !Publication.isTopic(topic) { throw .topic }
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

    /// A text may be longer than what is kept of it, unless its token has a smaller limit. No part of JSON is JSON.
    private func limit(_ head: HTTPRequestHead, of publisher: TokenGate.Publisher) -> Int {
        let isLong = publisher.maximumBytes == DoorToken.byteLimit && head.path != "/"
        return isLong ? BodyText.longest : publisher.maximumBytes
    }

    private func read(
        _ head: HTTPRequestHead, _ body: HTTPBody, of publisher: TokenGate.Publisher
    ) throws(DoorError) -> Publication {
        let (bytes, omitted): ([UInt8], Int)
        switch body {
        case .tooLarge: throw .tooLarge(limit(head, of: publisher), isOfToken: publisher.token != nil)
        case .malformed(let why): throw .malformed(why)
        case .timedOut(let milliseconds): throw .timedOut(milliseconds)
        case .whole(let all): (bytes, omitted) = (all, 0)
        case .shortened(let ends, let count): (bytes, omitted) = (ends, count)
        }
        var publication = try Publication(head, body: bytes, omitted: omitted, now: clock())
        publication.group = publisher.token?.group
        publication.publisher = publisher.token?.name ?? ""
        return publication
    }
}

extension Door: HTTPHandler {
    package func listener(
        _ listener: HTTPListener, didReceive head: HTTPRequestHead, from remote: PeerAddress
    ) -> HTTPAnswer {
        let admitted: TokenGate.Publisher?
        do throws(DoorError) { admitted = try admit(head, remote) } catch {
            return .respond(status: error.status, contentType: HTTPReply.json, text: error.json.serialized() + "\n")
        }
        guard let publisher = admitted else {
            return .respond(status: 200, contentType: HTTPReply.json, text: "{\"healthy\":true}\n")
        }
        return .receive(limit: limit(head, of: publisher), kept: DoorToken.byteLimit) { [weak self] exchange, body in
            guard let self else { return exchange.respond(HTTPReply(.unavailable)) }
            received(head, body, of: publisher, exchange)
        }
    }

    package func listener(_ listener: HTTPListener, didOpen webSocket: WebSocket) { webSocket.abort() }
}
