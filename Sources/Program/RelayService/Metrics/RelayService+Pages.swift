internal import JSON
internal import Relay
package import Transport

extension RelayService: HTTPHandler {
    package func listener(
        _ listener: HTTPListener, didReceive head: HTTPRequestHead, from remote: PeerAddress
    ) -> HTTPAnswer {
        guard head.method == "GET" || head.method == "HEAD" else { return relay.healthPage(head) }
        switch head.path {
        case "/", "/health": return page(health)
        case "/ready": return page(ready, status: problems.isEmpty ? 200 : 503)
        case "/metrics":
            return .respond(status: 200, contentType: MetricsText.contentType, text: RelayMetrics(self).text)
        default: return relay.healthPage(head)
        }
    }

    package func listener(_ listener: HTTPListener, didOpen webSocket: WebSocket) { webSocket.abort() }

    private func page(_ value: JSONValue, status: Int = 200) -> HTTPAnswer {
        .respond(status: status, contentType: "application/json", text: value.serialized() + "\n")
    }

    /// Answered for as long as the process works: a supervisor that restarts it for anything else does harm.
    private var health: JSONValue {
        guard var page = relay.health.object, !problems.isEmpty else { return relay.health }
        page["status"] = "degraded"
        page["problems"] = .array(problems.map { .string($0) })
        return .object(page)
    }

    private var ready: JSONValue {
        ["ready": .bool(problems.isEmpty), "problems": .array(problems.map { .string($0) })]
    }
}
