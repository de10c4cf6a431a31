import TestSupport
import Testing
import Transport

@testable import SystemServices

@Suite("Discovery, with an Avahi that the test plays")
@EventLoop
struct DiscoveryTests {
    static let group = "org.freedesktop.Avahi.EntryGroup"
    static let server = "org.freedesktop.Avahi.Server"

    struct Browsing {
        let bus: Bus
        let browser: RelayBrowser
        let events: Mailbox<RelayBrowser.Event>
    }

    func browsing(_ address: BusAddress, library: SystemdLibrary = .shared) -> Browsing {
        let bus = Bus(address, library: library)
        let events = Mailbox<RelayBrowser.Event>()
        let browser = RelayBrowser(on: bus) { events.put($0) }
        browser.start()
        bus.open()
        return Browsing(bus: bus, browser: browser, events: events)
    }

    struct Publishing {
        let bus: Bus
        let publisher: RelayPublisher
        let events: Mailbox<RelayPublisher.Event>
    }

    func publishing(_ address: BusAddress, name: String = "Desk") -> Publishing {
        let bus = Bus(address)
        let events = Mailbox<RelayPublisher.Event>()
        let publisher = RelayPublisher(on: bus) { events.put($0) }
        publisher.publish(name: name, port: 9_001, did: "did:key:z6Mk")
        bus.open()
        return Publishing(bus: bus, publisher: publisher, events: events)
    }

    func service(
        _ services: Services, _ interface: Int, _ family: Int, _ name: String, _ address: String, port: Int = 9_001,
        txt: String = #"["did=did:key:z6Mk","ver=1","path=/"]"#
    ) async throws {
        try await services.tell(
            #"{"do":"service","interface":\#(interface),"protocol":\#(family),"name":"\#(name)","address":"\#(address)","port":\#(port),"txt":\#(txt)}"#,
            until: "service")
    }

    @Test("A relay is found with its address, path and claimed id, and lost when it goes")
    func found() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon, owning: Avahi.name)
        try await service(services, 2, 0, "Desk", "192.168.1.5", txt: #"["DID=did:key:z6Mk","did=second","path=/bw"]"#)
        let browsing = browsing(daemon.address)
        let relay = DiscoveredRelay(name: "Desk", url: "ws://192.168.1.5:9001/bw", did: "did:key:z6Mk")
        #expect(try await browsing.events.next() == .found(relay))
        #expect(browsing.browser.relays == [relay] && browsing.browser.note == nil)
        try await services.tell(#"{"do":"remove","interface":2,"protocol":0,"name":"Desk"}"#, until: "removed")
        #expect(try await browsing.events.next() == .lost(relay))
        browsing.bus.close()
    }

    @Test("Of many ways to one relay the best is told: IPv4, global IPv6, link-local with its scope")
    func bestWay() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon, owning: Avahi.name)
        let browsing = browsing(daemon.address)
        // Interface 1 is the loopback device, the one that every machine has.
        try await service(services, 1, 1, "Desk", "fe80::1")
        #expect(
            try await browsing.events.next()
                == .found(DiscoveredRelay(name: "Desk", url: "ws://[fe80::1%lo]:9001/", did: "did:key:z6Mk")))
        try await service(services, 3, 1, "Desk", "2001:db8::1")
        #expect(
            try await browsing.events.next()
                == .found(DiscoveredRelay(name: "Desk", url: "ws://[2001:db8::1]:9001/", did: "did:key:z6Mk")))
        try await service(services, 3, 0, "Desk", "10.0.0.1")
        let best = DiscoveredRelay(name: "Desk", url: "ws://10.0.0.1:9001/", did: "did:key:z6Mk")
        #expect(try await browsing.events.next() == .found(best))
        try await services.tell(#"{"do":"remove","interface":1,"protocol":1,"name":"Desk"}"#, until: "removed")
        try await service(services, 3, 0, "Other", "10.0.0.2", txt: "[]")
        #expect(
            try await browsing.events.next()
                == .found(DiscoveredRelay(name: "Other", url: "ws://10.0.0.2:9001/", did: nil)))
        browsing.bus.close()
    }

    @Test("When Avahi goes all relays are lost, with a note; when it comes back they are found again")
    func restart() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon, owning: Avahi.name)
        try await service(services, 2, 0, "Desk", "192.168.1.5")
        let browsing = browsing(daemon.address)
        let relay = DiscoveredRelay(name: "Desk", url: "ws://192.168.1.5:9001/", did: "did:key:z6Mk")
        #expect(try await browsing.events.next() == .found(relay))
        try await services.release(Avahi.name)
        #expect(
            try await browsing.events.next() == .note("no Avahi: org.freedesktop.Avahi is not on the bus"))
        #expect(try await browsing.events.next() == .lost(relay))
        try await services.own(Avahi.name)
        #expect(try await browsing.events.next() == .note(nil))
        #expect(try await browsing.events.next() == .found(relay))
        browsing.browser.refresh()
        try await services.call(of: "org.freedesktop.Avahi.ServiceBrowser.Free")
        try await services.call(of: "\(Self.server).ResolveService")
        try await service(services, 2, 0, "Next", "192.168.1.6")
        // What was there is not told again.
        #expect(
            try await browsing.events.next()
                == .found(DiscoveredRelay(name: "Next", url: "ws://192.168.1.6:9001/", did: "did:key:z6Mk")))
        browsing.browser.stop()
        #expect(browsing.browser.relays.isEmpty)
        browsing.bus.close()
    }

    @Test("What is no relay, or says what cannot be, is not found, and nothing breaks")
    func hostile() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon, owning: Avahi.name)
        let browsing = browsing(daemon.address)
        for (index, address) in ["127.0.0.1", "0.0.0.0", "224.0.0.1", "::1", "::", "ff02::1", "nonsense", ""]
            .enumerated()
        {
            try await service(services, 2, 0, "bad \(index)", address)
        }
        try await service(services, 2, 0, "no port", "10.0.0.1", port: 0)
        try await service(services, 9_999, 1, "no scope", "fe80::1")
        try await service(services, 2, 0, "other version", "10.0.0.1", txt: #"["ver=2"]"#)
        let browser = "/Client0/ServiceBrowser1"
        let interface = "org.freedesktop.Avahi.ServiceBrowser"
        for rest in [
            #""signature":"s","args":["x"]"#, #""signature":"","args":[]"#,
            #""signature":"iiiiii","args":[1,2,3,4,5,6]"#,
            #""signature":"iisssu","args":[2,0,"","_chainlesschain-signaling._tcp","local",0]"#,
            #""signature":"iisssu","args":[2,0,"x","_http._tcp","local",0]"#,
        ] {
            try await services.signal(browser, interface, "ItemNew", rest)
            try await services.signal(browser, interface, "ItemRemove", rest)
        }
        // A name that would rewrite the terminal's line, and a path that would be no URL.
        try await service(
            services, 2, 0, "a\\u001b[2Kb", "10.0.0.9", txt: #"["path=evil","did=","did=x","noise","=","path=/late"]"#)
        #expect(
            try await browsing.events.next()
                == .found(DiscoveredRelay(name: "a[2Kb", url: "ws://10.0.0.9:9001/", did: nil)))
        for answer in [
            #""signature":"s","args":["x"]"#, #""signature":"","args":[]"#,
            #""signature":"iissssisqaayu","args":[2,0,"n","t","d","h",0,"10.0.0.1",9,["ver=1"],0],"error":"x.y.z""#,
        ] {
            try await services.override("\(Self.server).ResolveService", answer)
            try await service(services, 3, 0, "odd \(answer.count)", "10.0.0.1")
        }
        try await services.override("\(Self.server).ServiceBrowserNew", #""signature":"s","args":["x"]"#)
        browsing.browser.refresh()
        _ = try await browsing.events.next { if case .note(let text) = $0 { text != nil } else { false } }
        #expect(browsing.browser.relays.isEmpty)
        browsing.bus.close()
    }

    @Test("A flood of relays is bounded")
    func flood() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon, owning: Avahi.name)
        for number in 0..<200 { try await service(services, 2, 0, "Desk \(number)", "10.0.0.1") }
        let browsing = browsing(daemon.address)
        for _ in 0..<BrowseStateMachine.maximumSightings {
            guard case .found = try await browsing.events.next() else { throw BusError(.malformed, "not found") }
        }
        try await service(services, 2, 0, "one more", "10.0.0.2")
        try await services.override("\(Self.server).GetState", #""silent":true"#)
        #expect(browsing.browser.relays.count == BrowseStateMachine.maximumSightings)
        browsing.bus.close()
    }

    @Test("A relay is published with its record, and withdrawn")
    func publish() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon, owning: Avahi.name)
        let publishing = publishing(daemon.address)
        let added = try await services.call(of: "\(Self.group).AddService")
        #expect(added[3] as? String == "Desk" && added[4] as? String == "_chainlesschain-signaling._tcp")
        #expect(added[7] as? Int == 9_001)
        #expect(added[8] as? [String] == ["did=did:key:z6Mk", "ver=1", "path=/"])
        #expect(try await publishing.events.next() == .published(name: "Desk"))
        publishing.publisher.withdraw()
        #expect(try await publishing.events.next() == .published(name: nil))
        try await services.call(of: "\(Self.group).Free")
        publishing.bus.close()
    }

    @Test("A name that is taken gives way: at once, or when the network says so later")
    func collision() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon, owning: Avahi.name)
        try await services.set(#""taken":["Desk"]"#)
        let publishing = publishing(daemon.address)
        #expect(try await publishing.events.next() == .published(name: "Desk #2"))
        try await services.signal(
            "/Client0/EntryGroup1", Self.group, "StateChanged", #""signature":"is","args":[3,"org.freedesktop.x"]"#)
        #expect(try await publishing.events.next() == .published(name: nil))
        try await services.call(of: "\(Self.group).Reset")
        #expect(try await publishing.events.next() == .published(name: "Desk #2 #2"))
        // Without Avahi's help a name is made here.
        try await services.override("\(Self.server).GetAlternativeServiceName", #""signature":"i","args":[1]"#)
        try await services.signal(
            "/Client0/EntryGroup1", Self.group, "StateChanged", #""signature":"is","args":[3,""]"#)
        #expect(try await publishing.events.next() == .published(name: nil))
        #expect(try await publishing.events.next() == .published(name: "Desk #4"))
        publishing.bus.close()
    }

    @Test("After Avahi, or its host name, came back the relay is published again, under its own name")
    func republish() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon)
        let publishing = publishing(daemon.address)
        #expect(
            try await publishing.events.next() == .note("no Avahi: org.freedesktop.Avahi is not on the bus"))
        try await services.own(Avahi.name)
        #expect(try await publishing.events.next() == .note(nil))
        #expect(try await publishing.events.next() == .published(name: "Desk"))
        try await services.release(Avahi.name)
        _ = try await publishing.events.next { $0 == .published(name: nil) }
        try await services.own(Avahi.name)
        _ = try await publishing.events.next { $0 == .published(name: "Desk") }
        try await services.signal("/", Self.server, "StateChanged", #""signature":"is","args":[3,""]"#)
        #expect(try await publishing.events.next() == .published(name: nil))
        try await services.signal("/", Self.server, "StateChanged", #""signature":"is","args":[2,""]"#)
        #expect(try await publishing.events.next() == .published(name: "Desk"))
        publishing.bus.close()
    }

    @Test("An Avahi that refuses, or answers nonsense, is a note")
    func refusals() async throws {
        for (method, answer) in [
            ("\(Self.server).GetState", #""signature":"s","args":["x"]"#),
            ("\(Self.server).EntryGroupNew", #""error":"org.freedesktop.Avahi.TooManyObjectsError""#),
            ("\(Self.server).EntryGroupNew", #""signature":"i","args":[1]"#),
            ("\(Self.group).AddService", #""error":"org.freedesktop.Avahi.InvalidServiceNameError""#),
            ("\(Self.group).Commit", #""error":"org.freedesktop.Avahi.BadStateError""#),
        ] {
            let daemon = try await PrivateBus()
            let services = try await Services(on: daemon, owning: Avahi.name)
            try await services.override(method, answer)
            let publishing = publishing(daemon.address)
            guard case .note(let note?) = try await publishing.events.next() else {
                throw BusError(.malformed, "no note")
            }
            #expect(note.hasPrefix("Avahi cannot publish the relay: "))
            publishing.bus.close()
        }
    }

    @Test("No bus and no libsystemd are notes")
    func notes() async throws {
        for (address, library) in [
            (BusAddress("unix:path=/nonexistent/bus"), SystemdLibrary.shared),
            (BusAddress("unix:path=/nonexistent/bus"), SystemdLibrary(named: "libno-such-thing.so.0")),
        ] {
            let browsing = browsing(address, library: library)
            guard case .note(let note?) = try await browsing.events.next() else {
                throw BusError(.malformed, "no note")
            }
            #expect(note.hasPrefix("no Avahi: "))
            browsing.bus.close()
        }
    }
}
