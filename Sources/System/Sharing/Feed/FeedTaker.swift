import CLinux
import Glibc
import Identity

/// By which names a program takes the stored events of a shared role.
package struct FeedTaker: Sendable, Equatable {
    /// The program's name: it is known by it for long, and what it has missed waits for it.
    package let application: String
    /// For a program without a name of its own: by what this copy of it takes while another copy takes by the name. It is
    /// forgotten when the copy ends.
    package let copy: String?

    /// - Parameter copy: a name that ``isCopy(_:)``; another one counts as `nil`.
    package init(_ application: String, copy: String?) {
        self.application = application
        self.copy = copy.flatMap { Self.isCopy($0) && $0.utf8.count <= 255 ? $0 : nil }
    }

    /// Its names, the preferred one first.
    package var names: [String] { [application] + (copy.map { [$0] } ?? []) }

    package func name(asCopy: Bool) -> String { asCopy ? copy ?? application : application }

    /// Whether it is the name of a copy: neither a file name nor an application id contains a slash.
    package static func isCopy(_ name: String) -> Bool { name.contains("/") }

    /// A program that has no name of its own.
    ///
    /// - Parameter path: of what the executable runs; `nil` = the executable is the program.
    package static func ofProgram(_ path: String?) -> FeedTaker {
        let name = path.flatMap(scriptName) ?? executableName()
        return FeedTaker(name, copy: "\(name)/\(String(UInt64.random(in: 0...UInt64.max), radix: 36))")
    }

    /// A name has no slash, and at most 255 bytes: a path becomes one, and its end tells more. Where that leaves something
    /// out, or might be another path's name, the name begins with a hash of the path.
    private static func scriptName(_ path: String) -> String? {
        let name = path.split(separator: "/").joined(separator: ":")
        guard !name.isEmpty else { return nil }
        guard path.utf8.contains(UInt8(ascii: ":")) || name.utf8.count > 200 else { return name }
        let hash = TextEncoding.hex.encode(Array(ContentHash.short(Array(path.utf8)).prefix(8)))
        return "\(hash):\(String(decoding: name.utf8.suffix(200), as: UTF8.self))"
    }

    /// The file name of the running program.
    private static func executableName() -> String {
        var buffer = [CChar](repeating: 0, count: 4_096)
        let count = readlink("/proc/self/exe", &buffer, buffer.count - 1)
        // Where /proc is not mounted: as it was called.
        let path =
            count > 0
            ? String(decoding: buffer.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            : String(cString: linux_program_name())
        let name = path.split(separator: "/").last.map(String.init) ?? "program"
        return String(name.prefix(128))
    }
}
