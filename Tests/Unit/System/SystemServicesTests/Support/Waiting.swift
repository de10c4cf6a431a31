import Foundation

@testable import SystemServices

/// Calls that block, on a thread of their own.
enum Waiting {
    static func value<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        try await withCheckedThrowingContinuation { done in
            Thread.detachNewThread { done.resume(with: Result { try body() }) }
        }
    }

    static func error<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async -> SecretServiceError? {
        do {
            _ = try await value(body)
            return nil
        } catch {
            return error as? SecretServiceError
        }
    }
}

/// Takes connections into its backlog, and never a word.
final class MuteListener {
    let descriptor: CInt

    init(_ path: String) throws {
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
        }
        guard result == 0, listen(descriptor, 8) == 0 else { throw POSIXError(.EADDRINUSE) }
    }

    /// Ends each connection as soon as it comes, until the listener is gone.
    func hangUp() {
        let listener = dup(descriptor)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                close(connection)
            }
            close(listener)
        }
    }

    deinit {
        // Also ends a wait for newcomers.
        shutdown(descriptor, CInt(SHUT_RDWR))
        close(descriptor)
    }
}
