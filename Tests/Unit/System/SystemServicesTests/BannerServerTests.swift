import Foundation
import TestSupport
import Testing
import Transport

@testable import SystemServices

/// Whether a banner is still wanted.
@EventLoop
private final class Wish {
    var holds = true
}

@Suite("Banners, with a notification server that the test plays")
@EventLoop
struct BannerServerTests {
    let interface = Showing.interface
    let banner = Banner(
        id: "1", title: "T", body: "<b>a</b>", tapTitle: "Open", actions: [Banner.Action(id: "A", title: "Do")],
        reply: Banner.Reply(id: "R", title: "Reply", placeholder: "Say"))

    /// The arguments of the next `Notify`.
    func notify(_ services: Services) async throws -> (
        replaced: Int, title: String, body: String, actions: [String], hints: [String: Any]
    ) {
        let args = try await services.call(of: "\(interface).Notify")
        try #require(args.count == 8)
        return (
            try #require(args[1] as? Int), try #require(args[3] as? String), try #require(args[4] as? String),
            try #require(args[5] as? [String]), try #require(args[6] as? [String: Any])
        )
    }

    @Test("A banner is shown, replaced, and closed by us")
    func shownReplacedClosed() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services.notifications(on: daemon)
        let showing = Showing(daemon.address)
        #expect(try await showing.ready() == "mock")
        #expect(showing.server.isReady && showing.server.problem == nil)
        #expect(showing.server.capabilities == ["actions", "body"] && showing.server.serverName == "mock")
        let first = try await showing.show(banner).get()
        var seen = try await notify(services)
        #expect(seen.replaced == 0 && seen.title == "T" && seen.body == "<b>a</b>")
        #expect(seen.actions == ["default", "Open", "action.A", "Do", "action.R", "Reply"])
        var changed = banner
        changed.title = "U"
        #expect(try await showing.show(changed, replacing: first).get() == first)
        seen = try await notify(services)
        #expect(seen.replaced == 1 && seen.title == "U")
        showing.server.close(first)
        #expect(try await showing.events.next() == .closed(first))
        // Gone already: nothing more is told, and nothing breaks.
        showing.server.close(first)
        let second = try await showing.show(banner, replacing: first).get()
        #expect(second != first)
        showing.close()
    }

    @Test("Tap, button, reply and dismissal are told once, with the banner they were for")
    func responses() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services.notifications(on: daemon, capabilities: #"["actions","inline-reply"]"#)
        let showing = Showing(daemon.address)
        try await showing.ready()
        var handles: [BannerServer.Handle] = []
        for _ in 0..<6 { handles.append(try await showing.show(banner).get()) }
        try await services.banner("ActionInvoked", "us", #"[1,"default"]"#)
        #expect(try await showing.events.next() == .responded(handles[0], .tap))
        // It is not left on the screen.
        #expect(try await services.call(of: "\(interface).CloseNotification").first as? Int == 1)
        try await services.banner("ActionInvoked", "us", #"[2,"action.A"]"#)
        #expect(try await showing.events.next() == .responded(handles[1], .action("A")))
        try await services.banner("NotificationReplied", "us", #"[3,"yes, ü"]"#)
        #expect(try await showing.events.next() == .responded(handles[2], .reply(id: "R", "yes, ü")))
        try await services.banner("NotificationClosed", "uu", "[4,2]")
        #expect(try await showing.events.next() == .responded(handles[3], .dismiss))
        try await services.banner("NotificationClosed", "uu", "[5,1]")
        #expect(try await showing.events.next() == .closed(handles[4]))
        // Servers say the end of what was answered as well, and anything about the banners of others.
        for number in [1, 2, 3, 99] { try await services.banner("NotificationClosed", "uu", "[\(number),2]") }
        try await services.banner("ActionInvoked", "us", #"[99,"default"]"#)
        try await services.banner("ActionInvoked", "us", #"[6,"no such"]"#)
        try await services.banner("ActionInvoked", "s", #"["default"]"#)
        try await services.banner("NotificationClosed", "", "[]")
        try await services.banner("ActionInvoked", "us", #"[6,"default"]"#)
        #expect(try await showing.events.next() == .responded(handles[5], .tap))
        #expect(showing.events.isEmpty)
        showing.close()
    }

    @Test("What others than the server say of our banners is not believed")
    func forged() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services.notifications(on: daemon)
        let stranger = try await Services(on: daemon)
        let showing = Showing(daemon.address)
        try await showing.ready()
        let handle = try await showing.show(banner).get()
        let us = try #require(showing.bus.name)
        try await stranger.signal(
            Showing.path, interface, "ActionInvoked",
            #""signature":"us","args":[1,"default"],"destination":"\#(us)""#)
        try await services.signal("/elsewhere", interface, "ActionInvoked", #""signature":"us","args":[1,"default"]"#)
        try await services.banner("NotificationClosed", "uu", "[1,2]")
        #expect(try await showing.events.next() == .responded(handle, .dismiss))
        showing.close()
    }

    @Test("A server that restarts while banners are up: their handles are dead, the new one is asked anew")
    func restart() async throws {
        let daemon = try await PrivateBus()
        let first = try await Services.notifications(on: daemon, capabilities: #"["body-markup"]"#)
        let showing = Showing(daemon.address)
        try await showing.ready()
        let old = try await showing.show(banner).get()
        #expect(try await notify(first).body == "&lt;b&gt;a&lt;/b&gt;")
        first.crash()
        #expect(try await showing.events.next() == .lost(exceptIn: nil))
        #expect(old.isLost(exceptIn: nil))
        #expect(try await showing.gone().code == .absent)
        #expect(!showing.server.isReady && showing.server.problem?.code == .absent)
        #expect(await showing.show(banner).error?.code == .absent)
        let second = try await Services.notifications(on: daemon, capabilities: #"["actions"]"#)
        try await showing.ready()
        #expect(showing.server.capabilities == ["actions"])
        let new = try await showing.show(banner, replacing: old).get()
        let seen = try await notify(second)
        #expect(seen.replaced == 0 && seen.body == "<b>a</b>", "the old server's number is another's here")
        #expect(new != old && new.text != old.text)
        #expect(!showing.server.isLost(new) && showing.server.isLost(old))
        showing.server.close(old)
        try await second.banner("NotificationClosed", "uu", "[1,2]")
        #expect(try await showing.events.next() == .responded(new, .dismiss))
        showing.close()
    }

    @Test("A bus that restarts: ready again; the same names and numbers are others'")
    func busRestart() async throws {
        let daemon = try await PrivateBus()
        var services = try await Services.notifications(on: daemon)
        let showing = Showing(daemon.address)
        try await showing.ready()
        let old = try await showing.show(banner).get()
        daemon.stop()
        _ = try await showing.gone()
        try await daemon.start()
        services = try await Services.notifications(on: daemon)
        try await showing.ready(within: 20_000)
        let new = try await showing.show(banner, replacing: old).get()
        #expect(try await notify(services).replaced == 0 && new != old)
        #expect(!showing.server.isLost(new) && showing.server.isLost(old))
        showing.close()
    }

    @Test("A handle that was kept as text is good in another run, while its server lives, and dead after that")
    func adopted() async throws {
        let daemon = try await PrivateBus()
        var services = try await Services.notifications(on: daemon, capabilities: #"["actions","inline-reply"]"#)
        let first = Showing(daemon.address)
        try await first.ready()
        let texts = [try await first.show(banner).get().text, try await first.show(banner).get().text]
        first.close()
        let handles = try texts.map { try #require(BannerServer.Handle($0)) }
        let second = Showing(daemon.address, adopting: handles.map { ($0, "R") })
        try await second.ready()
        try await services.banner("NotificationReplied", "us", #"[1,"late"]"#)
        #expect(try await second.events.next() == .responded(handles[0], .reply(id: "R", "late")))
        second.server.close(handles[1])
        #expect(try await second.events.next() == .closed(handles[1]))
        second.close()
        services.crash()
        services = try await Services.notifications(on: daemon)
        let third = Showing(daemon.address, adopting: handles.map { ($0, nil) })
        try await third.ready()
        let new = try await third.show(banner).get()
        third.server.close(handles[0])
        try await services.banner("ActionInvoked", "us", #"[1,"default"]"#)
        #expect(try await third.events.next() == .responded(new, .tap))
        third.close()
    }

    @Test("Errors and nonsense instead of answers: a server that can do the least, and errors with a name")
    func nonsense() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon)
        try await services.override("\(interface).GetCapabilities", #""error":"org.example.Error.No""#)
        try await services.override("\(interface).GetServerInformation", #""signature":"i","args":[7]"#)
        try await services.own(interface)
        let showing = Showing(daemon.address)
        #expect(try await showing.ready() == interface)
        #expect(showing.server.capabilities == [])
        for (answer, code) in [
            (#""error":"org.freedesktop.Notifications.Error.ExcessNotificationGeneration""#, BusError.Code.refused),
            (#""signature":"s","args":["one"]"#, .malformed), (#""signature":"","args":[]"#, .malformed),
            (#""signature":"u","args":[0]"#, .malformed),
            (#""signature":"s","args":["0123456789abcdef"],"repeat":1000000"#, .tooLarge),
        ] {
            try await services.override("\(interface).Notify", answer)
            #expect(await showing.show(banner).error?.code == code)
        }
        try await services.plainly("\(interface).Notify")
        _ = try await showing.show(banner).get()
        #expect(try await notify(services).actions.isEmpty)
        showing.close()
    }

    @Test("A server that never answers: the banner is given up in time, and what comes late is taken away")
    func mute() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services.notifications(on: daemon)
        let showing = Showing(daemon.address)
        try await showing.ready()
        showing.server.answerMilliseconds = 50
        try await services.override("\(interface).Notify", #""signature":"u","args":[77],"delay":400"#)
        #expect(await showing.show(banner).error?.code == .timeout)
        #expect(try await services.call(of: "\(interface).CloseNotification").first as? Int == 77)
        try await services.override("\(interface).Notify", #""silent":true"#)
        #expect(await showing.show(banner).error?.code == .timeout)
        showing.close()
    }

    @Test("A full server: a critical banner takes an ordinary one's place, the others wait for one that ends")
    func full() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services.notifications(on: daemon)
        try await services.set(#""capacity":2"#)
        let showing = Showing(daemon.address)
        try await showing.ready()
        let first = try await showing.show(banner).get()
        let second = try await showing.show(banner).get()
        let results = Mailbox<String>()
        func show(_ title: String, _ urgency: Banner.Urgency, if isWanted: @escaping @EventLoop () -> Bool = { true }) {
            var other = banner
            (other.title, other.urgency) = (title, urgency)
            showing.server.show(other, if: isWanted) { results.put("\(title) \($0.error?.code.name ?? "shown")") }
        }
        let wish = Wish()
        show("withdrawn", .normal) { wish.holds }
        show("waits", .normal)
        show("urgent", .critical)
        #expect(try await results.next() == "urgent shown")
        #expect(try await showing.events.next() == .closed(first))
        wish.holds = false
        // The next one finds what is no longer wanted.
        show("waits, too", .low)
        #expect(try await results.next() == "withdrawn closed")
        try await services.set(#""banners":[3]"#)
        try await services.banner("NotificationClosed", "uu", "[2,1]")
        #expect(try await showing.events.next() == .closed(second))
        #expect(try await results.next() == "waits shown")
        try await services.set(#""capacity":9"#)
        try await services.banner("NotificationClosed", "uu", "[999,1]")
        #expect(try await results.next() == "waits, too shown")
        showing.close()
    }

    @Test("A server that does not say what it can do is none, until it does")
    func muteAtStart() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services(on: daemon)
        try await services.override("\(interface).GetCapabilities", #""silent":true"#)
        try await services.own(interface)
        let showing = Showing(daemon.address)
        showing.server.answerMilliseconds = 200
        showing.server.pauseMilliseconds = 100
        #expect(try await showing.gone().code == .timeout)
        #expect(await showing.show(banner).error?.code == .timeout)
        try await services.plainly("\(interface).GetCapabilities")
        try await showing.ready()
        _ = try await showing.show(banner).get()
        showing.close()
    }

    @Test("Hostile content arrives as harmless text, and a megabyte as a short one")
    func hostile() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services.notifications(on: daemon, capabilities: #"["actions","body-markup"]"#)
        let showing = Showing(daemon.address)
        try await showing.ready()
        _ = try await showing.show(
            Banner(
                id: "\u{0}", title: String(repeating: "<img src=x>", count: 100_000) + "\u{0}",
                subtitle: "\u{202E}sub\nline\u{0}", body: "<img src=\"x\">&#0;\u{0}\u{1B}[2J\r\n'ok'", tapTitle: "Open",
                actions: [Banner.Action(id: "a\u{0}\n]", title: "\u{0}\u{2066}go")], sound: .file("/x\u{0}"),
                imagePath: "/x\u{0}", category: "\u{0}")
        ).get()
        let seen = try await notify(services)
        #expect(seen.title.count == 256 && seen.title.hasPrefix("<img src=x>") && seen.title.hasSuffix("…"))
        #expect(seen.body == "sub line\n&lt;img src=&quot;x&quot;&gt;&amp;#0;[2J\n&apos;ok&apos;")
        #expect(seen.actions == ["default", "Open", "action.a%00%0A%5D", "go"])
        #expect(Set(seen.hints.keys) == ["urgency", "sound-name"])
        showing.close()
    }

    @Test("No server, no bus and no libsystemd are told with their names; a banner fails at once")
    func absence() async throws {
        let daemon = try await PrivateBus()
        for (address, library, code) in [
            (daemon.address, SystemdLibrary.shared, BusError.Code.absent),
            (BusAddress(""), .shared, .noAddress),
            (BusAddress("unix:path=/nonexistent/bus"), SystemdLibrary(named: "libno-such-thing.so.0"), .unavailable),
        ] {
            for id in [nil, "org.example.App"] {
                let showing = Showing(address, id: id, library: library)
                #expect(try await showing.gone().code == code)
                #expect(await showing.show(banner).error?.code == code)
                #expect(showing.server.problem?.code == code && !showing.server.isReady)
                showing.close()
            }
        }
        let showing = Showing(BusAddress("unix:path=/nonexistent/bus"))
        #expect(try await showing.gone().code == .disconnected)
        showing.close()
    }

    @Test("A server that the bus can start is started, for its first banner again after a crash")
    func activated() async throws {
        let daemon = try await PrivateBus()
        let script = Services.script.path
        try await daemon.offer(interface, "/usr/bin/python3 \(script) \(daemon.text) \(interface)")
        let showing = Showing(daemon.address)
        try await showing.ready(within: 20_000)
        _ = try await showing.show(banner).get()
        showing.close()
    }

    @Test("Whether somebody shows banners is known: when the server has said who it is, was started, or is not there")
    func decided() async throws {
        func decide(_ showing: Showing) async -> Bool {
            await withCheckedContinuation { done in
                showing.server.decide { done.resume(returning: showing.server.isReady) }
            }
        }
        let daemon = try await PrivateBus()
        var showing = Showing(daemon.address)
        #expect(await decide(showing) == false)
        #expect(await decide(showing) == false)
        let services = try await Services.notifications(on: daemon)
        try await showing.ready()
        #expect(await decide(showing))
        showing.close()
        showing = Showing(daemon.address)
        #expect(await decide(showing), "right after the start")
        services.crash()
        _ = try await showing.gone()
        let script = Services.script.path
        try await daemon.offer(interface, "/usr/bin/python3 \(script) \(daemon.text) \(interface)")
        var isThere = false
        for _ in 0..<1_000 where !isThere { isThere = await decide(showing) }
        #expect(isThere)
        showing.close()
        #expect(await decide(showing) == false)
        for address in [BusAddress(""), BusAddress("unix:path=/nonexistent/bus")] {
            showing = Showing(address, id: "org.example.App")
            #expect(await decide(showing) == false)
            showing.close()
        }
        // One that is asked while it stops.
        showing = Showing(daemon.address)
        let last = Mailbox<Bool>()
        let server = showing.server
        server.decide { last.put(server.isReady) }
        showing.close()
        #expect(try await last.next() == false)
    }

    @Test("After it was stopped nothing is told, and what is under way still ends once")
    func stopped() async throws {
        let daemon = try await PrivateBus()
        let services = try await Services.notifications(on: daemon)
        let showing = Showing(daemon.address)
        try await showing.ready()
        _ = try await showing.show(banner).get()
        try await services.override("\(interface).Notify", #""silent":true"#)
        let ended = Mailbox<Result<BannerServer.Handle, BusError>>()
        showing.server.show(banner) { ended.put($0) }
        _ = try await services.call(of: "\(interface).Notify")
        showing.server.stop()
        try await services.banner("ActionInvoked", "us", #"[1,"default"]"#)
        showing.bus.close()
        #expect(try await ended.next().error?.code == .closed)
        #expect(showing.events.isEmpty && ended.isEmpty)
    }
}

extension BannerServer {
    /// By the server's present life.
    fileprivate func isLost(_ handle: Handle) -> Bool { handle.isLost(exceptIn: followed.life) }
}
