/// How a WebSocket behaves once it is open. Times are in milliseconds.
package struct WebSocketOptions: Sendable {
    /// A longer message closes the connection with 1009. Default 1 MiB, the wire's own limit.
    package var maximumMessage = 1 << 20
    /// A ping goes out this often. 0 = never.
    package var pingInterval: UInt64 = 25_000
    /// A ping that is not answered in this time ends the connection.
    package var pongTimeout: UInt64 = 10_000
    /// What the peer has for its part of the close handshake.
    package var closeTimeout: UInt64 = 5_000
    /// More bytes than these waiting for a slow reader end the connection.
    package var maximumUnsent = 16 << 20
    /// Control frames and fragments under 1 KiB of each second, on average over five seconds; more end the connection with
    /// 1008. 0 = no limit.
    package var maximumMinorFrames = 0

    package init() {}

    /// What may come at once.
    var minorFrameLimit: Int { maximumMinorFrames == 0 ? .max : maximumMinorFrames * 5 }
}

/// The memory limits of a listener's unfinished messages.
package struct ReceiveLimits: Sendable {
    /// For all connections.
    package var bytes: Int
    /// For those of one network: an IPv4 address, or a /64 of IPv6.
    package var bytesPerNetwork: Int
    /// Whether ``bytesPerNetwork`` holds for loopback.
    package var limitsLoopback: Bool
    /// Milliseconds from the first byte of a message to its last.
    package var time: UInt64

    package init(bytes: Int, bytesPerNetwork: Int, limitsLoopback: Bool, time: UInt64) {
        self.bytes = bytes
        self.bytesPerNetwork = bytesPerNetwork
        self.limitsLoopback = limitsLoopback
        self.time = time
    }
}

/// How a client connects.
package struct WebSocketClientOptions: Sendable {
    package var tls = TLSClientOptions()
    /// For all of name, connection, TLS and upgrade together, in milliseconds.
    package var connectTimeout: UInt64 = 10_000
    /// More request headers. Names and values with line breaks or other control characters are left out.
    package var headers: [(name: String, value: String)] = []
    package var webSocket = WebSocketOptions()

    package init() {}
}

/// How a client checks the server. There is no way to switch the checks off.
package struct TLSClientOptions: Sendable {
    /// A PEM file of authorities to trust instead of the system's.
    package var caFile: String?

    package init(caFile: String? = nil) { self.caFile = caFile }
}

/// The identity of a server.
package struct TLSServerOptions: Sendable {
    /// PEM: the certificate, then its chain.
    package var certificateFile: String
    /// PEM: the private key, not encrypted.
    package var keyFile: String
    /// Session tickets for each connection, with which a client resumes without a signature. Default 0: clients of ours
    /// don't resume.
    package var sessionTickets = 0

    package init(certificateFile: String, keyFile: String) {
        self.certificateFile = certificateFile
        self.keyFile = keyFile
    }
}
