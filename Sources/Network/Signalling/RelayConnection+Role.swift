package import Identity
import JSON
package import Transport
package import Wire

extension WebSocketClientOptions {
    /// `caFile`: PEM certificates to trust instead of the system's.
    package init(trusting caFile: String?) {
        self.init()
        tls = TLSClientOptions(caFile: caFile)
    }
}

extension RelayConnection {
    /// A role's own connection: it registers the `did:key` of its key, with a proof if the relay requires one, and
    /// describes the device.
    ///
    /// - Throws: `invalid_url`.
    package convenience init(
        to url: String, as deviceType: SignallingFrame.DeviceType, key: SigningKey, name: String, platform: String,
        trusting caFile: String?, handler: @escaping Handler
    ) throws(TransportError) {
        self.init(
            url: try WebSocketURL(url),
            registration: SignallingFrame.Register(
                peerID: PeerID(key.did), deviceType: deviceType,
                deviceInfo: ["name": .string(name), "platform": .string(platform)]),
            provingWith: key, options: WebSocketClientOptions(trusting: caFile), handler: handler)
    }
}
