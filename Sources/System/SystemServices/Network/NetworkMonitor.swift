import CLinux
import Glibc
package import Transport

/// Tells when the machine's network has changed: a link, an address or a route came or went.
///
/// Changes come in flocks: one call stands for all, when nothing has come for 500 ms, and at the latest after 5 s.
/// Letting go of it ends it.
@EventLoop
package final class NetworkMonitor {
    /// How long the network has to be quiet.
    package static let settlingMilliseconds: UInt64 = 500
    /// How long a network that is never quiet is waited for.
    package static let patienceMilliseconds: UInt64 = 5_000

    private final class Socket: Sendable {
        let descriptor: CInt

        init(_ descriptor: CInt) { self.descriptor = descriptor }

        deinit { close(descriptor) }
    }

    private let changed: @EventLoop () -> Void
    private let socket: Socket?
    private var poll: LoopPoll?
    private var changes = NetworkChanges()
    private var firstChange: UInt64?
    private lazy var settled = LoopTimer { [weak self] in self?.tell() }

    /// Why the network is not watched, for people; `nil` while it is.
    package private(set) var note: String?

    package convenience init(_ changed: @escaping @EventLoop () -> Void) {
        self.init(socket: linux_route_socket(), changed)
    }

    /// Takes over a route socket, which may be one of another network namespace.
    init(socket descriptor: CInt, _ changed: @escaping @EventLoop () -> Void) {
        self.changed = changed
        guard descriptor >= 0 else {
            socket = nil
            note = Self.failure("no socket")
            return
        }
        socket = Socket(descriptor)
        guard linux_route_subscribe(descriptor) == 0 else {
            note = Self.failure("no subscription")
            return
        }
        do {
            // The watch keeps the socket, so that its descriptor is open for as long as libuv knows it.
            poll = try LoopPoll(descriptor) { [weak self, socket] _ in
                withExtendedLifetime(socket) { self?.read() }
            }
            poll?.watch(.readable)
        } catch {
            note = "cannot watch the network: \(error.message)"
        }
    }

    private static func failure(_ what: String) -> String {
        let error = BusError(result: -errno, what)
        return "cannot watch the network: \(error.message)"
    }

    package func stop() {
        poll?.stop()
        poll = nil
        settled.stop()
    }

    private func read() {
        guard let socket else { return }
        let isNew = withUnsafeTemporaryAllocation(byteCount: 32 << 10, alignment: 8) { buffer -> Bool in
            var isNew = false
            // Bounded, so that a burst of route changes does not block the loop; the descriptor reports the rest again.
            for _ in 0..<32 {
                var isKernel = false
                let count = linux_route_receive(socket.descriptor, buffer.baseAddress, buffer.count, &isKernel)
                guard count >= 0 else {
                    if errno == EINTR { continue }
                    // The kernel had more to say than the socket holds: something has changed.
                    guard errno == ENOBUFS else { return isNew }
                    changes = NetworkChanges()
                    isNew = true
                    continue
                }
                guard isKernel else { continue }
                let datagram = UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(buffer).prefix(count))
                if count > buffer.count || changes.take(datagram) { isNew = true }
            }
            return isNew
        }
        // After an error libuv has ended the watch.
        poll?.watch(.readable)
        if isNew { wait() }
    }

    private func wait() {
        let now = EventLoop.now
        let first = firstChange ?? now
        firstChange = first
        let left = Self.patienceMilliseconds &- min(now &- min(first, now), Self.patienceMilliseconds)
        settled.start(after: min(Self.settlingMilliseconds, left))
    }

    private func tell() {
        firstChange = nil
        changed()
    }
}
