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
                "Maximum frames per second from one connection, except loopback; more are refused. 0 = no limit."
            ),
            Limit(
                "max_frames_per_second_per_address", relay.traffic.maximumFramesPerSecondPerAddress,
                "Maximum frames per second from one address, except loopback; more are refused. 0 = no limit."),
            Limit(
                "max_bytes_per_second", relay.traffic.maximumBytesPerSecond,
                """
                Maximum bytes of frames of 8 KiB and more per second from one connection, except loopback; the rest waits \
                for the next second. 0 = no limit.
                """),
            Limit(
                "max_bytes_per_second_per_address", relay.traffic.maximumBytesPerSecondPerAddress,
                "The same from one address."),
            Limit(
                "max_code_lookups_per_minute", relay.traffic.maximumCodeLookupsPerMinute,
                """
                How often typed pairing codes may be registered or tried from one address per minute, except loopback. \
                0 = no limit.
                """),
            Limit(
                "max_receiving_bytes", relay.traffic.maximumReceivingBytes,
                """
                Maximum memory for incomplete messages, a quarter of it per network; beyond that, the connection with \
                the oldest one is closed.
                """),
            Limit(
                "message_within_ms", relay.traffic.messageWithin,
                "Time for a message to arrive completely, in milliseconds; then its connection is closed."),
            Limit(
                "max_connections", relay.admission.maximumConnections,
                "Maximum connections; further ones wait. 0 = the process's limit of open files, minus 64."),
            Limit(
                "max_unregistered", relay.admission.maximumUnregistered,
                "Maximum connections that have not registered yet; further ones get HTTP status 503."),
            Limit(
                "max_unregistered_per_address", relay.admission.maximumUnregisteredPerAddress,
                "Maximum unregistered connections from one address, except loopback; further ones get HTTP status 429."),
            Limit(
                "register_within_ms", relay.admission.registerWithin,
                "Time for a connection to register, in milliseconds; then it is closed."),
            Limit(
                "takeover_within_ms", relay.admission.takeoverWithin,
                """
                If another peer claims an id, its owner must answer a ping within this time, in milliseconds, to keep \
                the id.
                """),
            Limit(
                "max_aliases_per_address", relay.names.maximumAliasesPerAddress,
                "Maximum typed pairing codes from one address, including loopback; further ones are refused."),
            Limit("max_aliases", relay.names.maximumAliases, "Maximum typed pairing codes in total."),
            Limit(
                "max_proved_ids", relay.names.maximumProvedIDs,
                """
                Maximum ids remembered as proved, which always need a proof; further ids can register, but are not \
                remembered.
                """),
            Limit(
                "max_absent_peers", relay.storage.maximumAbsentPeers,
                """
                Maximum offline peers for which frames are stored. Senders without a proved id may use a quarter per \
                network.
                """
            ),
            Limit(
                "max_stored_per_peer", relay.storage.maximumStoredPerPeer,
                """
                Maximum frames stored for one offline peer; beyond that, the sender with the most loses its oldest \
                frame.
                """
            ),
            Limit(
                "max_stored_bytes_per_peer", relay.storage.maximumStoredBytesPerPeer,
                """
                Maximum bytes stored for one offline peer; beyond that, the sender with the most loses its oldest \
                frames.
                """
            ),
            Limit(
                "max_stored_bytes", relay.storage.maximumStoredBytes,
                "Maximum bytes stored in total. Senders without a proved id may use a quarter per network."),
            Limit("stored_for_ms", relay.storage.storedFor, "How long to store a frame, in milliseconds."),
            Limit(
                "max_queued_bytes", relay.traffic.maximumQueuedBytes,
                "Maximum bytes queued for a slow reader; beyond that, it is disconnected. Other peers are not affected."
            ),
            Limit(
                "max_acquaintances_per_peer", relay.names.maximumAcquaintancesPerPeer,
                """
                Maximum contacts of one peer, which are notified when it goes online or offline; beyond that, the \
                oldest contact with frames in only one direction is dropped.
                """
            ),
            Limit(
                "max_acquaintances", relay.names.maximumAcquaintances,
                "Maximum pairs of contacts in total. Peers without a proved id may use half per network."),
        ]
    }()

    private static let limitLoopback = Option("limit-loopback", "Applies the limits to connections from loopback, too.")
    private static let allowedOrigins = Option(
        "allowed-origins", .required("LIST"),
        "Websites whose pages may connect, such as https://example.org, separated by commas (default: none)."
    )

    static let options: [Option] = limits.map(\.option) + [limitLoopback, allowedOrigins]

    /// The given options, as keys of `bw_relay_open`.
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
