package import Transport

extension Relay: HTTPHandler {
    package func listener(
        _ listener: HTTPListener, didReceive head: HTTPRequestHead, from remote: PeerAddress
    ) -> HTTPAnswer {
        if listener === healthListener { return healthPage(head) }
        guard !isStopping else { return .respond(status: 503, contentType: "text/plain", text: "shutting down\n") }
        // Anything but a WebSocket gets its 426 from the listener.
        guard head.asksForWebSocket else { return .upgrade }
        switch machine.doorkeeper.admission(of: remote.host, isLoopback: remote.isLoopback) {
        case .welcome: return .upgrade
        case .full:
            turnedAway += 1
            return .respond(
                status: 503, contentType: "text/plain", text: "too many connections have not registered\n")
        case .addressFull:
            turnedAway += 1
            return .respond(
                status: 429, contentType: "text/plain",
                text: "too many connections of this address have not registered\n")
        }
    }

    package func listener(_ listener: HTTPListener, didOpen webSocket: WebSocket) {
        guard !isStopping, listener !== healthListener else { return webSocket.abort() }
        admit(webSocket)
    }

    package func listener(_ listener: HTTPListener, cannotAccept error: TransportError) {
        log(.warning, "the relay cannot take more connections, newcomers wait: \(error.message)")
    }

    package func listenerDidRecover(_ listener: HTTPListener) {
        log(.info, "the relay takes connections again")
    }

    /// At the limit the newest wait in the kernel's backlog until somebody leaves.
    func balanceAccepting() {
        guard let listener, !isStopping else { return }
        let isFull = machine.connectionCount + listener.pendingConnections >= maximumConnections
        guard isFull == isAccepting else { return }
        isAccepting = !isFull
        if isFull {
            listener.pauseAccepting()
            if !hasSaidFull {
                hasSaidFull = true
                log(.warning, "the relay has \(maximumConnections) connections, its limit; newcomers wait")
            }
        } else {
            listener.resumeAccepting()
        }
    }
}
