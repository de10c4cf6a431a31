#if DEBUG
    import Foundation
    import Synchronization
    import Transport

    /// A program that a test runs: lines in, lines out. It ends with the test.
    package final class Program: Sendable {
        /// Its lines, as they come.
        package let lines = Mailbox<String>()
        private let input: CInt
        private let process: Mutex<pid_t?>

        package init(_ path: String, _ arguments: [String]) throws {
            var input: [CInt] = [-1, -1]
            var output: [CInt] = [-1, -1]
            guard pipe(&input) == 0, pipe(&output) == 0 else { throw POSIXError(.EMFILE) }
            for descriptor in input + output { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
            var actions = posix_spawn_file_actions_t()
            posix_spawn_file_actions_init(&actions)
            defer { posix_spawn_file_actions_destroy(&actions) }
            posix_spawn_file_actions_adddup2(&actions, input[0], 0)
            posix_spawn_file_actions_adddup2(&actions, output[1], 1)
            // The loop's thread blocks every signal; what it starts must not.
            var attributes = posix_spawnattr_t()
            posix_spawnattr_init(&attributes)
            defer { posix_spawnattr_destroy(&attributes) }
            var none = sigset_t()
            sigemptyset(&none)
            posix_spawnattr_setsigmask(&attributes, &none)
            posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
            var pid: pid_t = 0
            let words = ([path] + arguments).map { strdup($0) }
            defer { words.forEach { free($0) } }
            let result = posix_spawn(&pid, path, &actions, &attributes, words + [nil], environ)
            close(input[0])
            close(output[1])
            self.input = input[1]
            process = Mutex(result == 0 ? pid : nil)
            guard result == 0 else {
                close(output[0])
                throw POSIXError(POSIXErrorCode(rawValue: result) ?? .ENOENT)
            }
            Self.read(output[0], into: lines)
        }

        private static func read(_ descriptor: CInt, into lines: Mailbox<String>) {
            Thread.detachNewThread {
                var rest: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4_096)
                while true {
                    let count = Foundation.read(descriptor, &buffer, buffer.count)
                    guard count > 0 else { break }
                    rest += buffer.prefix(count)
                    while let end = rest.firstIndex(of: 10) {
                        let line = String(decoding: rest[..<end], as: UTF8.self)
                        rest.removeSubrange(...end)
                        EventLoop.post { lines.put(line) }
                    }
                }
                close(descriptor)
            }
        }

        /// Never a SIGPIPE: the loop's thread blocks it, and the others write to programs that run.
        package func write(_ line: String) {
            let bytes = Array("\(line)\n".utf8)
            _ = Foundation.write(input, bytes, bytes.count)
        }

        package func signal(_ signal: CInt) {
            process.withLock { process in
                if let pid = process { kill(pid, signal) }
            }
        }

        /// Ends it, and waits until it has ended.
        package func end(with signal: CInt = SIGTERM) {
            process.withLock { process in
                guard let pid = process else { return }
                process = nil
                kill(pid, signal)
                waitpid(pid, nil, 0)
            }
        }

        deinit {
            close(input)
            end()
        }
    }
#endif
