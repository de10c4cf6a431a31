import CLinux
import Glibc

/// The Unix socket of a running desktop, in its state directory.
enum ControlAddress {
    static let name = "desktop.sock"

    /// Calls `body` with an address of the socket, however long the directory's path is.
    ///
    /// - Returns: what `body` returns, or -1 with `errno`.
    static func with(
        _ directory: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        let folder = open(directory, O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else { return -1 }
        defer { close(folder) }
        // A socket's path has at most 107 bytes.
        let path = Array("/proc/self/fd/\(folder)/\(name)".utf8)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Whether the other end is a process of the same user.
    static func isOfSameUser(_ descriptor: Int32) -> Bool { linux_peer_is_same_user(descriptor) }
}
