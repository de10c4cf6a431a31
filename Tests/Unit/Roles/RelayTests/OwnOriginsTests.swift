import Testing
import Transport

@testable import Relay

@Suite("A relay knows its own addresses")
struct OwnOriginsTests {
    private func origins(_ host: String, _ change: (inout RelayOptions) -> Void = { _ in }) -> Set<String> {
        var options = RelayOptions()
        options.host = host
        change(&options)
        var origins = OwnOrigins(options, port: 9_001)
        return Set(origins.all(at: 0, isLocal: true).map { String(decoding: $0, as: UTF8.self) })
    }

    @Test("one address is itself, loopback is localhost too, and the scheme is the one that is spoken")
    func addresses() {
        #expect(origins("127.0.0.1") == ["ws://127.0.0.1:9001", "ws://localhost:9001"])
        #expect(origins("localhost") == ["ws://127.0.0.1:9001", "ws://localhost:9001"])
        #expect(origins("::1") == ["ws://[::1]:9001", "ws://localhost:9001"])
        #expect(origins("192.0.2.5") == ["ws://192.0.2.5:9001"])
        #expect(
            origins("192.0.2.5") { $0.tls = .init(certificateFile: "c", keyFile: "k") } == ["wss://192.0.2.5:9001"])
    }

    @Test("a connection from elsewhere has not dialled loopback: a proof for that was made for another relay")
    func outside() {
        func outside(_ host: String, _ named: [String] = []) -> Set<String> {
            var options = RelayOptions()
            options.host = host
            var origins = OwnOrigins(options, port: 9_001, alsoDialledAs: named)
            return Set(origins.all(at: 0, isLocal: false).map { String(decoding: $0, as: UTF8.self) })
        }
        for host in ["0.0.0.0", "::"] {
            #expect(
                outside(host).allSatisfy { !$0.contains("localhost") && !$0.contains("127.") && !$0.contains("::1") })
        }
        #expect(outside("127.0.0.1").isEmpty)
        #expect(outside("192.0.2.5") == ["ws://192.0.2.5:9001"])
        // What somebody names on purpose holds for all.
        #expect(outside("0.0.0.0", ["ws://localhost:9001"]).contains("ws://localhost:9001"))
    }

    @Test("all addresses are those of this machine, never the wildcard itself")
    func wildcard() {
        for host in ["0.0.0.0", "::"] {
            let origins = origins(host)
            #expect(origins.contains("ws://127.0.0.1:9001") && origins.contains("ws://localhost:9001"))
            #expect(!origins.contains("ws://0.0.0.0:9001") && !origins.contains("ws://[::]:9001"))
        }
    }

    @Test(
        "an owner that dials it too is taken under its addresses, its port, and what it calls the relay, beside the options"
    )
    func owner() {
        var options = RelayOptions()
        options.origins = ["ws://relay.example:80"]
        var origins = OwnOrigins(options, port: 4_711, alsoDialledAs: ["ws://desk.example:9001"])
        let all = Set(origins.all(at: 0, isLocal: true).map { String(decoding: $0, as: UTF8.self) })
        #expect(
            all == [
                "ws://relay.example:80", "ws://desk.example:9001", "ws://127.0.0.1:4711", "ws://localhost:4711",
            ])
    }

    @Test("an origin of the other scheme is a proxy's: only connections from a trusted one have dialled it")
    func proxied() {
        var options = RelayOptions()
        options.origins = ["wss://relay.example:443"]
        func all(isProxied: Bool) -> Set<String> {
            var origins = OwnOrigins(options, port: 9_001)
            let all = origins.all(at: 0, isLocal: true, isProxied: isProxied)
            return Set(all.map { String(decoding: $0, as: UTF8.self) })
        }
        #expect(all(isProxied: false) == ["ws://127.0.0.1:9001", "ws://localhost:9001"])
        #expect(all(isProxied: true) == all(isProxied: false).union(["wss://relay.example:443"]))
        options.origins.append("ws://relay.example:9001")
        #expect(all(isProxied: false) == ["ws://relay.example:9001"])
        #expect(all(isProxied: true) == ["ws://relay.example:9001", "wss://relay.example:443"])
        options.tls = .init(certificateFile: "c", keyFile: "k")
        #expect(all(isProxied: false) == ["wss://relay.example:443"])
    }

    @Test("those of the options are the only ones")
    func options() {
        #expect(origins("127.0.0.1") { $0.origins = ["ws://relay.example:80"] } == ["ws://relay.example:80"])
    }
}
