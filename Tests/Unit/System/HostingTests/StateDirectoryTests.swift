import Foundation
import Testing

import Identity
import JSON

@testable import Hosting

@Suite struct StateDirectoryTests {
    private let root = FileManager.default.temporaryDirectory.appendingPathComponent("bw-\(UUID().uuidString)")

    private func path(_ name: String) -> String { root.appendingPathComponent(name).path }

    @Test("a directory is made with its parents, for its owner alone")
    func make() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let directory = try StateDirectory.open(path("a/b"))
        let mode = try FileManager.default.attributesOfItem(atPath: path("a/b"))[.posixPermissions] as? Int
        #expect(mode == 0o700)
        #expect(directory.file("key")?.hasSuffix("/a/b/key") == true)
    }

    @Test("a directory that others may write into is refused, and it says what to do; a sticky one is not")
    func writable() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        for (mode, isTaken) in [(0o700, true), (0o755, true), (0o770, false), (0o702, false), (0o1777, true)] {
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: root.path)
            do throws(HostError) {
                _ = try StateDirectory.open(root.path)
                #expect(isTaken)
            } catch {
                #expect(!isTaken && error.code == .denied)
                #expect(error.message.contains("chmod go-w"))
            }
        }
    }

    @Test("root makes no directory in another user's, who could not use it", .enabled(if: geteuid() == 0))
    func otherUsers() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        try #require(chown(root.path, 1_234, 1_234) == 0)
        let error = try #require(throws: HostError.self) { _ = try StateDirectory.open(path("state/bellwire")) }
        #expect(error.code == .denied && error.message.contains(root.path))
        #expect(try FileManager.default.contentsOfDirectory(atPath: root.path).isEmpty)
        try #require(chown(root.path, 0, 0) == 0)
        _ = try StateDirectory.open(path("state/bellwire"))
    }

    @Test("one handle at a time, also by another name; the next one when the first is gone")
    func exclusive() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        var first: StateDirectory? = try StateDirectory.open(path("s"))
        #expect(first != nil)
        let error = try #require(throws: HostError.self) { _ = try StateDirectory.open(path("s/../s/.")) }
        #expect(error.code == .busy)
        first = nil
        _ = try StateDirectory.open(path("s"))
    }

    @Test("a directory whose path is not UTF-8 is one place, however it is reached")
    func bytes() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        let place = Array(path("gr").utf8) + [0xF6] + Array("\u{df}e/ä".utf8)
        let text = try #require(BytePath.text(place, makes: true))
        let first = try StateDirectory.open(text)
        let file = try #require(first.file("key"))
        #expect(FileManager.default.createFile(atPath: file, contents: Data([1])))
        var status = stat()
        #expect(stat((place + Array("/key".utf8)).map { CChar(bitPattern: $0) } + [0], &status) == 0)
        #expect(try #require(throws: HostError.self) { _ = try StateDirectory.open(text + "/.") }.code == .busy)
        #expect(first.name?.contains("gr%f6") == true, "a keyring finds the key again")
        // Another directory whose path looks the same.
        let other = Array(path("gr").utf8) + [0xE4] + Array("\u{df}e/ä".utf8)
        _ = try StateDirectory.open(try #require(BytePath.text(other, makes: true)))
        #expect(BytePath.text(Array(path("missing").utf8) + [0xFF]) == nil)
        #expect(BytePath.text(Array("plain/ä".utf8)) == "plain/ä")
    }

    /// Another process that locks so many bytes of the lock file, 0 = all, until its input is closed.
    private func hold() throws -> (holder: Process, input: Pipe) {
        let holder = Process()
        holder.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        holder.arguments = [
            "python3", "-c",
            """
            import fcntl, sys
            file = open(sys.argv[1], "r+")
            fcntl.lockf(file, fcntl.LOCK_EX)
            print("held", flush=True)
            sys.stdin.read()
            """,
            path("s/lock"),
        ]
        let (input, output) = (Pipe(), Pipe())
        holder.standardInput = input
        holder.standardOutput = output
        try holder.run()
        _ = output.fileHandleForReading.availableData
        return (holder, input)
    }

    @Test("another process that has it is told apart")
    func otherProcess() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        _ = try StateDirectory.open(path("s"))  // makes the lock file, and lets it go
        let (holder, input) = try hold()
        let error = try #require(throws: HostError.self) { _ = try StateDirectory.open(path("s")) }
        #expect(error.code == .busy && error.detail["path"] == .string(path("s")))
        #expect(try StateDirectory.openIfFree(path("s")) == nil)
        try input.fileHandleForWriting.close()
        holder.waitUntilExit()
        _ = try StateDirectory.open(path("s"))
    }

    @Test("a place that cannot be is named: a file, an empty text, a parent that is a file")
    func impossible() throws {
        defer { try? FileManager.default.removeItem(at: root) }
        try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
        try Data().write(to: URL(fileURLWithPath: path("file")))
        let file = try #require(throws: HostError.self) { _ = try StateDirectory.open(path("file")) }
        #expect(file.code == .io)
        #expect(file.detail["path"] != nil)
        let below = try #require(throws: HostError.self) { _ = try StateDirectory.open(path("file/below")) }
        #expect(below.code == .io)
        let empty = try #require(throws: HostError.self) { _ = try StateDirectory.open("") }
        #expect(empty.code == .invalid)
    }
}
