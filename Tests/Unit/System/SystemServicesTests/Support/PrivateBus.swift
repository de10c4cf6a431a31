import Foundation
import SystemServices
import TestSupport
import Testing

/// A D-Bus daemon of the test's own. It can be ended and started again under the same address.
final class PrivateBus {
    let directory: URL
    private var daemon: Program?

    var text: String { "unix:path=\(directory.path)/bus" }
    var address: BusAddress { BusAddress(text) }

    init() async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("bellwire-bus-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        try FileManager.default.createDirectory(
            at: directory.appendingPathComponent("services"), withIntermediateDirectories: true)
        let configuration = """
            <!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
              "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
            <busconfig><type>session</type><listen>\(text)</listen><auth>EXTERNAL</auth>
              <servicedir>\(directory.path)/services</servicedir>
              <policy context="default"><allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/>
              <allow own="*"/></policy></busconfig>
            """
        try configuration.write(to: directory.appendingPathComponent("bus.conf"), atomically: true, encoding: .utf8)
        try await start()
    }

    /// Starts the daemon, and waits until it listens.
    func start() async throws {
        let daemon = try Program(
            "/usr/bin/dbus-daemon",
            ["--config-file=\(directory.path)/bus.conf", "--nofork", "--nopidfile", "--print-address"])
        _ = try await daemon.lines.next()
        self.daemon = daemon
    }

    /// The daemon starts this program when the name is wanted, from the return of this call on.
    func offer(_ name: String, _ command: String) async throws {
        try "[D-BUS Service]\nName=\(name)\nExec=\(command)\n".write(
            to: directory.appendingPathComponent("services/\(name).service"), atomically: true, encoding: .utf8)
        // Not by SIGHUP: a daemon that has just said its address may still end by it, and nothing says when it has read
        // its directories.
        let reload = try Program(
            "/usr/bin/dbus-send",
            [
                "--bus=\(text)", "--print-reply", "--dest=org.freedesktop.DBus", "/org/freedesktop/DBus",
                "org.freedesktop.DBus.ReloadConfig",
            ])
        _ = try await reload.lines.next()
    }

    func stop() {
        daemon?.end()
        daemon = nil
        try? FileManager.default.removeItem(at: directory.appendingPathComponent("bus"))
    }

    deinit {
        daemon?.end()
        try? FileManager.default.removeItem(at: directory)
    }
}

/// Services that the test plays on a private bus: see `Mocks/services.py`.
final class Services {
    static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Mocks/services.py")

    private let program: Program
    /// The unique name of the one who plays.
    let uniqueName: String

    init(on bus: PrivateBus, owning name: String? = nil) async throws {
        program = try Program("/usr/bin/python3", [Self.script.path, bus.text])
        let ready = try await program.lines.next { $0.contains("\"ready\"") }
        uniqueName = try #require(Self.object(ready)["ready"] as? String)
        if let name { try await own(name) }
    }

    /// Sends a command, a JSON object, and waits until it is obeyed.
    func tell(_ command: String, until answer: String) async throws {
        program.write(command)
        _ = try await program.lines.next { $0.contains("{\"\(answer)\"") }
    }

    func own(_ name: String) async throws {
        try await tell(#"{"do":"own","name":"\#(name)"}"#, until: "owns")
    }

    func release(_ name: String) async throws {
        try await tell(#"{"do":"release","name":"\#(name)"}"#, until: "released")
    }

    /// The method answers this from now on: `"signature":…,"args":…`, `"error":…` or `"silent":true`.
    func override(_ method: String, _ answer: String) async throws {
        try await tell(#"{"do":"override","method":"\#(method)",\#(answer)}"#, until: "overridden")
    }

    /// Ends an override.
    func plainly(_ method: String) async throws {
        try await tell(#"{"do":"plainly","method":"\#(method)"}"#, until: "plain")
    }

    func set(_ values: String) async throws {
        try await tell("{\"do\":\"set\",\(values)}", until: "set")
    }

    func signal(_ path: String, _ interface: String, _ member: String, _ rest: String) async throws {
        try await tell(
            #"{"do":"signal","path":"\#(path)","interface":"\#(interface)","member":"\#(member)",\#(rest)}"#,
            until: "signalled")
    }

    /// The arguments of the next call of a method.
    @discardableResult
    func call(of method: String, within limit: UInt64 = 10_000) async throws -> [Any] {
        let line = try await program.lines.next(within: limit) { $0.contains("\"call\": \"\(method)\"") }
        return try #require(Self.object(line)["args"] as? [Any])
    }

    func line(_ text: String, within limit: UInt64 = 10_000) async throws {
        _ = try await program.lines.next(within: limit) { $0.contains(text) }
    }

    func write(_ command: String) { program.write(command) }

    /// Ends it as a crash would.
    func crash() { program.end(with: SIGKILL) }

    private static func object(_ line: String) throws -> [String: Any] {
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    }
}
