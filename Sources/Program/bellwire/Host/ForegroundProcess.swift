@preconcurrency import Glibc

/// A program that is started in our place: it has our terminal, standard input, output and process group.
struct ForegroundProcess {
    enum End: Equatable {
        case exited(Int32)
        case signalled(Int32)

        /// As shells have it.
        var code: Int32 {
            switch self {
            case .exited(let code): code
            case .signalled(let signal): 128 &+ signal
            }
        }

        /// The beginning of a sentence.
        var text: String {
            switch self {
            case .exited(0): "Succeeded"
            case .exited(let code): "Failed with exit code \(code)"
            case .signalled(let signal): "Ended by signal \(signal) (\(String(cString: strsignal(signal))))"
            }
        }
    }

    private let pid: pid_t

    /// - Parameter words: program and arguments; the program is looked for in PATH.
    init(_ words: [String]) throws(Failure) {
        try ChildSignal.install()
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments = words.map { strdup(Word.terminated($0)) } + [nil]
        defer { for text in arguments { free(text) } }
        var pid: pid_t = 0
        // A text that could not be copied would end the list there: another command.
        let isWhole = !arguments.dropLast().contains { $0 == nil }
        let status =
            isWhole ? posix_spawnp(&pid, Word.terminated(words[0]), nil, &attributes, &arguments, environ) : ENOMEM
        guard status == 0 else {
            throw Failure(
                status == ENOENT ? .ofCommand(127) : .ofCommand(126),
                "cannot start \(words[0]): \(String(cString: strerror(status)))")
        }
        self.pid = pid
    }

    /// Waits for its end. SIGTERM and SIGHUP are passed on; a Ctrl-C reaches it from the terminal.
    func wait() -> (end: End, isInterrupted: Bool) {
        var isInterrupted = false
        while true {
            var status: Int32 = 0
            let found = waitpid(pid, &status, WNOHANG)
            if found == pid || found < 0 && errno != EINTR {
                let signal = status & 0x7F
                return (signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal), isInterrupted)
            }
            if let signal = Interrupt.take() {
                if signal == SIGINT { isInterrupted = true } else { _ = kill(pid, signal) }
            }
            var entries = [ChildSignal.descriptor, Interrupt.descriptor].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            if poll(&entries, 2, -1) > 0 { ChildSignal.clear() }
        }
    }
}
