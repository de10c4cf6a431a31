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

    @Test("the default route and the link decide, not names and the order")
    func order() {
        let head = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\n"
        func route(_ interface: String, _ destination: String = "00000000", metric: Int, flags: String = "0003")
            -> String
        {
            let mask = destination == "00000000" ? "00000000" : "00FFFFFF"
            return "\(interface)\t\(destination)\t0101A8C0\t\(flags)\t0\t0\t\(metric)\t\(mask)\t0\t0\t0 \n"
        }
        typealias Entry = InterfaceAddresses.Entry
        let bridge = Entry(interface: "mybridge", address: "172.18.0.1", isDevice: false)
        let wired = Entry(interface: "enp3s0", address: "192.168.1.5")
        let wireless = Entry(interface: "wlan0", address: "192.168.7.9")
        let unplugged = Entry(interface: "enp4s0", address: "10.0.0.2", hasLink: false)
        let tunnel = Entry(interface: "wg0", address: "10.8.0.2", isPointToPoint: true, isDevice: false)
        let ownNetwork = Entry(interface: "usb0", address: "169.254.3.4")
        let all = [ownNetwork, tunnel, bridge, unplugged, wired, wireless]
        func first(_ routes: String) -> [String] { InterfaceAddresses.ordered(all, routes: head + routes) }
        let both = route("wlan0", metric: 600) + route("enp3s0", metric: 100) + route("mybridge", "000012AC", metric: 0)
        #expect(first(both) == [wired, wireless, bridge, tunnel, ownNetwork, unplugged].map { $0.address })
        // A bridge that the machine's own network goes over, and a virtual private network as the default route.
        #expect(first(route("mybridge", metric: 425)).first == bridge.address)
        #expect(first(route("wg0", metric: 50) + route("wlan0", metric: 600)).first == wireless.address)
        #expect(first(route("enp4s0", metric: 1) + route("enp3s0", metric: 2)).first == wired.address, "no link")
        #expect(first(route("wlan0", metric: 1, flags: "0000")).first == wired.address, "a route that is down")
        // A network without a router.
        #expect(first("").first == wired.address)
        #expect(InterfaceAddresses.ordered([bridge], routes: "") == [bridge.address])
        #expect(first("\n\t\t\nwlan0\t00000000\n").first == wired.address)
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
