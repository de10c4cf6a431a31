import JSON
import Relay

/// The relay's limits as options of the command line: `max_frame_bytes` is `--max-frame-bytes`. The defaults are read
/// from the relay itself.
enum RelayLimits {
    private struct Limit: Sendable {
        let key: String
        let initial: Int64
        let help: String

        init(_ key: String, _ initial: some BinaryInteger, _ help: String) {
            self.key = key
            self.initial = Int64(clamping: initial)
            self.help = help
        }

        var option: Option {
            Option(key.replacingUnderscores, .required("N"), help, initial: "\(initial)")
        }
    }

    private static let limits: [Limit] = {
        let relay = RelayOptions()
        return [
            Limit(
                "max_frame_bytes", relay.traffic.maximumFrame,
                "Maximum bytes per frame; a longer frame closes its connection."),
            Limit(
                "max_frames_per_second", relay.traffic.maximumFramesPerSecond,
                "Maximum frames per second and connection, except from loopback; further frames are refused. 0 = no limit."
            ),
            Limit(
                "max_connections", relay.admission.maximumConnections,
                "Maximum connections; more wait in the backlog. 0 = the limit of open files minus 64."),
            Limit(
                "max_unregistered", relay.admission.maximumUnregistered,
                "Maximum unregistered connections; the next one gets status 503."),
            Limit(
                "max_unregistered_per_address", relay.admission.maximumUnregisteredPerAddress,
                "The same per address, except loopback; the next one gets status 429."),
            Limit(
                "register_within_ms", relay.admission.registerWithin,
                "Milliseconds within which a connection must register."),
            Limit(
                "takeover_within_ms", relay.admission.takeoverWithin,
                "Milliseconds within which the owner of an id must answer a ping when another peer claims the id."),
            Limit(
                "max_aliases_per_address", relay.names.maximumAliasesPerAddress,
                "Maximum pairing-code aliases per address, loopback included; further ones are refused."),
            Limit("max_aliases", relay.names.maximumAliases, "The same for all addresses together."),
            Limit(
                "max_proved_ids", relay.names.maximumProvedIDs,
                "Maximum ids remembered as proved; further ids can register, but are not remembered."),
            Limit(
                "max_absent_peers", relay.storage.maximumAbsentPeers,
                "Maximum offline peers with stored frames; at most a quarter may come from one network without a proved id."
            ),
            Limit(
                "max_stored_per_peer", relay.storage.maximumStoredPerPeer,
                "Maximum stored frames per offline peer; beyond that, the sender with the most frames loses its oldest."
            ),
            Limit(
                "max_stored_bytes_per_peer", relay.storage.maximumStoredBytesPerPeer,
                "Maximum stored bytes per offline peer; beyond that, the sender with the most bytes loses its oldest frames."
            ),
            Limit(
                "max_stored_bytes", relay.storage.maximumStoredBytes,
                "Maximum stored bytes in total; at most a quarter may come from one network without a proved id."),
            Limit("stored_for_ms", relay.storage.storedFor, "Milliseconds to store a frame."),
            Limit(
                "max_queued_bytes", relay.traffic.maximumQueuedBytes,
                "Maximum bytes queued for a slow reader; beyond that, it is disconnected. Other peers are not affected."
            ),
            Limit(
                "max_acquaintances_per_peer", relay.names.maximumAcquaintancesPerPeer,
                "Maximum contacts that are told about a peer's presence; beyond that, the oldest one-sided contact is dropped."
            ),
            Limit(
                "max_acquaintances", relay.names.maximumAcquaintances,
                "Maximum contact pairs in total; at most half may come from one network without a proved id."),
        ]
    }()

    private static let limitLoopback = Option("limit-loopback", "Applies the limits to loopback, too.")
    private static let allowedOrigins = Option(
        "allowed-origins", .required("LIST"),
        "Web origins that may connect, such as https://example.org, separated by commas."
    )

    static let options: [Option] = limits.map(\.option) + [limitLoopback, allowedOrigins]

    /// What the user gave, as keys of `bw_relay_open`.
    static func values(_ arguments: Arguments) throws(Failure) -> JSONObject {
        var values = JSONObject()
        for limit in limits where arguments.has(limit.option) {
            values[limit.key] = try arguments.integer(limit.option, in: 0...Int.max).map { .integer(Int64($0)) }
        }
        if arguments.has(limitLoopback) { values["limit_loopback"] = true }
        if let list = arguments.text(allowedOrigins) {
            values["allowed_origins"] = .array(list.split(separator: ",").map { .string(String($0)) })
        }
        return values
    }
}

extension String {
    fileprivate var replacingUnderscores: String { String(map { $0 == "_" ? "-" : $0 }) }
}
