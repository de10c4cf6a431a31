import Foundation
import TestSupport
import Testing
import Transport

@testable import SystemServices

/// avahi-daemon, where it is installed; a service that starts by itself is not for tests to install.
enum RealAvahi {
    static let path: String? = {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        return (path.split(separator: ":").map(String.init) + ["/usr/sbin"]).map { "\($0)/avahi-daemon" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }()

    static var isAllowed: Bool { path != nil && getuid() == 0 && Namespace.isAllowed }

    static func start(on bus: PrivateBus) async throws -> Program {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "Mocks/avahi.sh")
        let program = try Program(
            "/usr/bin/unshare", ["-rnm", script.path, bus.text, try #require(path)])
        _ = try await program.lines.next { $0 == "running" }
        return program
    }
}

@Suite("Discovery, with a real avahi-daemon")
@EventLoop
struct RealAvahiTests {
    @Test(
        "What one publishes another finds; a name that is taken gives way; all comes back after a restart",
        .enabled(
            if: RealAvahi.isAllowed, "takes an installed avahi-daemon, root, and namespaces (unshare -rnm)"))
    func publishAndFind() async throws {
        let daemon = try await PrivateBus()
        var avahi = try await RealAvahi.start(on: daemon)
        let buses = (0..<3).map { _ in Bus(daemon.address) }
        let found = Mailbox<RelayBrowser.Event>()
        let published = Mailbox<RelayPublisher.Event>()
        let publishedSecond = Mailbox<RelayPublisher.Event>()
        let browser = RelayBrowser(on: buses[0]) { found.put($0) }
        let first = RelayPublisher(on: buses[1]) { published.put($0) }
        let second = RelayPublisher(on: buses[2]) { publishedSecond.put($0) }
        browser.start()
        for bus in buses { bus.open() }
        first.publish(name: "Desk", port: 9_001, did: "did:key:first")
        _ = try await published.next(within: 20_000) { $0 == .published(name: "Desk") }
        let desk = DiscoveredRelay(name: "Desk", url: "ws://10.55.0.1:9001/", did: "did:key:first")
        _ = try await found.next(within: 20_000) { $0 == .found(desk) }
        second.publish(name: "Desk", port: 9_002, did: "did:key:second")
        _ = try await publishedSecond.next(within: 20_000) { $0 == .published(name: "Desk #2") }
        let other = DiscoveredRelay(name: "Desk #2", url: "ws://10.55.0.1:9002/", did: "did:key:second")
        _ = try await found.next(within: 20_000) { $0 == .found(other) }
        second.withdraw()
        // On one interface after the other, so that the last address known is not the best.
        _ = try await found.next(within: 20_000) {
            if case .lost(let relay) = $0 { relay.name == other.name } else { false }
        }
        avahi.end(with: SIGKILL)
        _ = try await found.next { $0 == .lost(desk) }
        avahi = try await RealAvahi.start(on: daemon)
        _ = try await published.next(within: 20_000) { $0 == .published(name: "Desk") }
        _ = try await found.next(within: 20_000) { $0 == .found(desk) }
        for bus in buses { bus.close() }
        avahi.end()
    }
}
