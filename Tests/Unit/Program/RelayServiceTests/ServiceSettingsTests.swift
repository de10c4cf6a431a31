import Foundation
import JSON
import Relay
import Testing
import Transport

@testable import RelayService

@Suite("The options of a relay for others")
struct ServiceSettingsTests {
    @Test("a relay's own keys and the service's are told apart")
    func keys() throws {
        let settings = try ServiceSettings(json: [
            "listen": "192.0.2.1:9001", "health": "127.0.0.1:1", "tokens_file": "t", "allowed_ids_file": "i",
            "trusted_proxies": ["10.0.0.0/8", "::1"], "proxy_protocol": true, "reuse_port": true, "drain_ms": 7,
            "tls": ["certificate_file": "c", "key_file": "k"], "tls_tickets": 2, "max_disk_bytes": 2_097_152,
            "log_format": "json", "max_frames_per_second": 5,
        ])
        #expect(settings.relay.host == "192.0.2.1" && settings.relay.health == nil)
        #expect(settings.health?.port == 1 && settings.tokensFile == "t" && settings.allowedIDsFile == "i")
        #expect(settings.proxies.trusted.count == 2 && settings.proxies.usesPreamble && settings.reusesPort)
        #expect(settings.drainWithin == 7 && settings.maximumDiskBytes == 2 << 20 && settings.logsJSON)
        #expect(settings.relay.tls?.sessionTickets == 2 && settings.relay.traffic.maximumFramesPerSecond == 5)
        let plain = try ServiceSettings(json: [:])
        #expect(plain.health == nil && plain.tokensFile == nil && !plain.logsJSON && plain.drainWithin == 5_000)
        #expect(plain.maximumDiskBytes == (128 << 20) + (16 << 20))
    }

    @Test(
        "what is wrong is named",
        arguments: [
            (["nonsense": 1], "nonsense"), (["drain_ms": -1], "drain_ms"),
            (["trusted_proxies": ["x"]], "trusted_proxies"),
            (["trusted_proxies": "10.0.0.1"], "trusted_proxies"), (["proxy_protocol": true], "trusted_proxies"),
            (["log_format": "xml"], "log_format"), (["tokens_file": ""], "tokens_file"), (["health": "x"], "health"),
            (["max_disk_bytes": 1], "max_disk_bytes"), (["reuse_port": 1], "reuse_port"),
        ] as [(JSONObject, String)])
    func errors(options: JSONObject, key: String) {
        let error = #expect(throws: ServiceError.self) { _ = try ServiceSettings(json: options) }
        #expect(error?.code == .invalidOption && error?.message.contains(key) == true)
    }

    @Test("with trusted proxies, origins may have either scheme; without, the error says that a proxy must be listed")
    func origins() throws {
        let settings = try ServiceSettings(json: [
            "origins": ["wss://relay.example", "ws://relay.example:9001"], "trusted_proxies": ["127.0.0.1"],
        ])
        #expect(settings.relay.origins == ["wss://relay.example:443", "ws://relay.example:9001"])
        for proxies: JSONValue? in [nil, []] {
            let error = #expect(throws: ServiceError.self) {
                _ = try ServiceSettings(json: ["origins": ["wss://relay.example"], "trusted_proxies": proxies])
            }
            #expect(error?.message.contains("--trusted-proxy") == true)
        }
    }

    @Test("limits for all peers together grow with max_connections, unless they are given")
    func scale() throws {
        let small = try ServiceSettings(json: ["max_connections": 100]).relay
        let plain = RelayOptions()
        #expect(small.storage.maximumAbsentPeers == plain.storage.maximumAbsentPeers)
        #expect(small.names.maximumAcquaintances == plain.names.maximumAcquaintances)
        let large = try ServiceSettings(json: ["max_connections": 200_000, "max_aliases": 9]).relay
        #expect(large.admission.maximumUnregistered == 50_000 && large.names.maximumAliases == 9)
        #expect(large.names.maximumProvedIDs == 800_000 && large.names.maximumAcquaintances == 800_000)
        #expect(large.storage.maximumAbsentPeers == 200_000 && large.storage.maximumStoredBytes == 819_200_000)
        #expect(large.traffic.maximumReceivingBytes == 204_800_000)
        let most = try ServiceSettings(json: ["max_connections": 10_000_000]).relay
        #expect(most.storage.maximumStoredBytes == 40_960_000_000)
    }

    @Test("files that cannot be read, or are not what they should be, are errors that name them")
    func files() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("bellwire-settings-\(UUID())").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        func write(_ bytes: [UInt8], _ name: String) -> String {
            _ = FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: Data(bytes))
            return "\(folder)/\(name)"
        }
        let good = write(Array(#"{"listen":"127.0.0.1:1"}"#.utf8), "good")
        #expect(try ServiceSettings.object(file: good) == ["listen": "127.0.0.1:1"])
        // A relay that waits for the writer of a pipe does nothing else, as after a signal to read its files again.
        try #require(mkfifo("\(folder)/pipe", 0o600) == 0)
        for (path, code) in [
            ("\(folder)/pipe", .unreadableFile), ("\(folder)/absent", .unreadableFile), (folder, .unreadableFile),
            (write([0xff, 0xfe], "binary"), .unreadableFile),
            (write(Array("[]".utf8), "array"), .invalidFile), (write(Array("{".utf8), "cut"), .invalidFile),
            (write([UInt8](repeating: 32, count: 1 << 21), "huge"), .unreadableFile),
        ] as [(String, ServiceError.Code)] {
            let error = #expect(throws: ServiceError.self) { _ = try ServiceSettings.object(file: path) }
            #expect(error?.code == code && error?.message.contains(path) == true)
        }
        var settings = try ServiceSettings(json: [:])
        settings.tokensFile = write(Array("a-token-that-is-long-enough\n".utf8), "tokens")
        settings.allowedIDsFile = write(Array("pc\nphone\n".utf8), "ids")
        let lists = try settings.lists()
        #expect(lists.tokens?.count == 1 && lists.ids?.count == 2)
        settings.tokensFile = "\(folder)/absent"
        #expect(throws: ServiceError.self) { _ = try settings.lists() }
    }
}
