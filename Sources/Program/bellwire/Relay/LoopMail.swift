import Glibc
import Synchronization

/// Messages from the loop's thread to the main thread, with a descriptor to poll. Bounded: beyond the limit, the oldest
/// are dropped.
final class LoopMail<Message: Sendable>: Sendable {
    private static var limit: Int { 4_096 }

    /// Readable when there are messages.
    let descriptor: Int32
    private let writeEnd: Int32
    private let messages = Mutex<[Message]>([])

    init() throws(Failure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Failure(.failed, "cannot create a pipe: \(String(cString: strerror(errno)))")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        (descriptor, writeEnd) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(writeEnd)
    }

    func put(_ message: Message) {
        let isFirst = messages.withLock { messages in
            if messages.count >= Self.limit { messages.removeFirst() }
            messages.append(message)
            return messages.count == 1
        }
        guard isFirst else { return }
        var byte: UInt8 = 0
        _ = write(writeEnd, &byte, 1)
    }

    func take() -> [Message] {
        var bytes = [UInt8](repeating: 0, count: 64)
        while read(descriptor, &bytes, bytes.count) > 0 {}
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}
