import Hosting
import Identity
import JSON
import Pairing
import Peering
import Signalling
import Wire

/// The context that all units of a desktop share: its options, who it is, and its store.
struct DesktopContext: Sendable {
    let options: DesktopOptions
    let key: SigningKey
    let identity: PairingIdentity
    let store: DeviceStore
    /// Makes the connections to relays.
    let links: RelayLinkMaker

    init(_ options: DesktopOptions, _ state: RoleState, links: RelayLinkMaker) {
        let common = options.common
        let info = PairingDeviceInfo(
            name: common.name, platform: common.platform, version: libraryVersion.description)
        (self.options, key, self.links) = (options, state.key, links)
        store = DeviceStore(database: state.database)
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
