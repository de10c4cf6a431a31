package import JSON
package import Relay
internal import Transport

/// How a relay is run for others: the options of a relay, and those beside them.
///
/// They come from the command line and from a configuration file, both as one JSON object: a relay's own keys, and the
/// keys of ``init(json:)``.
package struct ServiceSettings: Sendable {
    package var relay: RelayOptions
    /// Where `/health`, `/ready`, `/metrics` and `/stats` are answered; `nil` = nowhere.
    package var health: RelayOptions.Address?
    /// Bearer tokens, one a line; `nil` = anyone may connect.
    package var tokensFile: String?
    /// Ids that may register, one a line; `nil` = any.
    package var allowedIDsFile: String?
    package var proxies = Proxies()
    /// Whether other processes may listen on the same port.
    package var reusesPort = false
    /// Milliseconds over which connections are closed when the relay is told to end.
    package var drainWithin: UInt64 = 5_000
    /// What the file of stored frames may grow to, in bytes.
    package var maximumDiskBytes: Int
    package var logsJSON = false
    /// `nil` = it works alone.
    package var cluster: ClusterSettings?

    /// Which proxies name their clients, and how.
    package struct Proxies: Sendable, Equatable {
        package var trusted: [AddressBlock] = []
        /// By a PROXY header instead of X-Forwarded-For.
        package var usesPreamble = false
    }

    /// - Throws: ``ServiceError/Code/invalidOption``; the message names the key.
    package init(json: JSONObject) throws(ServiceError) {
        var own: [String: RelayOption] = [:]
        var rest = JSONObject()
        for member in json.members {
            if Self.keys.contains(member.key) || ClusterSettings.keys.contains(member.key) {
                own[member.key] = RelayOption(member.key, member.value)
            } else {
                rest[member.key] = member.value
            }
        }
        do throws(RelayError) {
            let given = Set(rest.keys)
            if let option = own["trusted_proxies"] { proxies.trusted = try Self.blocks(option) }
            relay = try RelayOptions(json: rest, hasProxies: !proxies.trusted.isEmpty)
            relay.scale(except: given)
            if let option = own["health"], !option.value.isNull { health = try option.address() }
            if let option = own["tokens_file"], !option.value.isNull { tokensFile = try option.path() }
            if let option = own["allowed_ids_file"], !option.value.isNull { allowedIDsFile = try option.path() }
            if let option = own["proxy_protocol"] { proxies.usesPreamble = try option.flag() }
            if let option = own["reuse_port"] { reusesPort = try option.flag() }
            if let option = own["drain_ms"] { drainWithin = UInt64(try option.number(0...3_600_000)) }
            relay.tls?.sessionTickets = try own["tls_tickets"]?.number(0...16) ?? 1
            let disk = try own["max_disk_bytes"]?.number(1 << 20...1 << 44)
            maximumDiskBytes = disk ?? relay.storage.maximumStoredBytes * 2 + 16 << 20
            if let option = own["log_format"] { logsJSON = try Self.isJSON(option) }
            cluster = try ClusterSettings(own)
        } catch {
            throw ServiceError(.invalidOption, error.message)
        }
        guard !proxies.usesPreamble || !proxies.trusted.isEmpty else {
            throw ServiceError(
                .invalidOption, "\"proxy_protocol\" needs \"trusted_proxies\": the addresses of the proxies")
        }
    }

    /// A configuration file: one JSON object.
    ///
    /// - Throws: ``ServiceError/Code/unreadableFile``, ``ServiceError/Code/invalidFile``.
    package static func object(file path: String) throws(ServiceError) -> JSONObject {
        let text = try TextFile.read(path, limit: 1 << 20)
        let value: JSONValue
        do throws(JSONError) { value = try JSONValue(parsing: text) } catch {
            throw ServiceError(.invalidFile, "\(path) is not valid JSON: \(error.message)")
        }
        guard let object = value.object else { throw ServiceError(.invalidFile, "\(path) must be a JSON object") }
        return object
    }

    /// Reads the files that say who may connect.
    package func lists() throws(ServiceError) -> AccessLists {
        var lists = AccessLists()
        if let path = tokensFile {
            lists.tokens = try AccessTokens(file: TextFile.read(path, limit: 16 << 20), path: path)
        }
        if let path = allowedIDsFile {
            lists.ids = try AllowedIDs.read(file: TextFile.read(path, limit: 256 << 20), path: path)
        }
        return lists
    }

    private static let keys: Set<String> = [
        "health", "tokens_file", "allowed_ids_file", "trusted_proxies", "proxy_protocol", "reuse_port", "drain_ms",
        "tls_tickets", "max_disk_bytes", "log_format",
    ]

    private static func blocks(_ option: RelayOption) throws(RelayError) -> [AddressBlock] {
        var blocks: [AddressBlock] = []
        for text in try option.texts() {
            guard let block = AddressBlock(text) else {
                throw RelayError(
                    .invalidOption,
                    "relay options: \"\(option.key)\" must be addresses or networks such as 10.0.0.0/8, not \(text)")
            }
            blocks.append(block)
        }
        return blocks
    }

    private static func isJSON(_ option: RelayOption) throws(RelayError) -> Bool {
        switch try option.text() {
        case "json": return true
        case "text": return false
        default: throw RelayError(.invalidOption, "relay options: \"\(option.key)\" must be \"text\" or \"json\"")
        }
    }
}

/// Which clients may connect and register.
package struct AccessLists: Sendable, Equatable {
    package var tokens: AccessTokens?
    package var ids: Set<[UInt8]>?

    package init() {}
}

extension RelayOptions {
    /// Limits that are for all peers together grow with `max_connections`, unless they are given.
    package mutating func scale(except given: Set<String>) {
        let connections = admission.maximumConnections
        guard connections > 0 else { return }
        func grow(_ limit: inout Int, _ key: String, to size: Int) {
            if !given.contains(key) { limit = max(limit, size) }
        }
        grow(&admission.maximumUnregistered, "max_unregistered", to: connections / 4)
        grow(&names.maximumAliases, "max_aliases", to: connections / 16)
        grow(&names.maximumProvedIDs, "max_proved_ids", to: connections * 4)
        grow(&names.maximumAcquaintances, "max_acquaintances", to: connections * 4)
        grow(&storage.maximumAbsentPeers, "max_absent_peers", to: connections)
        grow(&storage.maximumStoredBytes, "max_stored_bytes", to: connections * 4_096)
        grow(&traffic.maximumReceivingBytes, "max_receiving_bytes", to: connections * 1_024)
    }
}
