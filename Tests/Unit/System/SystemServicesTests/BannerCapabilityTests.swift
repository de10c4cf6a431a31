import Foundation
import TestSupport
import Testing
import Transport

@testable import SystemServices

/// python-dbusmock's notification server, with the capabilities that a test wants.
final class MockServer {
    private let program: Program

    init(on bus: PrivateBus, capabilities: String) throws {
        program = try Program(
            "/usr/bin/env",
            [
                "DBUS_SESSION_BUS_ADDRESS=\(bus.text)", "/usr/bin/python3", "-m", "dbusmock", "--session", "--template",
                "notification_daemon", "--parameters", #"{"capabilities":"\#(capabilities)"}"#,
            ])
    }

    /// What it writes of the next call of a method.
    func call(of method: String) async throws -> String {
        try await program.lines.next { $0.contains(" \(method) ") }
    }

    func end() { program.end() }
}

@Suite("Banners, with python-dbusmock's notification server")
@EventLoop
struct BannerCapabilityTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let capabilities: String
        /// What is in the call, and what is not.
        let with: [String]
        let without: [String]

        var testDescription: String { capabilities.isEmpty ? "none" : capabilities }
    }

    nonisolated static let cases = [
        Case(
            capabilities: "", with: [#""a <i>b</i> & c""#, "[]"],
            without: ["default", "x-kde", "&lt;"]),
        Case(
            capabilities: "body actions",
            with: [#"["default", "Open", "action.READ", "Read", "action.REPLY", "Reply"]"#],
            without: ["inline-reply", "&lt;"]),
        Case(
            capabilities: "body body-markup", with: [#"a &lt;i&gt;b&lt;/i&gt; &amp; c"#, "[]"],
            without: ["<i>", "default"]),
        Case(
            capabilities: "actions inline-reply",
            with: [#""inline-reply", "Reply"]"#, #""x-kde-reply-placeholder-text": "Say""#], without: ["action.REPLY"]),
        Case(
            capabilities: "body icon-static body-images sound persistence",
            // Its version is 1.1, whose names have low lines.
            with: [#""image_path": "file:///tmp/an%20image.png""#, #""sound-file": "/tmp/a.oga""#],
            without: ["image-path"]),
    ]

    @Test("Each server gets what it can show, and nothing that it cannot", arguments: cases)
    func capabilities(of wanted: Case) async throws {
        let daemon = try await PrivateBus()
        let mock = try MockServer(on: daemon, capabilities: wanted.capabilities)
        let showing = Showing(daemon.address, id: "org.example.App")
        #expect(try await showing.ready() == "mock-notify")
        #expect(showing.server.capabilities.joined(separator: " ") == wanted.capabilities)
        let banner = Banner(
            id: "1", title: "T", body: "a <i>b</i> & c", tapTitle: "Open",
            actions: [Banner.Action(id: "READ", title: "Read")],
            reply: Banner.Reply(id: "REPLY", title: "Reply", placeholder: "Say"), urgency: .critical,
            sound: .file("/tmp/a.oga"), imagePath: "/tmp/an image.png", category: "im.received")
        let handle = try await showing.show(banner).get()
        let call = try await mock.call(of: "Notify")
        for text in wanted.with + [#""T""#, #""urgency": 2"#, #""desktop-entry": "org.example.App""#, "im.received"] {
            #expect(call.contains(text), "\(text) is not in \(call)")
        }
        for text in wanted.without { #expect(!call.contains(text), "\(text) is in \(call)") }
        // Shown again in the same place, and taken away.
        #expect(try await showing.show(banner, replacing: handle).get() == handle)
        _ = try await mock.call(of: "Notify")
        showing.server.close(handle)
        #expect(try await mock.call(of: "CloseNotification").hasSuffix(" 1"))
        #expect(try await showing.events.next() == .closed(handle))
        mock.end()
        #expect(try await showing.gone().code == .absent)
        showing.close()
    }
}
