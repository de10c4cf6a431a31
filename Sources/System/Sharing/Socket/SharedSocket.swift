import CLinux
import Glibc
package import Hosting
import JSON

/// The Unix socket in a state directory over which guests reach their holder.
///
/// Only its owner may connect (0600), and both sides compare the other's user with their own: in a directory that others
/// may write to, such as one with the sticky bit, the socket might be somebody else's.
package struct SharedSocket: Sendable {
    package static let name = "holder.sock"
    /// Connections that wait to be accepted.
    private static let backlog: CInt = 512

    private let directory: String

    package init(in directory: String) { self.directory = directory }

    /// Listens; a socket of an earlier holder is replaced. Only for who has the directory's lock.
    ///
    /// Errors: `io` where the directory can't have a socket, with `"reason":"no_socket"`.
    package func listen() throws(HostError) -> CInt {
        let place = try Place(directory)
        defer { place.close() }
        let descriptor = try SharedSocket.make()
        if unlink("\(directory)/\(Self.name)") != 0, errno != ENOENT { throw failure("replace", descriptor) }
        var address = place.address
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        // Nobody gets further than to connect before `listen`.
        guard result == 0, chmod("\(directory)/\(Self.name)", 0o600) == 0,
            Glibc.listen(descriptor, Self.backlog) == 0
        else { throw failure("listen on", descriptor) }
        return descriptor
    }

    /// Connects to the holder. `nil` = there is none at the moment.
    ///
    /// Errors: `denied` when the socket is another user's, `io`.
    package func connect() throws(HostError) -> CInt? {
        var status = stat()
        guard lstat("\(directory)/\(Self.name)", &status) == 0 else {
            if errno == ENOENT { return nil }
            throw failure("find", -1)
        }
        guard status.st_uid == geteuid() else { throw foreign }
        let place = try Place(directory)
        defer { place.close() }
        let descriptor = try SharedSocket.make()
        var address = place.address
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            if [ENOENT, ECONNREFUSED, EAGAIN, ENOTSOCK, EPROTOTYPE, EINTR].contains(errno) {
                Glibc.close(descriptor)
                return nil
            }
            throw failure("connect to", descriptor)
        }
        guard SharedSocket.isOwn(descriptor) else {
            Glibc.close(descriptor)
            throw foreign
        }
        return descriptor
    }

    /// Whether the process at the other end is of this process's user.
    package static func isOwn(_ descriptor: CInt) -> Bool { linux_peer_is_same_user(descriptor) }

    private static func make() throws(HostError) -> CInt {
        let kind = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue) | CInt(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else {
            throw HostError(.limit, "cannot create a socket: \(String(cString: strerror(errno)))")
        }
        return descriptor
    }

    private var foreign: HostError {
        HostError(
            .denied,
            "\(directory)/\(Self.name) belongs to another user; remove it, or use another \"state_dir\"",
            detail: ["path": .string("\(directory)/\(Self.name)"), "reason": "socket_owner"])
    }

    private func failure(_ verb: String, _ descriptor: CInt) -> HostError {
        let reason = String(cString: strerror(errno))
        if descriptor >= 0 { Glibc.close(descriptor) }
        return HostError(
            .io, "cannot \(verb) \(directory)/\(Self.name): \(reason)",
            detail: ["path": .string("\(directory)/\(Self.name)"), "reason": "no_socket"])
    }

    /// The socket's address. A path that is too long for one is reached through the directory's descriptor.
    private struct Place {
        var address = sockaddr_un()
        private var descriptor: CInt = -1

        init(_ directory: String) throws(HostError) {
            address.sun_family = sa_family_t(AF_UNIX)
            let room = MemoryLayout.size(ofValue: address.sun_path)
            var path = "\(directory)/\(SharedSocket.name)"
            if path.utf8.count >= room {
                descriptor = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                guard descriptor >= 0 else {
                    throw HostError(
                        .io, "cannot open \(directory): \(String(cString: strerror(errno)))",
                        detail: ["path": .string(directory)])
                }
                path = "/proc/self/fd/\(descriptor)/\(SharedSocket.name)"
            }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        }

        func close() { if descriptor >= 0 { Glibc.close(descriptor) } }
    }
}
