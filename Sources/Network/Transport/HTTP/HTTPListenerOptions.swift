/// Limits and manners of a listener. Times are in milliseconds.
package struct HTTPListenerOptions: Sendable {
    /// A longer request head is answered with 431. Default 16 KiB.
    package var maximumHead = 16 << 10
    /// From accept (TLS included) to a whole head, and again for each further request. Default 10 s.
    package var headTimeout: UInt64 = 10_000
    /// From one piece of a request's body to the next one. A client may send a program's output while that runs, so this is
    /// not a limit for the whole body: a connection that others need makes room (``maximumPending``). Default 5 minutes.
    package var bodyTimeout: UInt64 = 300_000
    /// Web pages that may open a WebSocket besides those of the same host: `https://example.org`; `*` = any. A request without
    /// `Origin` comes from a program and is not refused for it.
    package var allowedOrigins: [String] = []
    /// Connections at one time, WebSockets included. At the limit newcomers wait in the kernel's backlog.
    package var maximumConnections = Int.max
    /// Connections that are not upgraded and not answered yet. A further one takes the place of the one that waits longest
    /// for its request, of the network with most connections.
    package var maximumPending = Int.max
    /// Connections of one address that are not upgraded yet; more are closed at once. Not applied to loopback.
    package var maximumPendingPerAddress = 128
    /// Connections the kernel keeps while we do not accept.
    package var backlog: CInt = 4_096
    /// Whether other processes may listen on the same port; the kernel divides the newcomers between them.
    package var reusesPort = false
    /// A socket that listens already, of a service manager. The listener takes it over; its address is what counts.
    package var descriptor: CInt?
    /// For the unfinished messages of the WebSockets it opens; `nil` = no limit.
    package var receiving: ReceiveLimits?
    /// For the WebSockets it opens.
    package var webSocket = WebSocketOptions()

    package init() {}
}
