import CArguments
import Glibc
import SystemServices

/// Checks of the machine that need no connection: clock, variables for proxies, ports.
enum MachineChecks {
    // MARK: The clock

    /// - Parameter latest: the latest moment that is stored, in milliseconds since 1970.
    static func clock(latest: Int64?) -> Finding {
        let now = WallClock.milliseconds
        if let latest, latest > now &+ 300_000 {
            return .fail(
                "clock",
                "the clock is behind: it says \(Clock.text(ofEpochMilliseconds: now)), but a message came at "
                    + Clock.text(ofEpochMilliseconds: latest),
                "Set the clock: timedatectl set-ntp true")
        }
        switch bw_clock_is_kept() {
        case 1: return .ok("clock", "synchronised")
        case 0:
            return .warn(
                "clock", "not synchronised with a time server",
                "Codes and certificates need the right time. Run: timedatectl set-ntp true")
        default: return .ok("clock", "whether it is synchronised is unknown")
        }
    }

    // MARK: Proxies

    static func proxies() -> Finding {
        let names = ["http_proxy", "https_proxy", "all_proxy"]
        let isSet = (names + names.map { $0.uppercased() }).filter { getenv($0).map { $0.pointee != 0 } ?? false }
        guard !isSet.isEmpty else { return .ok("proxy", "no proxy is set in the environment") }
        return .warn(
            "proxy", "Bellwire does not use the proxy in \(isSet.joined(separator: ", "))",
            "Relays are connected to directly. If this network allows that only to the proxy, use a relay inside it.")
    }

    // MARK: Ports

    /// Whether the port of a desktop's own relay is free, or the running desktop's.
    ///
    /// - Parameters:
    ///   - address: host and port.
    ///   - own: the port of the relay that runs on this machine's desktop.
    static func port(_ address: String, own: Int64?) -> Finding {
        guard let (host, port) = address.hostAndPort else {
            return .fail("port", "--relay: \"\(address)\" is not HOST:PORT", "Pass an address such as 127.0.0.1:9001.")
        }
        if let own, own == Int64(port) { return .ok("port", "\(port) is the running desktop's") }
        if port == 0 { return .ok("port", "any free port") }
        let advice = "ss -ltnp shows the program. Stop it, or pass another address: bellwire desktop --relay HOST:PORT"
        switch bind(host, port) {
        case 0: return .ok("port", "\(address) is free for bellwire desktop")
        case EADDRINUSE:
            return .warn("port", "\(address) is used by another program, so bellwire desktop cannot use it", advice)
        case EADDRNOTAVAIL:
            let own = InterfaceAddresses.reachableIPv4().joined(separator: ", ")
            return .fail(
                "port", "\(host) is not an address of this machine",
                own.isEmpty ? "This machine has no network address." : "Its addresses are \(own).")
        case EACCES: return .fail("port", "only root can use port \(port)", "Use a port above 1023.")
        case let code: return .fail("port", "cannot use \(address): \(String(cString: strerror(code)))", advice)
        }
    }

    /// `errno` of a socket that is bound there, and closed again before anything could connect; 0 = it can be.
    private static func bind(_ host: String, _ port: UInt16) -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, "\(port)", &hints, &list) == 0, let found = list?.pointee else { return EADDRNOTAVAIL }
        defer { freeaddrinfo(list) }
        let descriptor = socket(found.ai_family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        // As the relay listens: connections that have just ended are not in the way.
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        // Linux finds a listener on the same address in listen(), where both have that option.
        guard Glibc.bind(descriptor, found.ai_addr, found.ai_addrlen) == 0, listen(descriptor, 1) == 0 else {
            return errno
        }
        return 0
    }
}
