import Testing

@testable import RelayService
@testable import Transport

@Suite("Proxies name their clients, and nobody else does")
@EventLoop
struct ProxyTests {
    private func client(_ forwarded: [String], from proxy: String, trusted: [String]) throws -> String {
        let proxies = TrustedProxies(try trusted.map { try #require(AddressBlock($0)) }, usesPreamble: false)
        let remote = PeerAddress(host: proxy, port: 4_000, isLoopback: proxy == "127.0.0.1")
        guard case .headers = proxies.manner(of: remote) else { return "\(proxy), itself" }
        let headers = forwarded.map { HTTPRequestHead.Header(name: "x-Forwarded-FOR", value: $0) }
        let head = HTTPRequestHead(method: "GET", target: "/", headers: headers, asksForWebSocket: true)
        return proxies.client(of: head, from: remote).host
    }

    @Test("X-Forwarded-For counts from the end: the last address that is not a proxy of ours is the client")
    func forwarded() throws {
        let trusted = ["10.0.0.0/8", "127.0.0.1", "2001:db8:1::/48"]
        #expect(try client(["192.0.2.1"], from: "10.0.0.1", trusted: trusted) == "192.0.2.1")
        #expect(try client(["6.6.6.6, 192.0.2.1 , 10.9.9.9"], from: "10.0.0.1", trusted: trusted) == "192.0.2.1")
        #expect(try client(["6.6.6.6", "192.0.2.1"], from: "127.0.0.1", trusted: trusted) == "192.0.2.1")
        #expect(try client(["[2001:db8:2::5]:443"], from: "10.0.0.1", trusted: trusted) == "2001:db8:2::5")
        #expect(try client(["192.0.2.1:8080"], from: "2001:db8:1::9", trusted: trusted) == "192.0.2.1")
        #expect(try client(["::ffff:192.0.2.1"], from: "10.0.0.1", trusted: trusted) == "192.0.2.1")
        // All of them are proxies: the first one is who asks.
        #expect(try client(["10.0.0.7, 10.0.0.8"], from: "10.0.0.1", trusted: trusted) == "10.0.0.7")
        // What is not an address was not written by a proxy of ours.
        #expect(try client(["6.6.6.6, unknown, 10.0.0.8"], from: "10.0.0.1", trusted: trusted) == "10.0.0.8")
        #expect(try client(["unknown"], from: "10.0.0.1", trusted: trusted) == "10.0.0.1")
        #expect(try client([], from: "127.0.0.1", trusted: trusted) == "127.0.0.1")
        #expect(try client(["6.6.6.6"], from: "192.0.2.66", trusted: trusted) == "192.0.2.66, itself")
        #expect(try client(["6.6.6.6"], from: "11.0.0.1", trusted: []) == "11.0.0.1, itself")
    }

    @Test("a client never counts as loopback because a proxy says so: limits hold for it")
    func neverLoopback() throws {
        let proxies = TrustedProxies([try #require(AddressBlock("10.0.0.1"))], usesPreamble: false)
        let remote = PeerAddress(host: "10.0.0.1", port: 1, isLoopback: false)
        let head = HTTPRequestHead(
            method: "GET", target: "/", headers: [.init(name: "X-Forwarded-For", value: "127.0.0.1")],
            asksForWebSocket: true)
        let client = proxies.client(of: head, from: remote)
        #expect(client.host == "127.0.0.1" && !client.isLoopback)
    }

    @Test(
        "networks hold what begins as they do",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.0.0.0/9", "10.128.0.0", false),
            ("0.0.0.0/0", "8.8.8.8", true), ("0.0.0.0/0", "::1", false), ("192.0.2.1", "192.0.2.1", true),
            ("192.0.2.1", "192.0.2.2", false), ("2001:db8::/33", "2001:db8:7fff::1", true),
            ("2001:db8::/33", "2001:db8:8000::1", false), ("::1/128", "::1", true),
        ])
    func blocks(block: String, address: String, isInside: Bool) throws {
        let (block, address) = (try #require(AddressBlock(block)), try #require(NumericAddress(address[...])))
        #expect(block.contains(address) == isInside)
    }

    @Test(
        "what is not a network is refused",
        arguments: [
            "", "/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8/8", "::/129", "localhost", "10.0.0", "10.0.0.0/", "[::1",
            "10.0.0.1:x",
        ])
    func notBlocks(text: String) { #expect(AddressBlock(text) == nil) }

    // MARK: PROXY protocol

    static let signature: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]

    private func read(_ bytes: [UInt8]) -> ProxyHeader { bytes.withUnsafeBytes { ProxyHeaderReader.read($0) } }

    private func header(_ command: UInt8, _ family: UInt8, _ rest: [UInt8]) -> [UInt8] {
        Self.signature + [command, family, UInt8(rest.count >> 8), UInt8(rest.count & 255)] + rest
    }

    private let four: [UInt8] = [192, 0, 2, 7, 10, 0, 0, 1, 0x1f, 0x90, 0x00, 0x50]

    @Test("a header is whole or needs more, wherever it is cut")
    func proxyHeader() {
        let six = [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [9]
        let mapped = [UInt8](repeating: 0, count: 10) + [0xff, 0xff, 192, 0, 2, 8]
        let extensions: [UInt8] = [0x04, 0x00, 0x02, 1, 2]
        func expected(_ host: String, _ header: [UInt8]) -> ProxyHeader {
            .client(PeerAddress(host: host, port: 8_080, isLoopback: false), length: header.count)
        }
        for (bytes, host) in [
            (header(0x21, 0x11, four), "192.0.2.7"), (header(0x21, 0x11, four + extensions), "192.0.2.7"),
            (header(0x21, 0x21, six + six + [0x1f, 0x90, 0, 80]), "2001:db8::9"),
            (header(0x21, 0x21, mapped + six + [0x1f, 0x90, 0, 80]), "192.0.2.8"),
        ] {
            #expect(read(bytes + Array("GET / HTTP/1.1".utf8)) == expected(host, bytes))
            for count in 0..<bytes.count { #expect(read(Array(bytes.prefix(count))) == .needsMore) }
        }
        // The proxy's own connections, and those it knows nothing of.
        #expect(read(header(0x20, 0x00, [])) == .client(nil, length: 16))
        #expect(read(header(0x21, 0x00, [1, 2, 3])) == .client(nil, length: 19))
    }

    @Test("anything else is invalid, as soon as that can be known")
    func invalidProxyHeader() {
        let invalid: [[UInt8]] = [
            Array("GET /".utf8), [0x0d, 0x0a, 0x0d, 0x0b],
            header(0x11, 0x11, four), header(0x22, 0x11, four), header(0x21, 0x12, four), header(0x21, 0x31, four),
            header(0x21, 0x11, Array(four.prefix(11))), header(0x21, 0x21, four),
            Self.signature + [0x21, 0x11, 0xff, 0xff],
        ]
        for bytes in invalid { #expect(read(bytes) == .invalid) }
    }

    @Test("the first version is a line")
    func line() {
        func expected(_ host: String, _ port: UInt16, _ length: Int) -> ProxyHeader {
            .client(PeerAddress(host: host, port: port, isLoopback: false), length: length)
        }
        let four = Array("PROXY TCP4 192.0.2.1 127.0.0.1 56324 443\r\n".utf8)
        let six = Array("PROXY TCP6 2001:db8::1 ::1 56324 443\r\n".utf8)
        #expect(read(four + [0x16, 0x03]) == expected("192.0.2.1", 56_324, four.count))
        #expect(read(six) == expected("2001:db8::1", 56_324, six.count))
        for count in 0..<four.count { #expect(read(Array(four.prefix(count))) == .needsMore) }
        #expect(read(Array("PROXY UNKNOWN ff:: x\r\n".utf8)) == .client(nil, length: 22))
        for text in [
            "PROXY \r\n", "PROXY TCP4\r\n", "PROXY TCP4 192.0.2.1 127.0.0.1 1\r\n",
            "PROXY UDP4 1.2.3.4 1.2.3.4 1 2\r\n",
            "PROXY TCP4 ::1 ::1 1 2\r\n", "PROXY TCP6 1.2.3.4 1.2.3.4 1 2\r\n",
            "PROXY TCP4 1.2.3.4 1.2.3.4 65536 2\r\n",
            "PROXY TCP4 192.0.2.1 127.0.0.1 1 2\n", "PROXY " + String(repeating: "x", count: 200),
        ] {
            #expect(read(Array(text.utf8)) == .invalid, "\(text)")
        }
    }
}
