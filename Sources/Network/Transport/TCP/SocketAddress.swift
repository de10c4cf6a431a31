import CUV
import Glibc

/// A numeric IPv4 or IPv6 address with a port.
struct SocketAddress: Sendable {
    private var storage = sockaddr_storage()

    /// `nil` unless `host` is a numeric address.
    init?(numeric host: String, port: UInt16) {
        let isIPv6 = host.contains(":")
        let result = withUnsafeMutableBytes(of: &storage) { storage -> CInt in
            guard let base = storage.baseAddress else { return UV_EINVAL.rawValue }
            return isIPv6
                ? uv_ip6_addr(host, CInt(port), base.assumingMemoryBound(to: sockaddr_in6.self))
                : uv_ip4_addr(host, CInt(port), base.assumingMemoryBound(to: sockaddr_in.self))
        }
        guard result == 0 else { return nil }
    }

    /// Copies what a system call filled in; `nil` for other families than IP.
    init?(_ address: UnsafePointer<sockaddr>, length: Int) {
        switch CInt(address.pointee.sa_family) {
        case AF_INET where length >= MemoryLayout<sockaddr_in>.size: break
        case AF_INET6 where length >= MemoryLayout<sockaddr_in6>.size: break
        default: return nil
        }
        withUnsafeMutableBytes(of: &storage) { storage in
            let source = UnsafeRawBufferPointer(start: address, count: min(length, storage.count))
            storage.copyMemory(from: source)
        }
    }

    var isIPv6: Bool { CInt(storage.ss_family) == AF_INET6 }

    var length: socklen_t {
        socklen_t(isIPv6 ? MemoryLayout<sockaddr_in6>.size : MemoryLayout<sockaddr_in>.size)
    }

    var port: UInt16 {
        get {
            UInt16(
                bigEndian: withUnsafeBytes(of: storage) { $0.load(fromByteOffset: Self.portOffset, as: UInt16.self) })
        }
        set {
            withUnsafeMutableBytes(of: &storage) {
                $0.storeBytes(of: newValue.bigEndian, toByteOffset: Self.portOffset, as: UInt16.self)
            }
        }
    }

    /// The same in both families.
    private static let portOffset = 2

    func withPointer<T>(_ body: (UnsafePointer<sockaddr>) throws -> T) rethrows -> T {
        var copy = storage
        return try withUnsafePointer(to: &copy) {
            try $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }

    /// The address alone: four or sixteen bytes, as they stand on the wire.
    var bytes: [UInt8] {
        withUnsafeBytes(of: storage) { Array($0[isIPv6 ? 8..<24 : 4..<8]) }
    }

    var peer: PeerAddress {
        var text = [CChar](repeating: 0, count: 64)
        withPointer { _ = uv_ip_name($0, &text, text.count) }
        let host = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let plain = host.hasPrefix("::ffff:") && host.contains(".") ? String(host.dropFirst(7)) : host
        return PeerAddress(host: plain, port: port, isLoopback: plain == "::1" || plain.hasPrefix("127."))
    }
}
