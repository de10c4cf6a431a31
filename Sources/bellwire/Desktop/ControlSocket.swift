import CLinux
import Glibc
import JSON

/// The Unix socket on which a running desktop takes requests of this user's other commands: a line of JSON in, a line of
/// JSON out. It never waits; its owner calls ``serve()`` when ``descriptor`` is readable.
final class ControlSocket {
    /// Answers a request; only the first call counts.
    typealias Reply = (JSONValue) -> Void

    private struct Client {
        var received: [UInt8] = []
        /// Rises with each client: the lowest one has been here longest.
        let number: Int
        var isAsked = false
    }

    private static let clientLimit = 64
    /// A notification with everything at its largest.
    private static let lineLimit = 1 << 20

    /// Readable when there is something to do.
    let descriptor: Int32
    private let listener: Int32
    private let directory: String
    private let handle: (JSONValue, @escaping Reply) -> Void
    private var clients: [Int32: Client] = [:]
    private var answers: [Int32: [UInt8]] = [:]
    private var lastNumber = 0

    /// Replaces a socket that an earlier desktop left behind: who has the directory's lock is the only one.
    init(_ directory: String, handle: @escaping (JSONValue, @escaping Reply) -> Void) throws(Failure) {
        (self.directory, self.handle) = (directory, handle)
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0)
        descriptor = linux_epoll()
        guard listener >= 0, descriptor >= 0 else { throw ControlSocket.failure() }
        unlink("\(directory)/\(ControlAddress.name)")
        // The file gets these rights with its name.
        guard fchmod(listener, 0o600) == 0, ControlAddress.with(directory, { bind(listener, $0, $1) }) == 0,
            listen(listener, 64) == 0
        else { throw ControlSocket.failure() }
        watch(listener)
    }

    deinit {
        unlink("\(directory)/\(ControlAddress.name)")
        for client in clients.keys { close(client) }
        close(listener)
        close(descriptor)
    }

    private static func failure() -> Failure {
        Failure(.failed, "cannot create the socket that other commands use: \(String(cString: strerror(errno)))")
    }

    /// Accepts, reads and writes what is ready.
    func serve() {
        // More comes with the next wake-up.
        for _ in 0..<2 * ControlSocket.clientLimit {
            var isForWriting = false
            let ready = linux_epoll_next(descriptor, &isForWriting)
            guard ready >= 0 else { return }
            if ready == listener {
                accept()
            } else if isForWriting {
                write(to: ready)
            } else {
                read(from: ready)
            }
        }
    }

    private func accept() {
        while true {
            let client = Glibc.accept(listener, nil, nil)
            guard client >= 0 else { return }
            _ = fcntl(client, F_SETFD, FD_CLOEXEC)
            _ = fcntl(client, F_SETFL, O_NONBLOCK)
            guard ControlAddress.isOfSameUser(client) else {
                close(client)
                continue
            }
            if clients.count >= ControlSocket.clientLimit { dropOldest() }
            lastNumber += 1
            clients[client] = Client(number: lastNumber)
            watch(client)
        }
    }

    /// Of those that have not asked anything yet, or else of all.
    private func dropOldest() {
        let silent = clients.filter { !$0.value.isAsked }
        let oldest = (silent.isEmpty ? clients : silent).min { $0.value.number < $1.value.number }
        if let oldest { drop(oldest.key) }
    }

    private func read(from client: Int32) {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = Glibc.read(client, &buffer, buffer.count)
        if count < 0, errno == EAGAIN || errno == EINTR { return }
        guard count > 0, var state = clients[client], !state.isAsked,
            state.received.count + count <= ControlSocket.lineLimit
        else { return drop(client) }
        state.received += buffer[..<count]
        guard let end = state.received.firstIndex(of: UInt8(ascii: "\n")) else {
            clients[client] = state
            return
        }
        let text = String(validating: state.received[..<end], as: UTF8.self)
        state.received = []
        state.isAsked = true
        clients[client] = state
        guard let text, let request = try? JSONValue(parsing: text) else {
            return answer(client, state.number, ControlAnswer.failure(Failure(.usage, "the request is not JSON")))
        }
        handle(request) { [weak self, number = state.number] in self?.answer(client, number, $0) }
    }

    /// The number tells whether the descriptor still belongs to the client that asked.
    private func answer(_ client: Int32, _ number: Int, _ value: JSONValue) {
        guard clients[client]?.number == number, answers[client] == nil else { return }
        answers[client] = Array((value.serialized() + "\n").utf8)
        write(to: client)
    }

    private func write(to client: Int32) {
        guard var rest = answers[client] else { return }
        while !rest.isEmpty {
            let count = send(client, rest, rest.count, Int32(MSG_NOSIGNAL))
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                answers[client] = rest
                _ = linux_epoll_watch(descriptor, client, false, true)
                return
            }
            guard count > 0 else { break }
            rest.removeFirst(count)
        }
        drop(client)
    }

    private func drop(_ client: Int32) {
        clients[client] = nil
        answers[client] = nil
        close(client)
    }

    private func watch(_ file: Int32) { _ = linux_epoll_watch(descriptor, file, true, false) }
}
