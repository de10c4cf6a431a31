internal import Glibc

/// Reports to the service manager with the protocol of `sd_notify`, and takes the sockets that it passed.
///
/// Both are a few lines, and libsystemd need not be there: a container may run the relay under a manager outside.
package struct ServiceManager: Sendable {
    /// Empty = there is no service manager.
    private let path: String
    /// How often it wants to hear from us, in milliseconds; `nil` = it doesn't.
    package let watchdog: UInt64?
    /// Listening sockets that were passed, with their names.
    package let sockets: [(name: String, descriptor: CInt)]

    /// Reads the environment, and takes the variables out of it, so that they are not passed on.
    package static func fromEnvironment() -> ServiceManager {
        let sockets = inheritedSockets()
        var watchdog: UInt64?
        if let microseconds = variable("WATCHDOG_USEC").flatMap({ UInt64($0) }), microseconds >= 2_000,
            isForUs("WATCHDOG_PID")
        {
            watchdog = microseconds / 2_000
        }
        let path = variable("NOTIFY_SOCKET") ?? ""
        for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES", "WATCHDOG_USEC", "WATCHDOG_PID", "NOTIFY_SOCKET"] {
            unsetenv(name)
        }
        return ServiceManager(path: path, watchdog: watchdog, sockets: sockets)
    }

    package init(path: String = "", watchdog: UInt64? = nil, sockets: [(name: String, descriptor: CInt)] = []) {
        (self.path, self.watchdog, self.sockets) = (path, watchdog, sockets)
    }

    package func ready(_ status: String) { tell("READY=1\nSTATUS=\(status)") }

    package func reloading() {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        tell("RELOADING=1\nMONOTONIC_USEC=\(Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)")
    }

    /// - Parameter milliseconds: how long it may take; the manager's own limit is extended to that.
    package func stopping(within milliseconds: UInt64) {
        tell("STOPPING=1\nEXTEND_TIMEOUT_USEC=\(milliseconds &* 1_000)")
    }

    package func isAlive() { tell("WATCHDOG=1") }

    /// Best effort, as the protocol has it.
    private func tell(_ text: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(path.utf8)
        guard bytes.first == UInt8(ascii: "/") || bytes.first == UInt8(ascii: "@"),
            bytes.count < MemoryLayout.size(ofValue: address.sun_path)
        else { return }
        // A name without a file.
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let kind = CInt(SOCK_DGRAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, kind, 0)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
        let message = Array(text.utf8)
        _ = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, message, message.count, CInt(MSG_DONTWAIT), $0, length)
            }
        }
    }

    private static func inheritedSockets() -> [(name: String, descriptor: CInt)] {
        guard isForUs("LISTEN_PID", isRequired: true), let count = variable("LISTEN_FDS").flatMap({ CInt($0) }),
            (1...16).contains(count)
        else { return [] }
        let names = variable("LISTEN_FDNAMES")?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        return (0..<count).map { index in
            let name = Int(index) < names.count ? String(names[Int(index)]) : ""
            // The first three are standard input, output and error.
            return (name, 3 + index)
        }
    }

    private static func isForUs(_ name: String, isRequired: Bool = false) -> Bool {
        guard let value = variable(name) else { return !isRequired }
        return pid_t(value) == getpid()
    }

    private static func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
}
