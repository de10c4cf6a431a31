import Foundation
import TestSupport
import Testing
import Transport

@testable import SystemServices

/// dunst on a screen of its own, where it is installed.
@EventLoop
struct RealDunst {
    nonisolated static let programs = [
        "/usr/bin/dunst", "/usr/bin/Xvfb", "/usr/bin/xdotool", "/usr/bin/import", "/usr/bin/convert",
    ]
    nonisolated static var isAllowed: Bool { programs.allSatisfy { FileManager.default.isExecutableFile(atPath: $0) } }

    let bus: PrivateBus
    let program: Program

    init(on bus: PrivateBus) async throws {
        self.bus = bus
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "Mocks/dunst.sh")
        program = try Program("/usr/bin/env", ["bash", script.path, bus.text, bus.directory.path])
        _ = try await program.lines.next(within: 20_000) { $0 == "running" }
    }

    func tell(_ command: String) async throws {
        program.write(command)
        let answer = try await program.lines.next(within: 20_000) { $0 == "done" || $0 == "failed" }
        try #require(answer == "done", "\(command)")
    }

    /// The colours of the screen, each with its number of pixels, by its six digits.
    func colours(keeping name: String? = nil) async throws -> [String: Int] {
        let picture = bus.directory.appendingPathComponent("screen.png").path
        try await tell("shot \(picture)")
        if let name, let kept = ProcessInfo.processInfo.environment["BELLWIRE_SCREENSHOTS"] {
            try? FileManager.default.removeItem(atPath: "\(kept)/\(name).png")
            try FileManager.default.copyItem(atPath: picture, toPath: "\(kept)/\(name).png")
        }
        let counting = try Program(
            "/usr/bin/convert", [picture, "-depth", "8", "-format", "%c\nend", "histogram:info:-"])
        var colours: [String: Int] = [:]
        while true {
            let line = try await counting.lines.next(within: 20_000)
            // 307200: (0,0,0) #000000 black
            guard let hash = line.range(of: "#"), let colon = line.firstIndex(of: ":"),
                let count = Int(line[..<colon].trimmingCharacters(in: .whitespaces))
            else { break }
            colours[String(line[hash.upperBound...].prefix(6)), default: 0] += count
        }
        return colours
    }

    /// Waits until the screen is so.
    func until(_ name: String? = nil, _ isSo: ([String: Int]) -> Bool) async throws -> [String: Int] {
        var colours: [String: Int] = [:]
        for _ in 0..<40 {
            colours = try await self.colours(keeping: name)
            if isSo(colours) { return colours }
        }
        return try #require(nil as [String: Int]?, "the screen has \(colours.sorted { $0.value > $1.value }.prefix(5))")
    }
}

@Suite("Banners, on a real screen with a real dunst")
@EventLoop
struct RealDunstTests {
    static let background = "204060"
    static let critical = "802020"
    static let text = "FFFFFF"
    static let image = "FF00FF"

    @Test(
        "A banner is seen with its image and hostile text as letters, replaced, tapped, dismissed and closed",
        .enabled(if: RealDunst.isAllowed, "takes dunst, Xvfb, xdotool and ImageMagick"))
    func seen() async throws {
        let daemon = try await PrivateBus()
        let dunst = try await RealDunst(on: daemon)
        let showing = Showing(daemon.address)
        #expect(try await showing.ready(within: 20_000) == "dunst")
        let capabilities = showing.server.capabilities
        #expect(capabilities.contains("actions") && capabilities.contains("body-markup"))
        #expect(try await dunst.colours()[Self.background] == nil)

        // An image of one colour, under a name that wants to be quoted.
        let image = daemon.directory.appendingPathComponent("an image%.png").path
        let painting = try Program(
            "/usr/bin/convert", ["-size", "48x48", "xc:#\(Self.image)", "-format", "done\n", "-write", image, "info:-"])
        _ = try await painting.lines.next(within: 20_000)
        var banner = Banner(
            id: "1", title: "<i>Title</i> & \u{202E}co\u{0}", subtitle: "Subtitle",
            body: "<img src=\"/etc/passwd\"><b>bold?</b> &amp; <a href=\"x\">link</a>\nsecond line \u{1B}[31m 'ü' 😀",
            tapTitle: "Open", actions: [Banner.Action(id: "READ", title: "Mark as read")],
            reply: Banner.Reply(id: "REPLY", title: "Reply"), imagePath: image)
        let first = try await showing.show(banner).get()
        let hostile = try await dunst.until("hostile") {
            $0[Self.background, default: 0] > 10_000 && $0[Self.image, default: 0] > 1_000
        }
        let letters = hostile[Self.text, default: 0]
        #expect(letters > 400, "letters are seen")

        // The same place, other text: still one banner, with fewer letters.
        banner.body = "short"
        banner.subtitle = nil
        banner.title = "T"
        #expect(try await showing.show(banner, replacing: first).get() == first)
        _ = try await dunst.until("replaced") {
            $0[Self.background] != nil && $0[Self.text, default: 0] < letters / 2
        }
        try await dunst.tell("click 300 40 1")
        #expect(try await showing.events.next() == .responded(first, .tap))
        _ = try await dunst.until { $0[Self.background] == nil }

        let second = try await showing.show(banner).get()
        _ = try await dunst.until { $0[Self.background] != nil }
        try await dunst.tell("click 300 40 2")
        #expect(try await showing.events.next() == .responded(second, .dismiss))

        banner.urgency = .critical
        let third = try await showing.show(banner).get()
        _ = try await dunst.until { $0[Self.critical] != nil }
        showing.server.close(third)
        #expect(try await showing.events.next() == .closed(third))
        _ = try await dunst.until { $0[Self.critical] == nil }
        #expect(showing.events.isEmpty)
        showing.close()
    }
}
