import JSON
import Testing
import Transport

@testable import Relay

@Suite("Relay options come as JSON")
struct RelayOptionsTests {
    private func refusal(_ json: JSONObject) -> RelayError? {
        do throws(RelayError) {
            _ = try RelayOptions(json: json)
            return nil
        } catch {
            return error
        }
    }

    @Test("no keys are the defaults, and every key is taken")
    func all() throws {
        let defaults = try RelayOptions(json: [:])
        #expect(defaults.host == "127.0.0.1" && defaults.port == 9_001 && defaults.health == nil)
        let options = try RelayOptions(json: [
            "listen": "[::1]:0", "health": "127.0.0.1:9002",
            "tls": ["certificate_file": "c.pem", "key_file": "k.pem"], "allowed_origins": ["https://example.org"],
            "max_frame_bytes": 4_096, "max_frames_per_second": 1, "limit_loopback": true, "max_connections": 2,
            "max_unregistered": 3, "max_unregistered_per_address": 4, "register_within_ms": 500,
            "takeover_within_ms": 60, "max_absent_peers": 7, "max_stored_per_peer": 8,
            "max_stored_bytes_per_peer": 9, "max_stored_bytes": 10, "stored_for_ms": 11_000,
            "max_queued_bytes": 65_536, "max_acquaintances_per_peer": 13, "max_acquaintances": 14,
            "origins": ["WSS://Relay.example", "wss://[2001:db8::1]:9001/path"], "state_dir": "/s",
            "max_aliases_per_address": 15, "max_aliases": 16, "max_proved_ids": 17,
            "max_frames_per_second_per_address": 18, "max_code_lookups_per_minute": 19,
            "max_receiving_bytes": 65_537, "message_within_ms": 2_000,
        ])
        #expect(
            options.traffic.maximumFramesPerSecondPerAddress == 18
                && options.traffic.maximumCodeLookupsPerMinute == 19)
        #expect(options.traffic.maximumReceivingBytes == 65_537 && options.traffic.messageWithin == 2_000)
        #expect(options.origins == ["wss://relay.example:443", "wss://[2001:db8::1]:9001"])
        #expect(options.stateDirectory == "/s" && options.names.maximumAliasesPerAddress == 15)
        #expect(options.names.maximumAliases == 16 && options.names.maximumProvedIDs == 17)
        #expect(options.host == "::1" && options.port == 0)
        #expect(options.health == RelayOptions.Address(host: "127.0.0.1", port: 9_002))
        #expect(options.tls?.certificateFile == "c.pem" && options.tls?.keyFile == "k.pem")
        #expect(options.allowedOrigins == ["https://example.org"])
        #expect(
            options.traffic.maximumFrame == 4_096 && options.traffic.maximumFramesPerSecond == 1
                && options.traffic.limitsLoopback)
        #expect(options.admission.maximumConnections == 2 && options.admission.maximumUnregistered == 3)
        #expect(options.admission.maximumUnregisteredPerAddress == 4 && options.admission.registerWithin == 500)
        #expect(
            options.admission.takeoverWithin == 60 && options.storage.maximumAbsentPeers == 7
                && options.storage.maximumStoredPerPeer == 8)
        #expect(options.storage.maximumStoredBytesPerPeer == 9 && options.storage.maximumStoredBytes == 10)
        #expect(options.storage.storedFor == 11_000 && options.traffic.maximumQueuedBytes == 65_536)
        #expect(options.names.maximumAcquaintancesPerPeer == 13 && options.names.maximumAcquaintances == 14)
        let none = try RelayOptions(json: ["health": .null, "tls": .null, "state_dir": .null, "origins": []])
        #expect(none.health == nil && none.tls == nil && none.stateDirectory == nil && none.origins == [])
    }

    @Test("an unknown key, a wrong type and a number out of range are named")
    func refusals() {
        for (json, code, names) in [
            (["prot": 1], RelayError.Code.unknownOption, ["prot"]),
            (["tls": ["certificate_file": "a", "key_file": "b", "x": 1]], .unknownOption, ["tls.x"]),
            (["listen": 9_001], .invalidOption, ["listen", "a text", "a number"]),
            (["listen": "127.0.0.1"], .invalidOption, ["listen", "host:port"]),
            (["listen": "::1:9001"], .invalidOption, ["listen"]),
            (["listen": ":9001"], .invalidOption, ["listen"]),
            (["listen": "127.0.0.1:70000"], .invalidOption, ["listen"]),
            (["health": true], .invalidOption, ["health", "a boolean"]),
            (["limit_loopback": "yes"], .invalidOption, ["limit_loopback", "true or false"]),
            (["max_frame_bytes": 1.5], .invalidOption, ["max_frame_bytes", "a whole number"]),
            (["max_frame_bytes": 1], .invalidOption, ["max_frame_bytes", "4096"]),
            (["stored_for_ms": -1], .invalidOption, ["stored_for_ms"]),
            (["allowed_origins": [1]], .invalidOption, ["allowed_origins", "an array of strings"]),
            (["tls": ["key_file": "k"]], .invalidOption, ["tls", "certificate_file"]),
            (["origins": "ws://127.0.0.1:9001"], .invalidOption, ["origins", "an array of strings"]),
            (["origins": ["127.0.0.1:9001"]], .invalidOption, ["origins"]),
            (["origins": ["wss://relay.example"]], .invalidOption, ["origins", "ws://", "--trusted-proxy"]),
            (["state_dir": 1], .invalidOption, ["state_dir", "a text"]),
            (["state_dir": ""], .invalidOption, ["state_dir"]),
            (["max_proved_ids": -1], .invalidOption, ["max_proved_ids"]),
            (["tls": ["key_file": 1]], .invalidOption, ["tls.key_file"]),
        ] as [(JSONObject, RelayError.Code, [String])] {
            let error = refusal(json)
            #expect(error?.code == code)
            for name in names { #expect(error?.message.contains(name) == true, "\(error?.message ?? "none")") }
        }
    }
}
