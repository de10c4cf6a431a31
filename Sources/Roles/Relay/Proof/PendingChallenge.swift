/// The security of a connection below its frames.
enum ChannelSecurity: Equatable {
    /// No TLS of ours.
    case plain
    /// TLS, with the exporter of RFC 9266.
    case bound([UInt8])
    /// TLS that nothing can be bound to. No proof is taken there: it might have been carried over.
    case unbound
    /// A trusted proxy spoke with the client, so the exporter of the client's TLS is unknown here.
    case proxied
}

/// A nonce that a connection may answer once, within 10 s (Wire, "Proof of an id").
///
/// A class, so that connections without one pay only a pointer for it.
final class PendingChallenge: Sendable {
    /// base64url.
    let nonce: String
    let channelBinding: [UInt8]?
    /// What this connection may have dialled.
    let origins: Set<[UInt8]>
    /// Monotonic milliseconds.
    let deadline: UInt64

    init(nonce: String, channelBinding: [UInt8]?, origins: Set<[UInt8]>, deadline: UInt64) {
        self.nonce = nonce
        self.origins = origins
        self.channelBinding = channelBinding
        self.deadline = deadline
    }
}

/// What a connection is to be registered with, while its proof is written to disk or other relays are asked.
final class PendingRegistration: Sendable {
    let number: UInt64
    let name: [UInt8]
    let device: Device
    let isProved: Bool

    init(number: UInt64, name: [UInt8], device: Device, isProved: Bool) {
        (self.number, self.name, self.device, self.isProved) = (number, name, device, isProved)
    }
}
