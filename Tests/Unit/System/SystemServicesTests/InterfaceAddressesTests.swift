import Foundation
import Testing

@testable import SystemServices

@Suite struct InterfaceAddressesTests {
    @Test("addresses are local to this machine and not loopback; with a route to a network there is at least one")
    func reachable() throws {
        let addresses = InterfaceAddresses.reachableIPv4()
        let local = try localAddresses()
        for address in addresses {
            #expect(local.contains(address))
            #expect(!address.hasPrefix("127."))
        }
        if try hasRoute() { #expect(!addresses.isEmpty) }
    }

    /// From the kernel's routing table: a line with the address, then one with `host LOCAL`.
    private func localAddresses() throws -> Set<String> {
        var local: Set<String> = []
        var last = ""
        for line in try lines(of: "/proc/net/fib_trie") {
            let words = line.split(separator: " ").map(String.init)
            if words.first == "|--", let address = words.dropFirst().first { last = address }
            if Array(words.dropFirst()) == ["host", "LOCAL"] { local.insert(last) }
        }
        return local
    }

    private func hasRoute() throws -> Bool {
        try lines(of: "/proc/net/route").dropFirst().contains { !$0.hasPrefix("lo\t") }
    }

    private func lines(of path: String) throws -> [Substring] {
        try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    }
}
