import Testing

@testable import Transport

@Suite("Connection limits")
struct ConnectionLimitsTests {
    private let near = PeerAddress(host: "127.0.0.1", port: 1, isLoopback: true)
    private let far = PeerAddress(host: "192.0.2.7", port: 1, isLoopback: false)
    private let other = PeerAddress(host: "192.0.2.8", port: 1, isLoopback: false)

    @Test("At the limit accepting stops and is said once; below it goes on, and well below it is said again")
    func full() {
        var limits = ConnectionLimits(maximum: 16, maximumPendingPerAddress: 128)
        for _ in 0..<15 { #expect(limits.arrived(near) == .taken) }
        #expect(limits.arrived(near) == .takenAsLast(isNews: true))
        #expect(limits.closed() == .init(resumes: true, isNews: false))
        #expect(limits.arrived(near) == .takenAsLast(isNews: false))
        #expect(limits.closed() == .init(resumes: true, isNews: false))
        #expect(limits.closed() == .init(resumes: false, isNews: true))
        #expect(limits.count == 14)
    }

    @Test("One address cannot hold all places before the upgrade; loopback may")
    func pending() {
        var limits = ConnectionLimits(maximum: 100, maximumPendingPerAddress: 2)
        #expect(limits.arrived(far) == .taken)
        #expect(limits.arrived(far) == .taken)
        #expect(limits.arrived(far) == .refused)
        #expect(limits.arrived(other) == .taken)
        limits.settled(far)
        #expect(limits.arrived(far) == .taken)
        for _ in 0..<10 { #expect(limits.arrived(near) == .taken) }
        limits.settled(near)
    }

    @Test("Of IPv6 a /64 counts as one address")
    func networks() {
        func peer(_ host: String) -> PeerAddress { PeerAddress(host: host, port: 1, isLoopback: false) }
        var limits = ConnectionLimits(maximum: 100, maximumPendingPerAddress: 2)
        #expect(limits.arrived(peer("2001:db8::1")) == .taken)
        #expect(limits.arrived(peer("2001:db8::2")) == .taken)
        #expect(limits.arrived(peer("2001:db8::3")) == .refused)
        #expect(limits.arrived(peer("2001:db8:0:1::3")) == .taken)
        limits.settled(peer("2001:db8::2"))
        #expect(limits.arrived(peer("2001:db8::3")) == .taken)
    }

    @Test("A limit of one connection works")
    func one() {
        var limits = ConnectionLimits(maximum: 1, maximumPendingPerAddress: 1)
        #expect(limits.arrived(near) == .takenAsLast(isNews: true))
        #expect(limits.closed() == .init(resumes: true, isNews: true))
    }
}
