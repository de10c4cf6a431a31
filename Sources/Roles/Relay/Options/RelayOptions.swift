package import Transport

/// How a relay is set up. Every limit says what happens at it.
///
/// In JSON the keys are those of ``init(json:)``, in snake_case.
package struct RelayOptions: Sendable {
    /// Where it listens: a numeric address or `localhost`. `listen`, default `127.0.0.1:9001`.
    package var host = "127.0.0.1"
    /// 0 = any that is free; see ``Relay/port``.
    package var port: UInt16 = 9_001
    /// Where `/health` and `/stats` are answered. `health`, default `null` = nowhere.
    package var health: Address?
    /// Certificate and key for `wss`. `tls` `{certificate_file, key_file}`, default `null` = `ws`.
    package var tls: TLSServerOptions?
    /// Web pages of other hosts that may connect, as `https://example.org`; `*` = any. `allowed_origins`, default none.
    package var allowedOrigins: [String] = []
    /// The origins at which peers dial this relay, such as `ws://192.168.1.5:9001` or `wss://relay.example.org`. A
    /// proof for any other is refused (Wire, "Proof of an id"). Needed if peers dial a name, or an address that isn't
    /// this machine's own. Those with the scheme that it does not speak itself hold for connections from trusted
    /// proxies only (Wire, "Proof of an id"). `origins`, default none of its own scheme = its addresses (and
    /// `localhost`) with its port.
    package var origins: [String] = []
    /// A directory of its own, made with mode 0700, that keeps which ids were ever proved here. `state_dir`, default
    /// `null` = in memory.
    package var stateDirectory: String?

    /// The only ids that may register, typed codes aside; `nil` = any. Not an option of the C interface.
    package var allowedIDs: Set<[UInt8]>?

    package var traffic = Traffic()
    package var admission = Admission()
    package var names = Names()
    package var storage = Storage()

    /// What one connection may send, and how much may wait for it.
    package struct Traffic: Sendable {
        /// Bytes of one frame. A longer one closes its sender's connection with 1009; one that would grow over it on its
        /// way is answered with `frame_too_large`. `max_frame_bytes`, default 1 MiB (4 KiB to 16 MiB).
        package var maximumFrame = 1 << 20
        /// Frames a second of one connection; the rest of that second is answered with `rate_limited` once and dropped. Ten
        /// times as many close the connection with 1008 `too_many_frames`, as do, on loopback too, as many control frames
        /// and short fragments for five seconds. `max_frames_per_second`, default 200; 0 = no limit.
        package var maximumFramesPerSecond = 200
        /// The same for one network, all its connections together; nothing is closed for it.
        /// `max_frames_per_second_per_address`, default 2,000; 0 = no limit.
        package var maximumFramesPerSecondPerAddress = 2_000
        /// Bytes of large frames a second of one connection; after them it is not read until the next second, and nothing is
        /// lost. `max_bytes_per_second`, default 16 MiB; 0 = no limit.
        package var maximumBytesPerSecond = 16 << 20
        /// The same for one network. `max_bytes_per_second_per_address`, default 64 MiB; 0 = no limit.
        package var maximumBytesPerSecondPerAddress = 64 << 20
        /// How often the aliases of typed codes (`pairing-code:…`) may be registered or written to from one network in a
        /// minute, whether they exist or not; more is answered with `rate_limited`. `max_code_lookups_per_minute`, default
        /// 60; 0 = no limit.
        package var maximumCodeLookupsPerMinute = 60
        /// Memory for messages that are not complete yet, of all connections. A quarter of it, but at least two frames, is
        /// for one network; the message that began first there ends its connection with 1013 `receive_budget`.
        /// `max_receiving_bytes`, default 64 MiB.
        package var maximumReceivingBytes = 64 << 20
        /// Milliseconds from the first byte of a message to its last, else its connection is closed with 1008
        /// `unfinished_message`. `message_within_ms`, default 60,000.
        package var messageWithin: UInt64 = 60_000
        /// Whether the limits for one peer and for one address hold for loopback as well. `limit_loopback`, default false.
        package var limitsLoopback = false
        /// Maximum bytes queued for one slow reader; beyond that it is disconnected. Other peers are not affected.
        /// `max_queued_bytes`, default 8 MiB.
        package var maximumQueuedBytes = 8 << 20
    }

    /// Limits on connections and registration.
    package struct Admission: Sendable {
        /// Maximum connections. At the limit, new ones wait in the kernel's backlog, and the log reports it once.
        /// `max_connections`, default 0 = what the process's file limit allows, less 64.
        package var maximumConnections = 0
        /// Connections that have not registered; the next is answered with 503. `max_unregistered`, default 4,096.
        package var maximumUnregistered = 4_096
        /// The same for one address; the next is answered with 429. `max_unregistered_per_address`, default 64.
        package var maximumUnregisteredPerAddress = 64
        /// Milliseconds that a connection has to register, else it is closed with 1008 `register_timeout`.
        /// `register_within_ms`, default 10,000.
        package var registerWithin: UInt64 = 10_000
        /// Milliseconds that the owner of an id has to answer a ping when another one wants the id.
        /// `takeover_within_ms`, default 2,000.
        package var takeoverWithin: UInt64 = 2_000
    }

    /// How many names and pairs of peers are kept in memory.
    package struct Names: Sendable {
        /// Aliases of typed codes (`pairing-code:…`) that one address may hold, loopback as well, of IPv6 a /64; the next is
        /// refused with `too_many_aliases`. `max_aliases_per_address`, default 32.
        package var maximumAliasesPerAddress = 32
        /// The same in all. `max_aliases`, default 4,096.
        package var maximumAliases = 4_096
        /// Maximum ids remembered as proved; these always need a proof. None is ever forgotten: at the limit a new id
        /// can register with a proof, but is not remembered, and the log reports it once. `max_proved_ids`, default
        /// 100,000.
        package var maximumProvedIDs = 100_000
        /// Peers that one peer has talked with, who hear of its presence; the oldest is forgotten of which only one has
        /// sent, and where both have the new one is not noted. `max_acquaintances_per_peer`, default 256.
        package var maximumAcquaintancesPerPeer = 256
        /// Such pairs in all; at the limit a peer can only replace its own. Half of them are for what one network begins that
        /// has proved no id. `max_acquaintances`, default 65,536.
        package var maximumAcquaintances = 65_536
    }

    /// Storage for offline peers.
    package struct Storage: Sendable {
        /// Absent peers for which something is kept; for more, nothing is. For a quarter of them (for one at least) one network
        /// may have something kept that has proved no id. `max_absent_peers`, default 10,000.
        package var maximumAbsentPeers = 10_000
        /// Maximum frames stored for one peer; beyond that, the oldest frame of the sender with the most frames is
        /// dropped. `max_stored_per_peer`, default 100; 0 = keep nothing.
        package var maximumStoredPerPeer = 100
        /// Bytes kept for one of them, never more than half of `max_queued_bytes`, so that all of them can be sent at once;
        /// the oldest go of whoever has sent most of them. `max_stored_bytes_per_peer`, default 4 MiB.
        package var maximumStoredBytesPerPeer = 4 << 20
        /// Maximum bytes stored for all peers. At the limit, a peer's own oldest frames are dropped; if that is not
        /// enough, the new frame is not stored. Senders without a proved id may use a quarter of it per network.
        /// `max_stored_bytes`, default 64 MiB.
        package var maximumStoredBytes = 64 << 20
        /// Milliseconds that a frame is kept. `stored_for_ms`, default 24 h.
        package var storedFor: UInt64 = 24 * 60 * 60 * 1_000
    }

    /// A numeric address or `localhost`, and a port.
    package struct Address: Sendable, Hashable {
        package var host: String
        package var port: UInt16

        package init(host: String, port: UInt16) {
            self.host = host
            self.port = port
        }
    }

    package init() {}

    var receiving: ReceiveLimits {
        ReceiveLimits(
            bytes: max(traffic.maximumReceivingBytes, traffic.maximumFrame * 4),
            bytesPerNetwork: max(traffic.maximumReceivingBytes / 4, traffic.maximumFrame * 2),
            limitsLoopback: traffic.limitsLoopback, time: traffic.messageWithin)
    }

    var limits: RelayStateMachine.Limits {
        RelayStateMachine.Limits(
            registerWithin: admission.registerWithin, frameBytes: traffic.maximumFrame,
            framesPerSecond: traffic.maximumFramesPerSecond,
            framesPerSecondOfNetwork: traffic.maximumFramesPerSecondPerAddress,
            bytesPerSecond: traffic.maximumBytesPerSecond,
            bytesPerSecondOfNetwork: traffic.maximumBytesPerSecondPerAddress,
            codeLookupsPerMinute: traffic.maximumCodeLookupsPerMinute,
            limitsLoopback: traffic.limitsLoopback,
            doorkeeper: .init(
                unregistered: admission.maximumUnregistered,
                unregisteredPerAddress: admission.maximumUnregisteredPerAddress,
                limitsLoopback: traffic.limitsLoopback),
            absent: .init(
                peers: storage.maximumAbsentPeers, framesPerPeer: storage.maximumStoredPerPeer,
                bytesPerPeer: min(storage.maximumStoredBytesPerPeer, traffic.maximumQueuedBytes / 2),
                bytes: storage.maximumStoredBytes,
                age: storage.storedFor),
            acquaintances: .init(perPeer: names.maximumAcquaintancesPerPeer, total: names.maximumAcquaintances),
            aliases: .init(perAddress: names.maximumAliasesPerAddress, total: names.maximumAliases),
            provedIDs: names.maximumProvedIDs, allowed: allowedIDs)
    }
}
