import CUV
import Glibc
import Synchronization

/// Addresses of a host name.
///
/// The system's lookup blocks, as long as its configuration allows, so each one runs on its own thread, which then
/// ends. Numeric addresses and `localhost` (RFC 6761) need no thread.
enum Resolver {
    typealias Answer = Result<[SocketAddress], TransportError>

    /// Look-ups that hang: more are refused until some come back.
    private static let maximumUnderWay = 16
    private static let underWay = Atomic<Int>(0)

    /// Known without asking anybody.
    static func known(_ host: String, port: UInt16) -> [SocketAddress]? {
        if let address = SocketAddress(numeric: host, port: port) { return [address] }
        let name = host.hasSuffix(".") ? String(host.dropLast()) : host
        guard name == "localhost" || name.hasSuffix(".localhost") else { return nil }
        return ["::1", "127.0.0.1"].compactMap { SocketAddress(numeric: $0, port: port) }
    }

    /// Asks the system. `then` comes on the loop, unless there is no thread to ask with.
    static func ask(_ host: String, port: UInt16, then: @escaping @Sendable @EventLoop (Answer) -> Void) {
        guard underWay.add(1, ordering: .relaxed).newValue <= maximumUnderWay else {
            underWay.subtract(1, ordering: .relaxed)
            let error = TransportError(.resolveFailed, "too many host names are being looked up; try again later")
            return EventLoop.post { then(.failure(error)) }
        }
        let result = startThread(named: "bellwire-dns") {
            let answer = lookUp(host, port)
            underWay.subtract(1, ordering: .relaxed)
            EventLoop.post { then(answer) }
        }
        guard result != 0 else { return }
        underWay.subtract(1, ordering: .relaxed)
        let error = TransportError(uv: -result, .resolveFailed, "cannot start a thread to look up \(host)")
        EventLoop.post { then(.failure(error)) }
    }

    private static func lookUp(_ host: String, _ port: UInt16) -> Answer {
        var hints = addrinfo()
        hints.ai_family = AF_UNSPEC
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, nil, &hints, &list)
        guard result == 0 else {
            let reason = gai_strerror(result).map { String(cString: $0) } ?? "error \(result)"
            return .failure(TransportError(.resolveFailed, "the host name \(host) has no address: \(reason)"))
        }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let entry = next, addresses.count < 32 {
            next = entry.pointee.ai_next
            guard let pointer = entry.pointee.ai_addr,
                var address = SocketAddress(pointer, length: Int(entry.pointee.ai_addrlen))
            else { continue }
            address.port = port
            addresses.append(address)
        }
        guard !addresses.isEmpty else {
            return .failure(TransportError(.resolveFailed, "the host name \(host) has no IPv4 or IPv6 address"))
        }
        return .success(addresses)
    }
}
