import Hosting
import Identity
import JSON
import Pairing
import Peering
import Signalling
import Store
import Transport
import Wire

/// The context that all units of a device share: who it is, its store, its host.
struct DeviceContext: Sendable {
    let options: DeviceOptions
    let key: SigningKey
    let database: Database
    let channel: HostChannel
    let did: PeerID
    /// Said in pairing: stays the same as long as the key does.
    let deviceID: String

    init(options: DeviceOptions, key: SigningKey, database: Database, channel: HostChannel) {
        self.options = options
        self.key = key
        self.database = database
        self.channel = channel
        did = PeerID(key.did)
        deviceID = did.bellwireDeviceID
    }

    /// Relays, and what they are told of it.
    func relays(_ links: RelayLinkMaker) -> RouteKind {
        let (name, platform) = (options.common.name, options.common.platform)
        let registration = SignallingFrame.Register(
            peerID: did, deviceType: .mobile, deviceInfo: ["name": .string(name), "platform": .string(platform)])
        return .relays(links, registration: registration, provingWith: key)
    }

    /// Works on the store and comes back to the loop.
    func store<T: Sendable>(
        _ work: @escaping @Sendable (Connection) throws(StoreError) -> T,
        then: @escaping @Sendable @EventLoop (Result<T, StoreError>) -> Void
    ) {
        database.submit(work) { result in
            EventLoop.post { then(result) }
        }
    }

    /// The same for a mark that may be lost without harm: it joins the next transaction, or gets its own after a while.
    func storeLater<T: Sendable>(
        _ work: @escaping @Sendable (Connection) throws(StoreError) -> T,
        then: @escaping @Sendable @EventLoop (Result<T, StoreError>) -> Void
    ) {
        database.submitLater(within: Self.patience, work) { result in
            EventLoop.post { then(result) }
        }
    }

    /// In milliseconds.
    private static let patience: UInt64 = 1_000

    /// Reads JSON out of the store for the host.
    func answer<T: Sendable>(
        _ then: @escaping Then, from work: @escaping @Sendable (Connection) throws(StoreError) -> T,
        json: @escaping @Sendable @EventLoop (T) -> Result<HostReply, HostError>
    ) {
        store(work) { result in then(result.mapError { HostError($0) }.flatMap(json)) }
    }
}
