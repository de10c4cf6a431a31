import Hosting
import Identity
import Pairing
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
}
