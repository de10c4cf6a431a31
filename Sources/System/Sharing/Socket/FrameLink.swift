import Glibc
package import Hosting
package import JSON
package import Transport

/// One connection between a holder and a guest, on the event loop.
///
/// What can't be written at once waits in memory, up to a limit: a peer that stops reading loses the connection.
@EventLoop
package final class FrameLink {
    /// Of what waits to be written.
    package static let outgoingLimit = 32 << 20

    private let descriptor: CInt
    private var poll: LoopPoll?
    private var decoder = FrameDecoder()
    private var outgoing: [UInt8] = []
    private var written = 0
    private let receive: @EventLoop (JSONObject) throws(HostError) -> Void
    private let closed: @EventLoop (HostError?) -> Void

    /// Owns the descriptor from here on.
    ///
    /// - Parameters:
    ///   - receive: called with each frame. An error ends the connection.
    ///   - closed: called once, unless ``close()`` was: the other side has gone, or sent what can't be read.
    package init(
        _ descriptor: CInt, receive: @escaping @EventLoop (JSONObject) throws(HostError) -> Void,
        closed: @escaping @EventLoop (HostError?) -> Void
    ) throws(TransportError) {
        (self.descriptor, self.receive, self.closed) = (descriptor, receive, closed)
        poll = try LoopPoll(descriptor) { [weak self] in self?.ready($0) }
        poll?.watch(.readable)
    }

    package var isOpen: Bool { poll != nil }

    package func send(_ object: JSONObject) { send(FrameDecoder.encode(object)) }

    /// For a frame that several get.
    package func send(_ frame: [UInt8]) {
        guard isOpen else { return }
        if outgoing.count - written + frame.count > Self.outgoingLimit {
            return end(HostError(.limit, "a program that shares the state directory reads too slowly"))
        }
        outgoing += frame
        flush()
    }

    /// Ends the connection; what could not be written is lost.
    package func close() {
        guard let poll else { return }
        self.poll = nil
        poll.stop()
        Glibc.close(descriptor)
        (outgoing, written) = ([], 0)
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
        while isOpen, written < outgoing.count {
            let count = outgoing.withUnsafeBytes { bytes in
                Glibc.send(
                    descriptor, bytes.baseAddress.map { $0 + written }, bytes.count - written,
                    CInt(MSG_NOSIGNAL) | CInt(MSG_DONTWAIT))
            }
            if count > 0 {
                written += count
            } else if errno == EINTR {
                continue
            } else if errno == EAGAIN {
                break
            } else {
                // What the peer has written before it ended is still to be read; that finds the end.
                (outgoing, written) = ([], 0)
                break
            }
        }
        if written == outgoing.count {
            outgoing.removeAll(keepingCapacity: outgoing.capacity <= 65_536)
            written = 0
        } else if written > 1 << 20 {
            outgoing.removeFirst(written)
            written = 0
        }
        poll?.watch(outgoing.isEmpty ? .readable : [.readable, .writable])
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
            while isOpen, let frame = try decoder.next() { try receive(frame) }
        } catch {
            end(error)
        }
    }
}
