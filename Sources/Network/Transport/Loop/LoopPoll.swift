import CUV

/// Watches a descriptor that another library owns: tells when it can be read or written.
///
/// The descriptor must stay open until ``stop()`` or the end of this object, and no other `LoopPoll` may watch it. It
/// is level-triggered: unread data is reported again.
@EventLoop
package final class LoopPoll {
    package struct Events: OptionSet, Sendable {
        package let rawValue: CInt

        package init(rawValue: CInt) { self.rawValue = rawValue }

        package static let readable = Events(rawValue: CInt(UV_READABLE.rawValue))
        package static let writable = Events(rawValue: CInt(UV_WRITABLE.rawValue))
        /// The descriptor has an error for its owner to fetch. The watch has ended; ``watch(_:)`` begins a new one.
        package static let failed = Events(rawValue: 1 << 30)
    }

    private let handle: PollHandle

    /// Watches nothing yet. Fails for a descriptor that cannot be polled, such as a file's.
    package init(_ descriptor: CInt, _ ready: @escaping @EventLoop (Events) -> Void) throws(TransportError) {
        handle = PollHandle(ready)
        try handle.open(descriptor)
    }

    deinit {
        EventLoop.release { [handle] in handle.close() }
    }

    /// Tells when the descriptor can be read; `nil` = it can't be polled.
    static func readable(_ descriptor: CInt, _ ready: @escaping @EventLoop () -> Void) -> LoopPoll? {
        guard let poll = try? LoopPoll(descriptor, { _ in ready() }) else { return nil }
        poll.watch(.readable)
        return poll
    }

    /// Tells of these from now on, instead of those before; none = pauses.
    package func watch(_ events: Events) {
        handle.watch(events)
    }

    /// For good: from here on the descriptor may be closed.
    package func stop() {
        handle.close()
    }
}

/// Owns libuv's handle, which outlives its owner until libuv has let go of it.
private final class PollHandle: @unchecked Sendable {
    private let ready: @EventLoop (LoopPoll.Events) -> Void
    private var poll: UnsafeMutablePointer<uv_poll_t>?
    private var watched: LoopPoll.Events = []

    init(_ ready: @escaping @EventLoop (LoopPoll.Events) -> Void) {
        self.ready = ready
    }

    @EventLoop
    func open(_ descriptor: CInt) throws(TransportError) {
        let poll = UnsafeMutablePointer<uv_poll_t>.allocate(capacity: 1)
        let result = uv_poll_init(LoopExecutor.shared.handle, poll, descriptor)
        guard result == 0 else {
            poll.deallocate()
            throw TransportError(uv: result, .system, "cannot watch a descriptor")
        }
        poll.pointee.data = Unmanaged.passRetained(self).toOpaque()
        self.poll = poll
    }

    @EventLoop
    func watch(_ events: LoopPoll.Events) {
        guard let poll, events != watched else { return }
        watched = events
        guard !events.isEmpty else {
            uv_poll_stop(poll)
            return
        }
        uv_poll_start(poll, events.rawValue) { poll, status, events in
            guard let data = poll?.pointee.data else { return }
            let handle = Unmanaged<PollHandle>.fromOpaque(data).takeUnretainedValue()
            EventLoop.onLoop { handle.came(status, events) }
        }
    }

    @EventLoop
    private func came(_ status: CInt, _ events: CInt) {
        guard status == 0 else {
            // libuv stops a watch that ends in an error.
            watched = []
            return ready(.failed)
        }
        ready(LoopPoll.Events(rawValue: events))
    }

    @EventLoop
    func close() {
        guard let poll else { return }
        self.poll = nil
        uv_close(UnsafeMutableRawPointer(poll).assumingMemoryBound(to: uv_handle_t.self)) { handle in
            guard let handle else { return }
            if let data = handle.pointee.data { Unmanaged<PollHandle>.fromOpaque(data).release() }
            UnsafeMutableRawPointer(handle).assumingMemoryBound(to: uv_poll_t.self).deallocate()
        }
    }
}
