import CLinux
import Foundation
import TestSupport
import Testing
import Transport

@testable import SystemServices

@Suite("Network")
struct NetworkTests {
    /// A message of the kernel's: header, body, attributes.
    func message(_ type: Int, _ body: [UInt8], _ attributes: [(UInt16, [UInt8])] = []) -> [UInt8] {
        var rest = body
        for (type, value) in attributes {
            rest += Self.bytes(UInt16(value.count + 4)) + Self.bytes(type) + value
            rest += [UInt8](repeating: 0, count: (4 - value.count % 4) % 4)
        }
        return Self.bytes(UInt32(rest.count + 16)) + Self.bytes(UInt16(type)) + [UInt8](repeating: 0, count: 10) + rest
    }

    static func bytes(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) }
    }

    func link(_ index: UInt32, flags: UInt32) -> [UInt8] {
        message(RTM_NEWLINK, [0, 0, 0, 0] + Self.bytes(index) + Self.bytes(flags) + Self.bytes(UInt32(0)))
    }

    func address(_ address: [UInt8], lifetime: UInt32) -> [UInt8] {
        message(
            RTM_NEWADDR, [2, 24, 0, 0] + Self.bytes(UInt32(3)),
            [(UInt16(IFA_CACHEINFO), Self.bytes(lifetime)), (UInt16(IFA_ADDRESS), address)])
    }

    func isNew(_ changes: inout NetworkChanges, _ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { changes.take($0) }
    }

    @Test("Repetitions, as wireless cards and routers send them, are no changes")
    func repetitions() {
        var changes = NetworkChanges()
        #expect(isNew(&changes, link(2, flags: 0x11043)))
        #expect(!isNew(&changes, link(2, flags: 0x11043)))
        #expect(isNew(&changes, link(2, flags: 0x1003)), "the carrier is lost")
        #expect(isNew(&changes, address([10, 0, 0, 1], lifetime: 3_600)))
        #expect(!isNew(&changes, address([10, 0, 0, 1], lifetime: 7_200)), "a lifetime that is renewed")
        #expect(isNew(&changes, address([10, 0, 0, 2], lifetime: 3_600)))
        let gateway: [(UInt16, [UInt8])] = [(UInt16(RTA_GATEWAY.rawValue), [10, 0, 0, 254])]
        let route = [UInt8]([2, 0, 0, 0, 254, 0, 0, 1]) + Self.bytes(UInt32(0))
        #expect(isNew(&changes, message(RTM_NEWROUTE, route, gateway)))
        #expect(!isNew(&changes, message(RTM_NEWROUTE, route, gateway)))
        #expect(isNew(&changes, message(RTM_DELROUTE, route, gateway)))
        #expect(isNew(&changes, message(RTM_NEWROUTE, route, gateway)))
        var local = route
        local[4] = 255
        #expect(!isNew(&changes, message(RTM_NEWROUTE, local, gateway)), "the kernel's own table")
        // Several messages in one datagram, of which the last is new.
        #expect(isNew(&changes, link(2, flags: 0x1003) + link(2, flags: 0x1003) + link(9, flags: 1)))
    }

    @Test("Bytes that are no messages tell nothing and break nothing")
    func nonsense() {
        var generator = SystemRandomNumberGenerator()
        var changes = NetworkChanges()
        #expect(!isNew(&changes, []))
        #expect(!isNew(&changes, [UInt8](repeating: 0, count: 15)))
        #expect(!isNew(&changes, [UInt8](repeating: 0, count: 64)))
        #expect(!isNew(&changes, [UInt8](repeating: 255, count: 64)))
        let messages = [link(1, flags: 1), address([1, 2, 3, 4], lifetime: 1)]
        for _ in 0..<50_000 {
            var bytes = (messages.randomElement(using: &generator) ?? []) + (messages.first ?? [])
            for _ in 0..<Int.random(in: 0..<6, using: &generator) {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            _ = isNew(&changes, Array(bytes.prefix(.random(in: 0...bytes.count, using: &generator))))
        }
    }

    @Test("The monitor watches this machine's network")
    @EventLoop
    func opens() {
        let monitor = NetworkMonitor {}
        #expect(monitor.note == nil)
        monitor.stop()
    }

    @Test("Without a socket there is a note")
    @EventLoop
    func note() {
        let monitor = NetworkMonitor(socket: -1) {}
        #expect(monitor.note?.hasPrefix("cannot watch the network: ") == true)
    }

    @Test(
        "A link, an address and a route that come in a flock are one change; so is their end",
        .enabled(if: Namespace.isAllowed, "no network namespaces are allowed here (unshare -rn)"))
    @EventLoop
    func changes() async throws {
        let namespace = try await Namespace()
        let changed = Mailbox<UInt64>()
        let monitor = NetworkMonitor(socket: namespace.routeSocket) { changed.put(EventLoop.now) }
        #expect(monitor.note == nil)
        // The loopback device is there in every namespace, and down at first.
        try await namespace.ip("addr add 10.9.8.7/24 dev lo")
        try await namespace.ip("link set lo up")
        try await namespace.ip("route add 10.7.0.0/16 dev lo")
        let last = EventLoop.now
        let told = try await changed.next()
        #expect(told >= last + NetworkMonitor.settlingMilliseconds - 300)
        #expect(changed.isEmpty)
        try await namespace.ip("link set lo down")
        _ = try await changed.next()
        monitor.stop()
        try await namespace.ip("link set lo up")
        #expect(changed.isEmpty)
    }
}
