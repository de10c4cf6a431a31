package import JSON
internal import Transport

extension RelayOptions {
    /// Options as a host gives them: an object with any of the keys named at each option.
    ///
    /// - Parameter hasProxies: whether the relay trusts proxies, which may speak another scheme than it does.
    /// - Throws: ``RelayError/Code/unknownOption``, ``RelayError/Code/invalidOption``; the message names the key.
    package init(json: JSONObject, hasProxies: Bool = false) throws(RelayError) {
        self.init()
        for member in json.members { try set(RelayOption(member.key, member.value)) }
        guard !hasProxies else { return }
        // Checked last: "tls" may follow "origins".
        let scheme = tls == nil ? "ws://" : "wss://"
        for origin in origins where !origin.hasPrefix(scheme) {
            throw RelayError(
                .invalidOption,
                "relay options: \"origins\" must begin with \(scheme), the scheme of this relay, but \(origin) does not; if "
                    + "that is the URL of a proxy, run `bellwire relay` with --trusted-proxy and the proxy's address")
        }
    }

    private mutating func set(_ option: RelayOption) throws(RelayError) {
        switch option.key {
        case "listen":
            let address = try option.address()
            host = address.host
            port = address.port
        case "health": health = option.value.isNull ? nil : try option.address()
        case "tls": tls = option.value.isNull ? nil : try option.tls()
        case "allowed_origins": allowedOrigins = try option.texts()
        case "origins": origins = try option.origins()
        case "state_dir":
            // As a device's and a desktop's: ":memory:" keeps nothing.
            let path = option.value.isNull ? nil : try option.path()
            stateDirectory = path == ":memory:" ? nil : path
        case "max_aliases_per_address": names.maximumAliasesPerAddress = try option.number(0...1_000_000)
        case "max_aliases": names.maximumAliases = try option.number(0...1_000_000)
        case "max_proved_ids": names.maximumProvedIDs = try option.number(0...10_000_000)
        case "max_frame_bytes": traffic.maximumFrame = try option.number(4 << 10...16 << 20)
        case "max_frames_per_second": traffic.maximumFramesPerSecond = try option.number(0...1_000_000)
        case "max_frames_per_second_per_address":
            traffic.maximumFramesPerSecondPerAddress = try option.number(0...10_000_000)
        case "max_bytes_per_second": traffic.maximumBytesPerSecond = try option.number(0...1 << 40)
        case "max_bytes_per_second_per_address":
            traffic.maximumBytesPerSecondPerAddress = try option.number(0...1 << 40)
        case "max_code_lookups_per_minute": traffic.maximumCodeLookupsPerMinute = try option.number(0...10_000_000)
        case "max_receiving_bytes": traffic.maximumReceivingBytes = try option.number(64 << 10...1 << 40)
        case "message_within_ms": traffic.messageWithin = UInt64(try option.number(1_000...600_000))
        case "limit_loopback": traffic.limitsLoopback = try option.flag()
        case "max_connections": admission.maximumConnections = try option.number(0...10_000_000)
        case "max_unregistered": admission.maximumUnregistered = try option.number(1...10_000_000)
        case "max_unregistered_per_address": admission.maximumUnregisteredPerAddress = try option.number(1...10_000_000)
        case "register_within_ms": admission.registerWithin = UInt64(try option.number(100...600_000))
        case "takeover_within_ms": admission.takeoverWithin = UInt64(try option.number(10...60_000))
        case "max_absent_peers": storage.maximumAbsentPeers = try option.number(0...10_000_000)
        case "max_stored_per_peer": storage.maximumStoredPerPeer = try option.number(0...100_000)
        case "max_stored_bytes_per_peer": storage.maximumStoredBytesPerPeer = try option.number(0...1 << 30)
        case "max_stored_bytes": storage.maximumStoredBytes = try option.number(0...1 << 40)
        case "stored_for_ms": storage.storedFor = UInt64(try option.number(1_000...30 * 24 * 60 * 60 * 1_000))
        case "max_queued_bytes": traffic.maximumQueuedBytes = try option.number(64 << 10...1 << 30)
        case "max_acquaintances_per_peer": names.maximumAcquaintancesPerPeer = try option.number(0...65_536)
        case "max_acquaintances": names.maximumAcquaintances = try option.number(0...10_000_000)
        default: throw RelayError(.unknownOption, "relay options: unknown option \"\(option.key)\"")
        }
    }
}

extension RelayOptions.Address {
    /// `host:port`, IPv6 in brackets: `127.0.0.1:9001`, `[::]:9001`. `nil` = the text is none.
    package init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else {
            return nil
        }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
        } else if host.contains(":") {
            return nil
        }
        guard !host.isEmpty else { return nil }
        self.init(host: String(host), port: port)
    }
}

/// One key and its value, read with errors that name the key.
package struct RelayOption {
    package let key: String
    package let value: JSONValue

    package init(_ key: String, _ value: JSONValue) {
        self.key = key
        self.value = value
    }

    package func number(_ range: ClosedRange<Int>) throws(RelayError) -> Int {
        guard case .integer(let number) = value else { throw wrong("a whole number") }
        guard let fitting = Int(exactly: number), range.contains(fitting) else {
            throw RelayError(
                .invalidOption,
                "relay options: \"\(key)\" must be from \(range.lowerBound) to \(range.upperBound)")
        }
        return fitting
    }

    package func flag() throws(RelayError) -> Bool {
        guard let flag = value.bool else { throw wrong("true or false") }
        return flag
    }

    package func text() throws(RelayError) -> String {
        guard let text = value.string else { throw wrong("a text") }
        return text
    }

    package func texts() throws(RelayError) -> [String] {
        guard let array = value.array else { throw wrong("an array of strings") }
        var texts: [String] = []
        for element in array {
            guard let text = element.string else { throw wrong("an array of strings") }
            texts.append(text)
        }
        return texts
    }

    package func path() throws(RelayError) -> String {
        let text = try text()
        guard !text.isEmpty, text.utf8.count <= 4_096, !text.utf8.contains(0) else {
            throw wrong("the path of a directory")
        }
        return text
    }

    /// Each as a client says what it dialled.
    func origins() throws(RelayError) -> [String] {
        var origins: [String] = []
        for text in try texts() {
            do throws(TransportError) {
                origins.append(try WebSocketURL(text).origin)
            } catch {
                throw RelayError(.invalidOption, "relay options: \"\(key)\": \(error.message)")
            }
        }
        return origins
    }

    package func address() throws(RelayError) -> RelayOptions.Address {
        let text = try text()
        guard let address = RelayOptions.Address(text) else {
            throw RelayError(
                .invalidOption, "relay options: \"\(key)\" must be host:port, such as 127.0.0.1:9001 or [::]:9001")
        }
        return address
    }

    func tls() throws(RelayError) -> TLSServerOptions {
        guard let object = value.object else { throw wrong("an object") }
        var certificateFile: String?
        var keyFile: String?
        for member in object.members {
            let option = RelayOption("\(key).\(member.key)", member.value)
            switch member.key {
            case "certificate_file": certificateFile = try option.text()
            case "key_file": keyFile = try option.text()
            default: throw RelayError(.unknownOption, "relay options: unknown option \"\(option.key)\"")
            }
        }
        guard let certificateFile, let keyFile else {
            throw RelayError(.invalidOption, "relay options: \"tls\" needs certificate_file and key_file")
        }
        return TLSServerOptions(certificateFile: certificateFile, keyFile: keyFile)
    }

    private func wrong(_ expected: String) -> RelayError {
        RelayError(.invalidOption, "relay options: \"\(key)\" must be \(expected), not \(value.typeName)")
    }
}
