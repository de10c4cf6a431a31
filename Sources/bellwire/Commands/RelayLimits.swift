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
                "max_frame_bytes", relay.traffic.maximumFrame, "Bytes of one frame; a longer one ends its connection."),
            Limit(
                "max_frames_per_second", relay.traffic.maximumFramesPerSecond,
                "Frames a second of one connection, not counted on loopback; the rest is refused. 0 = no limit."),
            Limit(
                "max_connections", relay.admission.maximumConnections,
                "Connections; more wait in the backlog. 0 = what the file limit allows, less 64."),
            Limit(
                "max_unregistered", relay.admission.maximumUnregistered,
                "Connections that have not registered; the next is answered with 503."),
            Limit(
                "max_unregistered_per_address", relay.admission.maximumUnregisteredPerAddress,
                "The same for one address, not counted on loopback; the next is answered with 429."),
            Limit(
                "register_within_ms", relay.admission.registerWithin, "Milliseconds that a connection has to register."),
            Limit(
                "takeover_within_ms", relay.admission.takeoverWithin,
                "Milliseconds that the owner of an id has to answer a ping when another one wants the id."),
            Limit(
                "max_aliases_per_address", relay.names.maximumAliasesPerAddress,
                "Aliases of typed codes that one address may hold, also on loopback; the next is refused."),
            Limit("max_aliases", relay.names.maximumAliases, "The same in all."),
            Limit(
                "max_proved_ids", relay.names.maximumProvedIDs,
                "Ids that are remembered as proved; a new one is then registered, but not remembered."),
            Limit(
                "max_absent_peers", relay.storage.maximumAbsentPeers,
                "Absent peers for which frames are kept; for a quarter of them from one network that has proved no id."),
            Limit(
                "max_stored_per_peer", relay.storage.maximumStoredPerPeer,
                "Frames kept for one of them; the oldest goes of who has most."),
            Limit(
                "max_stored_bytes_per_peer", relay.storage.maximumStoredBytesPerPeer,
                "Bytes kept for one of them; the oldest go of who has most."),
            Limit(
                "max_stored_bytes", relay.storage.maximumStoredBytes,
                "Bytes kept for all of them; a quarter from one network that has proved no id."),
            Limit("stored_for_ms", relay.storage.storedFor, "Milliseconds that a frame is kept."),
            Limit(
                "max_queued_bytes", relay.traffic.maximumQueuedBytes,
                "Bytes waiting for one slow reader, who is disconnected at more; nobody else waits."),
            Limit(
                "max_acquaintances_per_peer", relay.names.maximumAcquaintancesPerPeer,
                "Peers that hear of one peer's presence, having talked with it; the oldest that is one-sided goes."),
            Limit(
                "max_acquaintances", relay.names.maximumAcquaintances,
                "Such pairs in all; half of them from one network that has proved no id."),
        ]
    }()

    private static let limitLoopback = Option("limit-loopback", "Counts what comes from loopback as well.")
    private static let allowedOrigins = Option(
        "allowed-origins", .required("LIST"), "Web pages that may connect, as https://example.org, commas between them."
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
