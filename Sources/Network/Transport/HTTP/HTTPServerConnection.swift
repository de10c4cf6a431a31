/// An accepted connection until it is upgraded or closed: reads request heads and answers them.
@EventLoop
final class HTTPServerConnection: ConnectionConsumer {
    private let connection: Connection
    private let listener: HTTPListener
    private var parser: HTTPHeadParser
    private var deadline: LoopTimer?
    private var phase = Phase.head
    /// When it began to wait for a request; `nil` = it has one, or has become a WebSocket.
    private(set) var waitingSince: UInt64?

    private enum Phase {
        case head
        case body(HTTPHead, HTTPBodyParser, then: @EventLoop (HTTPExchange, HTTPBody) -> Void)
        /// The owner answers later. What came behind the request waits.
        case answering(HTTPHead, rest: [UInt8])
        case handedOn
    }

    /// More answers than this waiting to be read: the peer asks and does not listen.
    private static let maximumUnsent = 256 << 10
    /// How long a client may go on sending a body that is not wanted, in milliseconds, and how much of it, in bytes.
    private static let lingering: (time: UInt64, bytes: Int) = (60_000, 32 << 20)

    init(_ connection: Connection, listener: HTTPListener) {
        self.connection = connection
        self.listener = listener
        parser = HTTPHeadParser(.request, limit: listener.options.maximumHead)
        waitingSince = EventLoop.now
        // Not by a weak reference to the connection: that would slow down its reference count for good.
        let timer = LoopTimer { [weak self] in self?.didTimeOut() }
        timer.start(after: listener.options.headTimeout)
        deadline = timer
    }

    private func didTimeOut() {
        switch phase {
        case .body(let head, _, let then): hand(head, .timedOut(listener.options.bodyTimeout), then)
        case .head where parser.hasBegun: close(408, "the request did not come in time")
        case .head, .answering, .handedOn: close()
        }
    }

    /// Closes a connection whose place another client needs.
    func makeRoom() {
        guard case .body = phase else { return close() }
        close(503, "too many connections, of which this one waited longest for its request; try again later")
    }

    private func close() {
        listener.forget(connection)
        connection.close()
    }

    /// Closes the connection at once: one that takes its time must not keep its place. The answer arrives unless the client
    /// is still sending.
    private func close(_ status: Int, _ why: String) {
        writeRefusal(status, why)
        connection.flush()
        close()
    }

    func connectionDidSecure(_ connection: Connection) { listener.didSecure(connection) }

    func connectionDidEnd(_ connection: Connection, _ error: TransportError?) {
        if error?.code == .tlsFailed { listener.didFailHandshake() }
        if error == nil, case .body(let head, _, let then) = phase {
            return hand(head, .malformed("the connection ended before the body did"), then)
        }
        listener.forget(connection)
        // A client may shut its sending side and still wait for the answer.
        if error == nil { connection.finish() } else { connection.close() }
    }

    func connection(_ connection: Connection, didReceive bytes: UnsafeMutableRawBufferPointer) {
        var rest = bytes
        while connection.isOpen, !rest.isEmpty {
            switch phase {
            case .handedOn: return
            case .answering(let head, var waiting):
                // Reading is paused: this is the last of it.
                waiting.append(contentsOf: rest)
                phase = .answering(head, rest: waiting)
                return
            case .body(let head, let body, let then):
                let outcome = body.take(UnsafeRawBufferPointer(rest))
                guard case .whole(let consumed) = outcome else {
                    if outcome == .needsMore { return waitForBody() }
                    return hand(head, outcome == .tooLarge ? .tooLarge : .malformed("a chunk is malformed"), then)
                }
                rest = UnsafeMutableRawBufferPointer(rebasing: rest[consumed...])
                hand(head, body.omitted > 0 ? .shortened(body.body, omitted: body.omitted) : .whole(body.body), then)
            case .head:
                switch parser.take(UnsafeRawBufferPointer(rest)) {
                case .needsMore: return
                case .failed(let error):
                    refuse(error.code == .headTooLarge ? 431 : 400, error.message)
                case .head(let head, let consumed):
                    rest = UnsafeMutableRawBufferPointer(rebasing: rest[consumed...])
                    answer(head, rest)
                }
            }
        }
    }

    private func answer(_ head: HTTPHead, _ rest: UnsafeMutableRawBufferPointer) {
        let verdict = WebSocketUpgrade.verdict(on: head)
        var key: String?
        switch verdict {
        case .accepted(let given):
            let isPermitted = listener.originRule.permits(
                origin: head["Origin"], host: head["Host"], isLoopback: connection.remote.isLoopback)
            guard isPermitted else { return refuse(403, "this origin is not allowed") }
            key = given
        case .plain: break
        case .refused(let status, let why): return refuse(status, why)
        }
        let request = HTTPRequestHead(
            method: head.method, target: head.target, headers: head.headers, asksForWebSocket: key != nil,
            isHTTP11: head.isHTTP11)
        let client = listener.client(of: request, on: connection)
        let answer = listener.ask(request, from: client)
        // The owner may have closed the listener meanwhile, and us with it.
        guard connection.isOpen else { return }
        switch answer {
        case .upgrade:
            guard let key else { return respond(to: head, 426, "text/plain", Array("WebSocket only\n".utf8)) }
            upgrade(key, client, rest)
        case .respond(let status, let contentType, let body):
            respond(to: head, status, contentType, body)
        case .receive(let limit, let kept, let then): receive(head, limit: limit, kept: kept, then)
        }
    }

    // MARK: Requests with a body

    private func receive(
        _ head: HTTPHead, limit: Int, kept: Int, _ then: @escaping @EventLoop (HTTPExchange, HTTPBody) -> Void
    ) {
        guard head.isWellFormed else { return hand(head, .malformed("a header is malformed"), then) }
        let framing: HTTPBodyParser.Framing
        do throws(TransportError) { framing = try HTTPBodyParser.Framing(head) } catch {
            return hand(head, .malformed(error.message), then)
        }
        switch framing {
        case .length(0): return hand(head, .whole([]), then)
        case .length(limit + 1 ... .max): return hand(head, .tooLarge, then)
        case .length, .chunked: break
        }
        if head.lists("100-continue", in: "Expect") { write(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)) }
        phase = .body(head, HTTPBodyParser(framing, limit: limit, kept: kept), then: then)
        waitForBody()
    }

    /// Each piece of the body gives the client time for the next one.
    private func waitForBody() { deadline?.start(after: listener.options.bodyTimeout) }

    private func hand(_ head: HTTPHead, _ body: HTTPBody, _ then: @EventLoop (HTTPExchange, HTTPBody) -> Void) {
        phase = .answering(head, rest: [])
        waitingSince = nil
        deadline?.stop()
        connection.pauseReading()
        let isWhole =
            switch body {
            case .whole, .shortened: true
            case .tooLarge, .malformed, .timedOut: false
            }
        then(HTTPExchange { [weak self] reply in self?.answered(reply, keepsAlive: isWhole) }, body)
    }

    private func answered(_ reply: HTTPReply, keepsAlive: Bool) {
        guard case .answering(let head, let rest) = phase, connection.isOpen else { return }
        let staysOpen = keepsAlive && head.keepsAlive && connection.unsentBytes <= Self.maximumUnsent
        write(
            HTTPResponse.bytes(
                status: reply.status, contentType: reply.contentType, body: reply.body, keepsAlive: staysOpen,
                withBody: head.method != "HEAD"))
        guard staysOpen else { return end() }
        phase = .head
        waitForHead()
        // Not inside this call: an owner that answers at once would nest as deep as the client has sent requests.
        EventLoop.later { [self] in proceed(rest) }
    }

    /// Goes on with what came behind the last request, then with what is still to come.
    private func proceed(_ rest: [UInt8]) {
        guard connection.isOpen else { return }
        var rest = rest
        rest.withUnsafeMutableBytes { self.connection(connection, didReceive: $0) }
        switch phase {
        case .head, .body: connection.resumeReading()
        case .answering, .handedOn: break
        }
    }

    private func upgrade(_ key: String, _ client: PeerAddress, _ rest: UnsafeMutableRawBufferPointer) {
        phase = .handedOn
        waitingSince = nil
        deadline = nil
        write(WebSocketUpgrade.agreement(key: key))
        listener.forget(connection)
        connection.remote = client
        let webSocket = WebSocket(
            accepted: connection, listener.options.webSocket, unfinished: listener.unfinished)
        listener.tell(of: webSocket)
        webSocket.takeOver(rest)
    }

    private func respond(to head: HTTPHead, _ status: Int, _ contentType: String, _ body: [UInt8]) {
        // A body is not read, so nothing can follow it.
        let keepsAlive = head.keepsAlive && !head.hasBody && connection.unsentBytes <= Self.maximumUnsent
        write(
            HTTPResponse.bytes(
                status: status, contentType: contentType, body: body, keepsAlive: keepsAlive,
                withBody: head.method != "HEAD"))
        guard keepsAlive else { return end() }
        waitForHead()
    }

    private func waitForHead() {
        parser = HTTPHeadParser(.request, limit: listener.options.maximumHead)
        waitingSince = EventLoop.now
        deadline?.start(after: listener.options.headTimeout)
    }

    private func refuse(_ status: Int, _ why: String) {
        writeRefusal(status, why)
        end()
    }

    private func writeRefusal(_ status: Int, _ why: String) {
        write(
            HTTPResponse.bytes(
                status: status, contentType: "text/plain", body: Array((why + "\n").utf8), keepsAlive: false,
                withBody: true))
    }

    /// Ends the connection once the client has read the answer. Many clients read it only when they have sent their whole
    /// body, and a connection that is closed before is reset, so the rest of a body is read and dropped.
    private func end() {
        deadline = nil
        listener.forget(connection)
        let end = EventLoop.now &+ Self.lingering.time
        var left = Self.lingering.bytes
        connection.finish { [listener] count in
            left -= count
            return left > 0 && EventLoop.now < end && listener.hasRoomForLingering
        }
    }

    private func write(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { connection.out.append($0) }
        connection.didWrite()
    }
}
