package import Transport

/// Where and to whom a desktop's HTTP door is open.
package struct DoorOptions: Sendable {
    package var host: String
    package var port: UInt16
    package var tls: TLSServerOptions?
    /// Where the desktop keeps its tokens.
    package var directory: String
    /// Programs on this machine may publish without a token.
    package var opensToLoopback = false
    /// Names under which clients reach it, besides its numeric addresses and `localhost`.
    package var names: [String] = []
    /// Connections at one time; a further one takes the place of the slowest.
    package var maximumConnections = 256
    /// Of one address outside of this machine; further ones are closed.
    package var maximumConnectionsPerAddress = 64
    /// For the head of a request, in milliseconds.
    package var headWithin: UInt64 = 10_000
    /// From one piece of a body to the next, in milliseconds: a build whose output is sent may say nothing for minutes.
    package var bodyPause: UInt64 = 300_000

    package init(host: String, port: UInt16, directory: String) {
        (self.host, self.port, self.directory) = (host, port, directory)
    }
}
