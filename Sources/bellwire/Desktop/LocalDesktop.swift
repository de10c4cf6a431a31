import CLinux
import Glibc
import JSON

/// This machine's desktop, as other commands use it: the one that runs, or else its files.
final class LocalDesktop {
    private let arguments: Arguments
    private let directory: String
    /// Opened while no desktop runs.
    private var handle: Handle?

    /// How long another command may have the files, in milliseconds.
    private static let patience: Int64 = 10_000
    /// The same for a desktop that starts.
    private static let briefly: Int64 = 2_000

    init(_ arguments: Arguments) throws(Failure) {
        self.arguments = arguments
        guard let path = try DesktopDirectory.path(arguments) else {
            throw Failure(.usage, "a desktop with --state-dir :memory: cannot be reached by other commands")
        }
        directory = path
    }

    /// Asks the running desktop; if there is none, does it here, with the desktop's files.
    ///
    /// - Parameter onlyRunning: there is nothing to do without a running one.
    func ask(_ request: JSONValue, onlyRunning: Bool = false) throws(Failure) -> JSONValue {
        let deadline = Clock.now &+ LocalDesktop.patience
        while true {
            if let answer = try askRunning(request) { return try ControlAnswer.result(answer) }
            if onlyRunning { throw Failure(.offline, "no bellwire desktop is running with this state directory") }
            do throws(Failure) { return try askFiles(request) } catch {
                // A desktop that starts or ends, or another command like this one.
                guard error.exit == .inUse, Clock.now < deadline else { throw error }
            }
            try LocalDesktop.pause()
        }
    }

    /// Opens the files for a desktop that is to run: a command like `push` has them for a moment only.
    static func open(_ arguments: Arguments, _ options: JSONValue) throws(Failure) -> Handle {
        let deadline = Clock.now &+ briefly
        while true {
            do throws(Failure) {
                return try Handle(.desktop, options: options, verbose: arguments.has(.verbose))
            } catch {
                guard error.exit == .inUse, Clock.now < deadline, let path = try DesktopDirectory.path(arguments),
                    !isRunning(path)
                else { throw error }
            }
            try pause()
        }
    }

    private static func isRunning(_ directory: String) -> Bool {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        defer { close(socket) }
        return ControlAddress.with(directory) { connect(socket, $0, $1) } == 0
    }

    private static func pause() throws(Failure) {
        var entry = pollfd(fd: Interrupt.descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&entry, 1, 20)
        if let signal = Interrupt.take() { throw .interrupted(signal) }
    }

    /// `nil`: none runs.
    private func askRunning(_ request: JSONValue) throws(Failure) -> JSONValue? {
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC, 0)
        guard socket >= 0 else { throw Failure(.failed, "cannot create a socket: \(String(cString: strerror(errno)))") }
        defer { close(socket) }
        guard ControlAddress.with(directory, { connect(socket, $0, $1) }) == 0 else { return nil }
        guard ControlAddress.isOfSameUser(socket) else {
            throw Failure(.failed, "the desktop in \(directory) runs as another user")
        }
        let bytes = Array((request.serialized() + "\n").utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                send(socket, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            sent += count
        }
        let text = try LocalDesktop.line(from: socket)
        // It has ended with the request in its hands: what came of that is not known.
        guard let text else { throw Failure(.failed, "the desktop ended before it answered") }
        return (try? JSONValue(parsing: text)) ?? .null
    }

    /// `nil`: the other end has closed it.
    private static func line(from socket: Int32) throws(Failure) -> String? {
        var received: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while received.last != UInt8(ascii: "\n") {
            var entries = [socket, Interrupt.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&entries, 2, -1)
            if let signal = Interrupt.take() { throw .interrupted(signal) }
            guard entries[0].revents != 0 else { continue }
            let count = read(socket, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            received += buffer[..<count]
        }
        return String(validating: received, as: UTF8.self)
    }

    private func askFiles(_ request: JSONValue) throws(Failure) -> JSONValue {
        let handle: Handle
        if let open = self.handle {
            handle = open
        } else {
            handle = try Handle(
                .desktop, options: ["state_dir": .string(directory)], verbose: arguments.has(.verbose))
            self.handle = handle
        }
        var result: Result<JSONValue, Failure>?
        ControlRequests(handle).perform(request) { result = $0 }
        if case .signal(let signal) = try handle.wait(isDone: { () throws(Failure) in result != nil }) {
            throw .interrupted(signal)
        }
        return try result?.get() ?? .null
    }
}
