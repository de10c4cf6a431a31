import Foundation
import TestSupport
import Testing

/// A network that a test can change, in a namespace of its own, with a route socket of it.
final class Namespace {
    /// Whether this machine allows them. Where it does not, tests that need one are skipped.
    static let isAllowed: Bool = {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/unshare")
        process.arguments = ["-rn", "/bin/true"]
        process.standardError = FileHandle.nullDevice
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()

    private let program: Program
    private let directory: URL
    /// Its owner closes it.
    let routeSocket: CInt

    init() async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("bellwire-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let path = "\(directory.path)/given"
        let listener = try MuteListener(path)
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .appendingPathComponent("Mocks/namespace.py")
        program = try Program("/usr/bin/unshare", ["-rn", "/usr/bin/python3", script.path, path])
        _ = try await program.lines.next { $0 == "given" }
        routeSocket = try #require(listener.takeDescriptor())
    }

    /// Runs an `ip` command inside.
    func ip(_ command: String) async throws {
        program.write(command)
        let answer = try await program.lines.next { $0 == "done" || $0 == "failed" }
        try #require(answer == "done", "ip \(command)")
    }

    deinit { try? FileManager.default.removeItem(at: directory) }
}

extension MuteListener {
    /// The descriptor that somebody has sent already.
    func takeDescriptor() -> CInt? {
        let connection = accept(descriptor, nil, nil)
        guard connection >= 0 else { return nil }
        defer { close(connection) }
        var byte: UInt8 = 0
        var control = [UInt8](repeating: 0, count: 64)
        return withUnsafeMutableBytes(of: &byte) { byte in
            control.withUnsafeMutableBytes { control in
                var piece = iovec(iov_base: byte.baseAddress, iov_len: 1)
                return withUnsafeMutablePointer(to: &piece) { piece in
                    var message = msghdr()
                    message.msg_iov = piece
                    message.msg_iovlen = 1
                    message.msg_control = control.baseAddress
                    message.msg_controllen = control.count
                    // A header of 16 bytes, then the descriptor.
                    guard recvmsg(connection, &message, 0) == 1, message.msg_controllen >= 20 else { return nil }
                    return control.load(fromByteOffset: 16, as: CInt.self)
                }
            }
        }
    }
}
