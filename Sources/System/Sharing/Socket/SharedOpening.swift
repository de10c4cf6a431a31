import Glibc
package import Hosting
package import JSON

/// How a program comes to a shared state directory: as its holder, or as a guest of the program that is.
package enum SharedOpening {
    /// This program has the directory's lock.
    ///
    /// - Parameter inherited: the options of the holder that has handed it over, if one has.
    case holder(StateDirectory, inherited: JSONObject)
    /// A connection whose hello was accepted, and the options of the holder.
    case guest(CInt, options: JSONObject)

    /// How long to wait for a holder that is just starting or ending. In milliseconds.
    package static let patience: Int64 = 3_000
    /// How long a holder may take to answer a hello. In milliseconds.
    private static let answerTime: Int64 = 5_000

    /// Takes the directory, or joins who has it. Blocks the caller, for the time above at most.
    ///
    /// Errors: `busy` when the holder doesn't share or doesn't answer; what the holder refuses; those of
    /// ``StateDirectory/open(_:)`` and ``SharedSocket/connect()``.
    package static func acquire(
        _ path: String, _ hello: GuestHello, patience: Int64 = patience
    ) throws(HostError) -> SharedOpening {
        let end = now &+ patience
        let socket = SharedSocket(in: path)
        var inherited: JSONObject = [:]
        while true {
            if let directory = try StateDirectory.openIfFree(path) { return .holder(directory, inherited: inherited) }
            if let descriptor = try socket.connect() {
                switch try greet(descriptor, hello) {
                case .welcome(let options)?: return .guest(descriptor, options: options)
                case .handsOver(let options)?: inherited = options
                // The holder has just ended.
                case nil: break
                }
                Glibc.close(descriptor)
            }
            guard now < end else { throw StateDirectory.busy(path, "by a program that does not share it") }
            usleep(5_000)
        }
    }

    private enum Greeting {
        case welcome(JSONObject)
        /// The holder is about to let the directory go.
        case handsOver(JSONObject)
    }

    /// `nil` = the connection ended.
    private static func greet(_ descriptor: CInt, _ hello: GuestHello) throws(HostError) -> Greeting? {
        var failure: HostError?
        do throws(HostError) {
            let bytes = try FrameDecoder.encode(GuestMessage.hello(hello).object, limit: FrameDecoder.helloBytes)
            // A holder that accepts no more guests has answered already.
            FrameLink.sendFirst(bytes, to: descriptor)
            let end = now &+ answerTime
            var decoder = FrameDecoder()
            while true {
                if let frame = try decoder.next() {
                    switch try HolderMessage(frame.object) {
                    case .welcome(let options): return .welcome(options)
                    case .refused(let error) where error.code == HostError.moved.code: return .handsOver(error.detail)
                    case .refused(let error): throw error
                    case .answer, .taken, .event, .waits:
                        throw HostError(.undecodable, "the holder did not answer the hello")
                    }
                }
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                let left = end &- now
                guard left > 0 else {
                    throw HolderProcess(of: descriptor).silence(mayHappen: false)
                }
                guard poll(&entry, 1, Int32(clamping: left)) > 0 else { continue }
                // One frame alone: what follows is for the loop.
                guard readOne(descriptor, &decoder) else { return nil }
            }
        } catch { failure = error }
        Glibc.close(descriptor)
        throw failure ?? .closed
    }

    /// Reads the next frame's bytes and none beyond them. `false` = the connection ended.
    private static func readOne(_ descriptor: CInt, _ decoder: inout FrameDecoder) -> Bool {
        let flags = CInt(MSG_DONTWAIT)
        var head = [UInt8](repeating: 0, count: 4)
        let seen = recv(descriptor, &head, 4, flags | CInt(MSG_PEEK))
        guard seen == 4 else { return seen < 0 && (errno == EAGAIN || errno == EINTR) || seen > 0 }
        let announced = head.reduce(0) { $0 << 8 | Int($1) }
        // The decoder refuses a longer frame by its head.
        let length = 4 + (announced <= FrameDecoder.maximumBytes ? announced : 0)
        var bytes = [UInt8](repeating: 0, count: length)
        var count = 0
        while count < length {
            let got = bytes.withUnsafeMutableBytes {
                recv(descriptor, $0.baseAddress.map { $0 + count }, length - count, flags)
            }
            if got > 0 {
                count += got
                continue
            }
            guard got < 0, errno == EAGAIN || errno == EINTR else { return false }
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&entry, 1, Int32(answerTime)) > 0 else { return false }
        }
        bytes.withUnsafeBytes { decoder.append($0) }
        return true
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000 &+ Int64(time.tv_nsec) / 1_000_000
    }
}
