import Addresses
import COnDemand
import Glibc
import Transport

/// The state that libcurl's callbacks change during a step: on the loop's thread, and there alone.
final class TransferState: @unchecked Sendable {
    weak var owner: Transfer?
    private let rule: AddressRule
    private let maximumBytes: Int
    private(set) var head = ResponseHead()
    private var bytes: [UInt8] = []
    /// Whether a connection was to go where it may not.
    private(set) var isRefused = false
    /// What libcurl waits for, of each descriptor.
    private(set) var wanted: [CInt: LoopPoll.Events] = [:]

    init(rule: AddressRule, maximumBytes: Int) {
        self.rule = rule
        self.maximumBytes = maximumBytes
    }

    /// The callbacks' context. They come on the loop, inside a step of ours, and nowhere else.
    static func of(_ context: UnsafeMutableRawPointer?) -> TransferState? {
        context.map { Unmanaged<TransferState>.fromOpaque($0).takeUnretainedValue() }
    }

    func watch(_ descriptor: CInt, _ events: CInt) {
        var wanted: LoopPoll.Events = []
        if events & CInt(BW_TRANSFER_READ) != 0 { wanted.insert(.readable) }
        if events & CInt(BW_TRANSFER_WRITE) != 0 { wanted.insert(.writable) }
        self.wanted[descriptor] = wanted.isEmpty ? nil : wanted
        EventLoop.assumeIsolated { [self, wanted] in owner?.watch(descriptor, wanted) }
    }

    func wake(after milliseconds: Int) {
        EventLoop.assumeIsolated { [self] in owner?.wake(after: milliseconds) }
    }

    func mayConnect(to address: UnsafeRawBufferPointer) -> Bool {
        let isPermitted = Self.address(address).map(rule.permits) ?? false
        if !isPermitted { isRefused = true }
        return isPermitted
    }

    func takeHead(_ line: UnsafeRawBufferPointer, _ status: Int) -> Bool {
        head.take(line, status: status)
    }

    func takeBody(_ part: UnsafeRawBufferPointer) -> Bool {
        guard head.status == 200, part.count <= maximumBytes - bytes.count else { return false }
        bytes.append(contentsOf: part)
        return true
    }

    func takeBytes() -> [UInt8] {
        defer { bytes = [] }
        return bytes
    }

    private static func address(_ bytes: UnsafeRawBufferPointer) -> IPAddress? {
        guard bytes.count >= MemoryLayout<sockaddr>.size else { return nil }
        switch CInt(bytes.loadUnaligned(as: sa_family_t.self)) {
        case AF_INET: return IPAddress(bytes: bytes[4..<8])
        case AF_INET6 where bytes.count >= MemoryLayout<sockaddr_in6>.size: return IPAddress(bytes: bytes[8..<24])
        default: return nil
        }
    }
}
