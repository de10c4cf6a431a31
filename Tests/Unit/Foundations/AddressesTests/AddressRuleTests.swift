import Testing

@testable import Addresses

@Suite("Addresses that may be connected to")
struct AddressRuleTests {
    private func permits(_ address: String, allowing allowed: [String] = []) throws -> Bool {
        let ranges = try allowed.map { try #require(AddressRange($0)) }
        return AddressRule(allowing: ranges).permits(try #require(IPAddress(address)))
    }

    @Test(
        "Addresses of the internet are permitted, up to the edges of what is not",
        arguments: [
            "1.1.1.1", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
            "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0", "192.88.98.255",
            "192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
            "2001:200::1", "2606:4700::1111", "2a00:1450::1", "2003::", "3fff:1000::", "2001:4860:4860::8888",
        ])
    func publicOnes(address: String) throws {
        #expect(try permits(address))
    }

    @Test(
        "Private, loopback, link-local, mapped, translated and reserved addresses are not",
        arguments: [
            "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1",
            "127.255.255.255", "169.254.0.0", "169.254.169.254", "172.16.0.0", "172.31.255.255", "192.0.0.0",
            "192.0.0.170",
            "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255", "198.18.0.0", "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.0", "255.255.255.255",
            "::", "::1", "::127.0.0.1", "::8.8.8.8", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "::ffff:0:127.0.0.1",
            "64:ff9b::127.0.0.1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "100::1", "2001::1", "2001:0:4136:e378::1",
            "2001:2::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::1", "2002:808:808::1", "3fff::1",
            "3fff:fff::1", "4000::1", "5f00::1", "fc00::1", "fd12:3456::1", "fe80::1", "fec0::1", "ff02::1",
        ])
    func otherOnes(address: String) throws {
        #expect(try !permits(address))
    }

    @Test(
        "Where clouds tell their machines about themselves is not public",
        arguments: [
            "168.63.129.16", "169.254.169.254", "169.254.170.2", "100.100.100.200", "192.0.0.192", "fd00:ec2::254",
            "fd20:ce::254", "::ffff:168.63.129.16", "64:ff9b::a83f:8110",
        ])
    func clouds(text: String) throws {
        #expect(!AddressRule().permits(try #require(IPAddress(text))))
    }

    @Test("What is allowed is permitted, that and no more")
    func allowed() throws {
        #expect(try permits("127.0.0.2", allowing: ["127.0.0.2"]))
        #expect(try !permits("127.0.0.1", allowing: ["127.0.0.2"]))
        #expect(try !permits("::ffff:127.0.0.2", allowing: ["127.0.0.2"]))
        #expect(try permits("10.1.2.3", allowing: ["192.168.0.0/16", "10.0.0.0/8"]))
        #expect(try permits("fd00::5", allowing: ["fd00::/8"]))
        #expect(try !permits("fe80::5", allowing: ["fd00::/8"]))
        #expect(try permits("127.0.0.1", allowing: ["0.0.0.0/0"]))
        #expect(try !permits("::1", allowing: ["0.0.0.0/0"]))
        #expect(try permits("::1", allowing: ["::/0"]))
    }

    @Test("A translator that is allowed leads to nothing that is not")
    func translators() throws {
        let nat64 = ["64:ff9b::/96"]
        #expect(try permits("64:ff9b::8.8.8.8", allowing: nat64))
        #expect(try !permits("64:ff9b::127.0.0.1", allowing: nat64))
        #expect(try !permits("64:ff9b::10.0.0.1", allowing: nat64))
        #expect(try permits("64:ff9b::10.0.0.1", allowing: nat64 + ["10.0.0.0/8"]))
        #expect(try permits("::ffff:8.8.8.8", allowing: ["::/0"]))
        #expect(try !permits("::ffff:127.0.0.1", allowing: ["::/0"]))
        #expect(try permits("2002:808:808::1", allowing: ["2002::/16"]))
        #expect(try !permits("2002:7f00:1::1", allowing: ["2002::/16"]))
    }

    @Test(
        "Ranges are read in one spelling",
        arguments: [
            "", "/", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.1/8", "10.0.0/8", "::/129",
            "::1/0",
            "10.0.0.0/8/8", "fd00::/8 ", "example.com", "10.0.0.0/8\u{0}", "127.0.0.1\u{0}", "fe80::1%eth0", "/8",
        ])
    func ranges(text: String) {
        #expect(AddressRange(text) == nil)
    }

    @Test("An address is its bytes, and its text its shortest")
    func addresses() throws {
        #expect(IPAddress("1.2.3.4")?.bytes == [1, 2, 3, 4])
        #expect(IPAddress(bytes: [1, 2, 3, 4])?.description == "1.2.3.4")
        let long = try #require(IPAddress("2001:0DB8:0:0:0:0:0:1"))
        #expect(long.description == "2001:db8::1")
        #expect(IPAddress(bytes: long.bytes) == long)
        #expect(IPAddress(bytes: [1, 2, 3]) == nil)
        #expect(IPAddress("::ffff:1.2.3.4") != IPAddress("1.2.3.4"))
        for text in ["1.2.3", "01.2.3.4", "1.2.3.4.5", "1.2.3.256", " 1.2.3.4", "::1%lo", "[::1]", ""] {
            #expect(IPAddress(text) == nil)
        }
    }
}
