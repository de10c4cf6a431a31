package import Transport

extension Relay: HTTPHandler {
    package func listener(
        _ listener: HTTPListener, didReceive head: HTTPRequestHead, from remote: PeerAddress
    ) -> HTTPAnswer {
        if listener === healthListener { return healthPage(head) }
        guard !isStopping else { return .respond(status: 503, contentType: "text/plain", text: "shutting down\n") }
        // Anything but a WebSocket gets its 426 from the listener.
        guard head.asksForWebSocket else { return .upgrade }
        if let refusal = hooks.gate?.refusal(of: head, from: remote) { return refusal }
        switch machine.doorkeeper.admission(of: remote.host, isLoopback: remote.isLoopback) {
        case .welcome: return .upgrade
        case .full:
            tallies.turnedAway += 1
            return .respond(
                status: 503, contentType: "text/plain", text: "too many unregistered connections\n")
        case .addressFull:
            tallies.turnedAway += 1
            return .respond(
                status: 429, contentType: "text/plain",
                text: "too many unregistered connections from this address\n")
        }
    }

    package func listener(_ listener: HTTPListener, didOpen webSocket: WebSocket) {
        guard !isStopping, listener !== healthListener else { return webSocket.abort() }
        admit(webSocket)
    }

    package func listener(_ listener: HTTPListener, cannotAccept error: TransportError) {
        // A relay that lives at its limit would say so again and again.
        if error.code == .full {
            guard !tallies.hasLoggedConnectionLimit else { return }
            tallies.hasLoggedConnectionLimit = true
        }
        tallies.hasLoggedPause = true
        log(.warning, "the relay stopped accepting connections: \(error.message)")
    }

    package func listenerDidRecover(_ listener: HTTPListener) {
        guard tallies.hasLoggedPause else { return }
        tallies.hasLoggedPause = false
        log(.info, "the relay accepts connections again")
    }
}
