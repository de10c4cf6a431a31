import Glibc
package import Hosting
package import JSON
package import Transport

/// One connection between a holder and a guest, on the event loop.
///
/// What can't be written at once waits in memory, up to a limit: a peer that stops reading loses the connection.
@EventLoop
package final class FrameLink {
    /// Limit of what waits to be written.
    package static let outgoingLimit = 32 << 20

    private let descriptor: CInt
    private var poll: LoopPoll?
    private var decoder: FrameDecoder
    private var outgoing = OutgoingFrames()
    private let receive: @EventLoop (JSONObject, Int) throws(HostError) -> Void
    private let closed: @EventLoop (HostError?) -> Void
    /// Called after bytes were written or read, and after some began to wait.
    package var moved: (@EventLoop (_ hasProgress: Bool) -> Void)?

    /// Owns the descriptor from here on.
    ///
    /// - Parameters:
    ///   - limit: of a frame that comes in; see ``incomingLimit``.
    ///   - receive: called with each frame and its size. An error ends the connection.
    ///   - closed: called once, unless ``close()`` was: the other side has gone, or sent what can't be read.
    package init(
        _ descriptor: CInt, limit: Int = FrameDecoder.maximumBytes,
        receive: @escaping @EventLoop (JSONObject, _ bytes: Int) throws(HostError) -> Void,
        closed: @escaping @EventLoop (HostError?) -> Void
    ) throws(TransportError) {
        (self.descriptor, self.receive, self.closed) = (descriptor, receive, closed)
        decoder = FrameDecoder(limit: limit)
        poll = try LoopPoll(descriptor) { [weak self] in self?.ready($0) }
        poll?.watch(.readable)
    }

    package var isOpen: Bool { poll != nil }
    /// How many bytes wait to be written.
    package var outgoingBytes: Int { outgoing.count }
    /// How many bytes wait in memory: to be written, or for the rest of their frame.
    package var heldBytes: Int { outgoing.count + decoder.count }
    /// Limit of a frame that comes in.
    package var incomingLimit: Int {
        get { decoder.limit }
        set { decoder.limit = newValue }
    }

    /// Errors: `limit`; the connection stays as it is.
    package func send(_ object: JSONObject) throws(HostError) { send(try FrameDecoder.encode(object)) }

    /// For a frame that several get.
    package func send(_ frame: [UInt8]) {
        guard isOpen else { return }
        if outgoing.count + frame.count > Self.outgoingLimit {
            return end(HostError(.limit, "more than \(Self.outgoingLimit) bytes wait for it to read them"))
        }
        outgoing.append(frame)
        flush()
    }

    /// For a connection that gets no link: one short frame, which a new socket takes.
    nonisolated static func sendFirst(_ frame: [UInt8], to descriptor: CInt) {
        _ = Glibc.send(descriptor, frame, frame.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
    }

    /// Ends the connection; what could not be written is lost.
    package func close() {
        guard let poll else { return }
        self.poll = nil
        poll.stop()
        Glibc.close(descriptor)
        outgoing.removeAll()
        decoder = FrameDecoder()
    }

    private func end(_ error: HostError?) {
        guard isOpen else { return }
        close()
        closed(error)
    }

    private func ready(_ events: LoopPoll.Events) {
        if events.contains(.failed) { return end(nil) }
        if events.contains(.writable) { flush() }
        if events.contains(.readable) { read() }
    }

    private func flush() {
        var hasProgress = false
        while isOpen, !outgoing.isEmpty {
            let count = outgoing.write { [descriptor] bytes in
                Glibc.send(descriptor, bytes.baseAddress, bytes.count, CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
            }
            if count > 0 {
                hasProgress = true
            } else if errno == EINTR {
                continue
            } else if errno == EAGAIN {
                break
            } else {
                // What the peer has written before it ended is still to be read; that finds the end.
                outgoing.removeAll()
                break
            }
        }
        poll?.watch(outgoing.isEmpty ? .readable : [.readable, .writable])
        if isOpen { moved?(hasProgress) }
    }

    private func read() {
        let count = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { buffer -> Int in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, CInt(MSG_DONTWAIT))
            if count > 0 { decoder.append(UnsafeRawBufferPointer(rebasing: buffer[..<count])) }
            return count
        }
        guard count > 0 else {
            if count < 0, errno == EAGAIN || errno == EINTR { return }
            return end(nil)
        }
        do throws(HostError) {
            while isOpen, let frame = try decoder.next() { try receive(frame.object, frame.bytes) }
        } catch {
            return end(error)
        }
        if isOpen { moved?(true) }
    }
}
