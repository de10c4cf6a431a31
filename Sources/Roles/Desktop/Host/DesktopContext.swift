import Hosting
import Identity
import JSON
import Pairing
import Peering
import Signalling
import Wire

/// A desktop's options and identity: as its host opened it, and its identity.
struct DesktopContext: Sendable {
    let options: DesktopOptions
    let key: SigningKey
    let identity: PairingIdentity
    /// Makes the connections to relays.
    let links: RelayLinkMaker

    init(_ options: DesktopOptions, key: SigningKey, links: RelayLinkMaker) {
        let common = options.common
        let info = PairingDeviceInfo(
            name: common.name, platform: common.platform, version: libraryVersion.description)
        (self.options, self.key, self.links) = (options, key, links)
        identity = PairingIdentity(did: PeerID(key.did), deviceInfo: info)
    }

    /// Relays, and what they are told of it.
    var relays: RouteKind {
        let common = options.common
        let registration = SignallingFrame.Register(
            peerID: identity.did, deviceType: .desktop,
            deviceInfo: ["name": .string(common.name), "platform": .string(common.platform)])
        return .relays(links, registration: registration, provingWith: key)
    }
}
